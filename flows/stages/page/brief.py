"""The pages of one brief, with the verdict on every item, and of the attempt that wrote it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from flows.common.text import plural
from flows.schema.brief import Brief
from flows.schema.leaderboard import LeaderboardRow
from flows.schema.report_task import ReportFacts
from flows.schema.scenario import Item, Scenario
from flows.schema.verdict import BriefScore, Verdict, VerdictStatus
from flows.stages.page.markup import address
from flows.stages.page.render import TABLE_SCRIPTS, Column, filters, render
from flows.stages.page.rubric import rubric_script
from flows.stages.page.text import quotes_of, rendered
from flows.stages.page.wording import REPORTS, filtered_by, kind_of, wording

_STATES = {False: "failed", None: "missing", True: "passed"}
"""Classes of verdicts by `passed`, in the order of the table."""
_STEMS = re.compile(r"(?<=, missing ).*?(?=; closest: )")


def brief_page(
    row: LeaderboardRow,
    scenario: Scenario,
    brief: Brief,
    *,
    score: BriefScore,
    verdicts: Sequence[Verdict],
    scoring: str,
    is_stand_in: bool,
    weights: Mapping[str, float] | None = None,
    report: ReportFacts | None = None,
    pictures: Sequence[str] = (),
    beside: tuple[str | None, str | None] = (None, None),
    has_chat: bool = False,
    is_clamped: bool = False,
) -> str:
    """Render a brief's counts, and its text as graded beside a filterable table of verdicts.

    The report of a task stands beside the expert's.

    Args:
        row: the condition and judge, as on the leaderboard.
        scenario: the brief's scenario.
        brief: the brief as graded.
        score: the score of the verdicts.
        verdicts: one for each item, in any order.
        scoring: name of the weights.
        is_stand_in: True for the offline judge.
        weights: points by severity, for the order of the items.
        report: facts about its file; None for a plain-text brief.
        pictures: paths of the pictures of its pages, from the folder of the site's folder.
        beside: file names of the pages of the brief before and after it.
        has_chat: True if the judge's chat is on the page of the attempt.
        is_clamped: True if scores are averaged within [0, 1].

    Raises:
        KeyError: an item has no verdict.
    """
    by_id = {verdict.item_id: verdict for verdict in verdicts}
    said = wording(is_task=scenario.task is not None)
    heading = f"{brief.scenario_id}, {said.repeat} {brief.seed}"
    condition = f"{row.condition}, judge {row.judge_id}"
    quotes = quotes_of(verdicts)
    text, quoted = rendered(brief.text or "", quotes, form="read" if said is REPORTS else "markdown")
    size = f"{brief.words_kept:,} words" if brief.text and brief.words_kept is not None else "empty"
    texts, seen = [(f"The {said.brief} as it was graded ({size})", text)], [("quote", "in the text", quoted)]
    if scenario.reference is not None:
        text, quoted = rendered(scenario.reference, quotes, form="read", kind="expert")
        texts.append(("The expert's report", text))
        seen.append(("expert", "in the expert's", quoted))
    oracle = scenario.controls.get("oracle")
    labels: Mapping[str, bool] = {} if oracle is None or scenario.task is None else oracle.labels
    graded = [
        (item, by_id[item.item_id], _STATES[by_id[item.item_id].passed], place, labels.get(item.item_id))
        for place, item in enumerate(scenario.items)
    ]
    states = list(_STATES.values())
    graded.sort(key=lambda one: (states.index(one[2]), -_weight(one[0], weights or {})))
    judged = [item for item, verdict, *_ in graded if verdict.status is not VerdictStatus.abstained]
    passed = [item.is_error for item, verdict, *_ in graded if verdict.passed]
    wanted = "criterion" if said is REPORTS else "requirement"
    heads = ["item", f"{wanted} and reason", "verdict", *(["expert's report"] if labels else [])]
    return render(
        "brief.html",
        f"{heading}: {condition}",
        depth=2,
        scripts=TABLE_SCRIPTS,
        texts=[] if brief.text is None else texts,
        quoted=seen,
        pictures=pictures,
        beside=beside,
        has_chat=has_chat,
        is_clamped=is_clamped,
        heading=heading,
        condition=condition,
        row=row,
        scenario=scenario,
        brief=brief,
        score=score,
        scoring=scoring,
        report=report,
        counts={
            "judged": len(judged),
            "errors": sum(item.is_error for item in judged),
            "correct": len(passed),
            "passed": passed.count(False),
        },
        said=said,
        is_stand_in=is_stand_in,
        columns=[*map(Column, heads), *filters("graded as", "kind", "tier", "step", "severity", "mode")],
        has_expert=bool(labels),
        graded=graded,
        classes=_classes,
        whole_words=_whole_words,
        rubric=address("..", "..", "rubric", f"{scenario.scenario_id}.html"),
        rubric_script=rubric_script(scenario.scenario_id),
    )


def _classes(item: Item, verdict: Verdict, state: str) -> list[str]:
    """Return the values of the columns that filter; an empty one is no choice."""
    return [
        "without a verdict" if state == "missing" else state,
        kind_of(item),
        *filtered_by(item),
        "" if verdict.mode is None else verdict.mode.value,
    ]


def _weight(item: Item, weights: Mapping[str, float]) -> float:
    return abs(weights.get(item.severity or "", 0.0) if item.points is None else item.points)


def _whole_words(item: Item, verdict: Verdict) -> str:
    """Return a reason of the offline judge with whole words of the item in place of their stems."""
    known = re.findall(r"[^\W_]+", f"{item.requirement} {item.ground_truth} {item.pass_condition}".lower())

    def whole(match: re.Match[str]) -> str:
        stems = match.group().split(", ")
        return ", ".join(next((word for word in known if word.startswith(stem)), stem) for stem in stems)

    return _STEMS.sub(whole, verdict.reason)


def attempt_page(
    condition: str,
    scenario_id: str,
    seed: int,
    events: Sequence[Mapping[str, Any]],
    *,
    judges: Sequence[str] = (),
    chats: Sequence[tuple[str, int, Sequence[Mapping[str, Any]]]] = (),
    is_imported: bool = False,
) -> str:
    """Render the trajectory of one attempt.

    Args:
        condition: the condition's label.
        scenario_id: the task.
        seed: number of the attempt.
        events: rows of the trajectories table, in order; empty without that table.
        judges: labels of the judges with a page on its report.
        chats: of judges that are agents: label, number of the repeat, and events.
        is_imported: True if the attempt was not made with our tools.
    """
    heading = f"{scenario_id}, attempt {seed}"
    return render(
        "attempt.html",
        f"{heading}: {condition}",
        depth=2,
        heading=heading,
        condition=condition,
        page=f"{scenario_id}-{seed}.html",
        judges=judges,
        chats=chats,
        is_imported=is_imported,
        events=events,
        answered=_answered,
        answer_text=_answer_text,
    )


def _answered(event: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Return each tool call with its answer; None if it was not kept."""
    answers = {answer["call_id"]: answer for answer in event["answers"]}
    return [(call, answers.get(call["call_id"])) for call in event["tool_calls"]]


def _answer_text(answer: Mapping[str, Any]) -> str:
    text = str(answer["text"])
    if "characters" in answer:
        text += f"\n... ({answer['characters']:,} characters in all, sha256 {answer['sha256']})"
    images = answer["images"]
    return text + (f"\n({plural(len(images), 'picture')})" if images else "")
