"""What a run would still call: the numbers, worked by hand, and the command on a small project."""

from __future__ import annotations

import asyncio
import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from flows.adapters.completions.stores.folder import CompletionStore
from flows.adapters.config.compose import compose_points
from flows.pipeline.commands.planning import text as plan_text
from flows.pipeline.commands.planning.plan import plan
from flows.pipeline.inputs.packets import load_packet, packet_path
from flows.pipeline.work.evaluations import build_evaluations
from flows.schema.call import build_call, stands
from flows.schema.completion import Completion, CompletionStatus, Message, Request, Usage
from flows.schema.settings import (
    Effort,
    JudgeKind,
    JudgeMode,
    JudgeSettings,
    ModelSettings,
    Price,
    Retry,
    Transport,
    Writer,
)
from flows.stages.generate import build_messages
from flows.stages.judge import build_requests
from flows.stages.plan import (
    Cost,
    PlannedCall,
    brief_characters,
    cap_mismatch,
    combined,
    cost_text,
    detectable_difference,
    half_width,
    misfit,
    planned,
    room_shortfall,
    summed,
    tokens_of,
    verdict_tokens,
)

PROJECT = Path(__file__).parents[2]

MODEL = ModelSettings(
    label="m",
    writer=Writer.remote,
    transport=Transport.litellm,
    provider="p",
    name="p/m",
    api_base=None,
    api_key_env=None,
    context_tokens=1000,
    output_tokens=400,
    max_tokens_field="max_tokens",
    price=Price(2.0, 10.0, "2026-11-20"),
    benchmark_effort=Effort.default,
    efforts={"default": {}},
    parameters={},
    send_seed=False,
    stream=False,
    structured_output=False,
    folder=None,
    note="",
)
JUDGE = JudgeSettings(
    **{name: getattr(MODEL, name) for name in MODEL.__dataclass_fields__},
    kind=JudgeKind.remote,
    effort=Effort.default,
    mode=JudgeMode.failed_only,
    max_attempts=3,
    tokens_per_item=60,
    tokens_thinking=1000,
    allow_self=False,
    repeat=1,
    canaries=False,
)


def request(*texts, **parameters):
    return Request("litellm", "p/m", None, tuple(Message("user", text) for text in texts), parameters, 1)


def completion(status, key="0" * 64, text="a brief"):
    return Completion(key, status, text, "stop", "m", Usage(10, 5), None, ())


def test_tokens_are_a_quarter_of_the_characters_rounded_up():
    assert [tokens_of(number) for number in (0, 1, 4, 5, 243_000)] == [0, 1, 1, 2, 60_750]


def test_an_unwritten_brief_is_as_long_as_it_may_be():
    assert brief_characters(3000) == 18_000
    assert brief_characters(3000, 1000) == 6_000
    assert brief_characters(1000, 3000) == 6_000
    assert brief_characters(None) == 31_200  # 5,200 words
    assert brief_characters(None, 3000) == 18_000


def test_a_judge_is_taken_to_list_every_item():
    assert verdict_tokens(170, JUDGE) == 10_200


def test_a_planned_call_counts_every_turn_and_keeps_to_the_limit_that_is_sent():
    assert planned(request("abcde", "fgh", max_tokens=300), MODEL, 500) == PlannedCall(2, 300, 300)
    assert planned(request("abcdefghi"), MODEL, 500, is_assumed=True) == PlannedCall(
        3, 500, None, is_assumed=True
    )
    other = replace(MODEL, max_tokens_field="max_completion_tokens")
    assert planned(request("a", max_completion_tokens=7), other, 5) == PlannedCall(1, 5, 7)


def test_a_price_is_tokens_times_the_list_price():
    calls = [PlannedCall(1000, 200, 400), PlannedCall(3000, 300, 400, is_assumed=True)]
    load = summed(calls, MODEL.price)
    assert (load.calls, load.assumed, load.input_tokens, load.output_tokens) == (2, 1, 4000, 500)
    assert load.cost.usd == pytest.approx(0.013)  # 4,000 at $2 and 500 at $10 a million
    assert load.most.usd == pytest.approx(0.016)  # 4,000 at $2 and 800 at $10
    assert (load.cost.is_bound, load.most.is_bound) == (False, False)


def test_without_an_output_limit_the_upper_bound_is_none():
    load = summed([PlannedCall(1000, 200, None), PlannedCall(1000, 200, 400)], MODEL.price)
    assert load.most.is_bound
    assert load.most.usd == pytest.approx(0.010)  # 2,000 at $2, and 200 and 400 at $10
    assert not load.cost.is_bound
    assert summed([PlannedCall(1000, 200, None)], Price(0, 0)).most == Cost(0.0)


def test_an_unknown_price_is_null_and_half_a_price_is_a_lower_bound():
    calls = [PlannedCall(1000, 200, 400)]
    assert summed(calls, Price()).cost == Cost(None)
    assert summed(calls, Price()).most == Cost(None)
    half = summed(calls, Price(input_usd=2.0)).cost
    assert half.usd == pytest.approx(0.002)
    assert half.is_bound


def test_what_is_not_called_costs_nothing_whatever_its_price():
    assert summed([], Price()).cost == Cost(0.0)
    assert combined([]).cost == Cost(0.0)
    known, unknown = [PlannedCall(1000, 200, 400)], [PlannedCall(500, 100, 100)]
    both = combined([summed(known, MODEL.price), summed(unknown, Price())])
    assert (both.calls, both.input_tokens, both.output_tokens) == (2, 1500, 300)
    assert both.cost.usd == pytest.approx(0.004)
    assert both.cost.is_bound
    alone = combined([summed([], MODEL.price), summed(unknown, Price())])
    assert alone.cost == Cost(None)


def test_a_cost_says_what_it_is():
    shown = [cost_text(Cost(*cost)) for cost in ((None,), (0.0,), (1234.5,), (0.0042,), (1.0, True))]
    assert shown == ["unknown", "$0.00", "$1,234.50", "$0.0042", "≥ $1.00"]


@pytest.mark.parametrize(
    ("status", "answered"),
    [
        (CompletionStatus.complete, [True] * 5),
        (CompletionStatus.cut, [True] * 5),
        (CompletionStatus.refused, [True, True, True, True, False]),
        (CompletionStatus.partial, [True, True, True, False, True]),  # paid for: again only by name
        (CompletionStatus.error, [True, True, False, False, False]),
    ],
)
def test_a_stored_outcome_is_asked_again_as_retry_says(status, answered):
    assert [stands(completion(status), retry) for retry in Retry] == answered


def test_the_detectable_difference_shrinks_with_the_root_of_the_scenarios():
    assert detectable_difference(10, paired=True) == half_width(10) == pytest.approx(0.08)
    assert detectable_difference(40, paired=True) == pytest.approx(0.04)
    assert detectable_difference(10, paired=False) == pytest.approx(0.08 * math.sqrt(2))
    with pytest.raises(ValueError, match="0 scenarios"):
        detectable_difference(0, paired=True)


def test_a_plan_says_which_difference_it_means_and_that_few_scenarios_have_none():
    for few in (1, 5):
        assert "no difference can be told from chance" in plan_text._detectable(few)
        assert "±" not in plan_text._detectable(few)
    said = plan_text._detectable(10)
    assert "±0.08 on a score" in said
    assert "0.08 for a paired difference" in said
    assert "0.11 for an unpaired one, sqrt(2) times as large" in said


def test_a_prompt_and_its_reply_must_fit_the_context_together():
    assert misfit(MODEL, PlannedCall(600, 50, 400)) is None
    assert misfit(MODEL, PlannedCall(601, 50, 400)) == (
        "about 601 tokens of prompt and 400 of reply do not fit into the 1,000 of m"
    )
    assert misfit(MODEL, PlannedCall(951, 50, None)) is not None  # no limit is sent: what is expected
    assert misfit(replace(MODEL, context_tokens=None), PlannedCall(10**9, 0, 0)) is None


def test_a_cap_that_the_writer_is_not_told_is_a_warning():
    assert cap_mismatch(3000, 3000) is None
    assert cap_mismatch(None, None) is None
    assert cap_mismatch(3000, 500) == "the prompt sets a limit of 3,000 words, but 500 are graded"
    assert "no limit, but 3,000 words are graded" in (cap_mismatch(None, 3000) or "")
    assert "3,000 words, but all words are graded" in (cap_mismatch(3000, None) or "")


def test_a_judge_without_room_for_its_rubric_is_a_warning():
    assert room_shortfall(400, JUDGE) is None
    text = room_shortfall(401, JUDGE) or ""
    assert text.startswith("a reply of m may need 401 tokens, and it writes at most 400")
    assert text.endswith("judge.mode=per_item asks for one item a call")
    assert "per_item" not in (room_shortfall(401, replace(JUDGE, mode=JudgeMode.per_item)) or "")
    assert room_shortfall(10**9, replace(JUDGE, output_tokens=None)) is None


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
            await opened.put(request, completion(status, request.key, text))

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
