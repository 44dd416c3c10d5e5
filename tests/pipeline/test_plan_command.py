"""The command `plan` on a small project: what a run would still call."""

import asyncio
import shutil
from pathlib import Path

import pytest

from flows.adapters.completions.stores.folder import CompletionStore
from flows.adapters.config.compose import compose_points
from flows.pipeline.commands.planning.plan import plan
from flows.pipeline.inputs.packets import load_packet, packet_path
from flows.pipeline.work.evaluations import build_evaluations
from flows.schema.call import build_call
from flows.schema.completion import Completion, CompletionStatus, Usage
from flows.stages.generate import build_messages
from flows.stages.judge import build_requests

PROJECT = Path(__file__).parents[2]


class Shown:
    """Stands in for the screen."""

    def __init__(self):
        self.rows, self.notes = [], []

    def table(self, _title, rows, *_, **__):
        self.rows = [list(row) for row in rows][1:]

    def bullet(self, text):
        self.notes.append(text)


SCENARIO = """\
scenario_id: {0}
title: A bridge
synthetic: true
licence: CC0-1.0
notice: Invented.
assignment: Write the brief.
documents: [01.md]
"""
ITEM = """\
- item_id: A-{0}
  step: risk
  tier: 1
  severity: important
  requirement: States it.
  ground_truth: The bridge is weak.
  pass_condition: Does.
  fail_condition: Does not.
  source: [{{document: 01.md, quote: The bridge is weak}}]
  rationale: It may fall.
"""
PROMPT = """\
version: tiny
words: 100
word_limit: ""
system: Be brief.
user: "{{assignment}}"
"""
JUDGE_PROMPT = """\
version: tiny
system: Grade.
failed_only: "{{brief}}"
all_items: "{{brief}}"
per_item: "{{brief}}"
rejected: "{{fault}}"
"""
TINY = [
    "model=openai_compatible",
    "model.name=writer",
    "model.api_base=http://127.0.0.1:1/v1",
    "model.price.input_usd=2",
    "model.price.output_usd=10",
    "judge=openai_compatible",
    "judge.name=grader",
    "judge.api_base=http://127.0.0.1:1/v1",
    "prompt=tiny",
    "judge_prompt=tiny",
    "word_cap.words=100",
    "seeds=2",
]


@pytest.fixture
def project(tmp_path):
    """A project with one scenario of two items, and prompts short enough to count by hand."""
    shutil.copytree(PROJECT / "conf", tmp_path / "conf")
    (tmp_path / "conf" / "prompt" / "tiny.yaml").write_text(PROMPT)
    (tmp_path / "conf" / "judge_prompt" / "tiny.yaml").write_text(JUDGE_PROMPT)
    folder = tmp_path / "data" / "ma_bench" / "bridge"
    (folder / "documents").mkdir(parents=True)
    (folder / "documents" / "01.md").write_text("The bridge is weak.\n")
    (folder / "scenario.yaml").write_text(SCENARIO.format("bridge"))
    (folder / "rubric.yaml").write_text("".join(ITEM.format(number) for number in (1, 2)))
    return tmp_path


def show(project, *overrides, multirun=False):
    shown = Shown()
    assert plan(project, [*TINY, *overrides], multirun=multirun, screen=shown) == 0
    return shown


def requests_of(project, brief):
    """The request for the first brief, and the one that grades `brief`."""
    evaluation = build_evaluations(project, compose_points(project, TINY, multirun=False))[0]
    settings, scenario = evaluation.settings, evaluation.scenarios[0]
    data = project / "data" / "ma_bench"
    packet = load_packet(data / "bridge", scenario, packet_path(data, "ma_bench", "bridge"))
    messages = build_messages(scenario.assignment, packet, settings.prompt)
    write = build_call(settings.model, settings.effort.level, messages, 1)
    judge = build_requests(scenario.items, brief, settings.judge, settings.judge_prompt, 1)[0].request
    return write, judge


def store(project, *answers):
    async def put():
        for request, status, text in answers:
            await opened.put(
                request, Completion(request.key, status, text, "stop", "m", Usage(10, 5), None, ())
            )

    opened = CompletionStore(project / "results" / "completions")
    asyncio.run(put())
    opened.close()


def test_with_nothing_stored_everything_is_left_and_nothing_is_left_behind(project):
    shown = show(project)
    # To write: 9 + 16 characters are 7 tokens, 100 words are 600 characters or 150 tokens; two seeds.
    # To judge: 6 + 600 characters are 152 tokens, two items are 120; two briefs. Their price is unknown.
    # The price: 14 at $2 and 300 at $10 a million.
    label, *cells = shown.rows[0]
    assert label.startswith("writer-medium-100-tiny")
    assert cells == ["2", "2 of 2", "2 of 2 (2 assumed)", "318", "540", "≥ $0.0030", "≥ $0.0030"]
    notes = "\n".join(shown.notes)
    assert "With 1 scenario the table shows no interval" in notes
    assert "Context length unknown and not checked: writer, grader." in notes
    assert "Warning" not in notes
    assert not (project / "results").exists()


def test_a_batch_is_planned_at_its_own_price(project):
    batch = show(project, "runner=batch", "model.price.batch_factor=0.5").rows[0]
    assert batch[-1] == "≥ $0.0015"
    unknown = show(project, "runner=batch").rows[0]
    assert unknown[-2:] == ("unknown", "unknown") or unknown[-2:] == ["unknown", "unknown"]


def test_what_is_stored_is_not_left(project):
    brief = "The bridge is weak."
    write, judge = requests_of(project, brief)
    store(project, (write, CompletionStatus.complete, brief))
    # The first brief is known: 6 + 19 characters to judge are 7 tokens; the second is assumed.
    assert show(project).rows[0][2:6] == ["1 of 2", "2 of 2 (1 assumed)", str(7 + 7 + 152), "390"]
    store(project, (judge, CompletionStatus.complete, '{"items": 2, "failed": []}'))
    assert show(project).rows[0][2:6] == ["1 of 2", "1 of 2 (1 assumed)", str(7 + 152), "270"]


def test_a_rejected_reply_is_asked_for_again(project):
    brief = "The bridge is weak."
    write, judge = requests_of(project, brief)
    store(project, (write, CompletionStatus.complete, brief), (judge, CompletionStatus.complete, "no JSON"))
    row = show(project).rows[0]
    assert row[3] == "2 of 2 (1 assumed)"
    assert int(row[4]) > 7 + 7 + 152  # with the fault added


def test_a_refused_brief_has_nothing_to_judge_unless_it_is_asked_for_again(project):
    write, _ = requests_of(project, "")
    store(project, (write, CompletionStatus.refused, None))
    assert show(project).rows[0][2:4] == ["1 of 2", "1 of 1 (1 assumed)"]
    assert show(project, "retry=refused").rows[0][2:4] == ["2 of 2", "2 of 2 (2 assumed)"]


def test_a_sweep_over_caps_pays_for_its_briefs_once(project):
    shown = show(project, "word_cap.words=100,50", multirun=True)
    assert [row[2] for row in shown.rows] == ["2 of 2", "0 of 2", "2 of 4"]
    assert [row[3] for row in shown.rows][2] == "4 of 4 (4 assumed)"
    # Half of the briefs: 6 + 300 characters are 77 tokens.
    assert [int(row[4]) for row in shown.rows] == [318, 154, 472]
    assert (
        "Warning: prompt.words and word_cap: the prompt sets a limit of 100 words, but 50 are graded."
        in shown.notes
    )


def test_what_does_not_fit_is_a_warning(project):
    shown = show(
        project,
        "model.context_tokens=100",
        "judge.context_tokens=20000",
        "judge.output_tokens=16000",
        "judge.mode=all_items",
    )
    room, context = (note for note in shown.notes if "Warning" in note)
    assert room == (
        "Warning: judge.output_tokens: a reply of grader may need 16,376 tokens, and it writes at most "
        "16,000: a reply that is cut is rejected; judge.mode=per_item asks for one item a call."
    )
    assert context == (
        "Warning: context: about 7 tokens of prompt and 150 of reply do not fit into the 100 of writer "
        "(the longest of 2 such calls)."
    )


def test_local_writers_and_judges_call_nobody(project):
    shown = Shown()
    assert plan(project, ["model=extractive", "judge=offline"], multirun=False, screen=shown) == 0
    assert shown.rows[0][2:] == ["none", "none", "0", "0", "$0.00", "$0.00"]


def test_briefs_that_several_judges_grade_are_counted_once(project):
    shown = show(project, "judge.name=grader,second", multirun=True)
    assert [row[1:4] for row in shown.rows] == [
        ["2", "2 of 2", "2 of 2 (2 assumed)"],
        ["2", "0 of 2", "2 of 2 (2 assumed)"],
        ["2", "2 of 4", "4 of 4 (4 assumed)"],
    ]
