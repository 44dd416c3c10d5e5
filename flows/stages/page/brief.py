"""The page of one brief with the verdict on every item."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from flows.common.text import count_of, percent, plural
from flows.schema.brief import Brief
from flows.schema.leaderboard import LeaderboardRow
from flows.schema.report_task import ReportFacts
from flows.schema.scenario import Item, Scenario
from flows.schema.verdict import BriefScore, Verdict, VerdictStatus
from flows.stages.page.attempt import attempt_path
from flows.stages.page.condition import cut_phrase
from flows.stages.page.markup import address, own
from flows.stages.page.render import TABLE_SCRIPTS, Column, parts, render
from flows.stages.page.rubric import anchor, filtered_by, placing, rubric_script
from flows.stages.page.text import quotes_of, rendered
from flows.stages.page.wording import REPORTS, Wording, wording

_STATES = ("failed", "missing", "passed")
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

    Raises:
        KeyError: an item has no verdict.
    """
    by_id = {verdict.item_id: verdict for verdict in verdicts}
    said = wording(is_task=scenario.task is not None)
    heading, condition = (
        f"{brief.scenario_id}, {said.repeat} {brief.seed}",
        f"{row.condition}, judge {row.judge_id}",
    )
    quotes = quotes_of(verdicts)
    text, quoted = rendered(brief.text or "", quotes, is_markdown=said is not REPORTS)
    texts, seen = [(_head(brief, said), text)], [("quote", "in the text", quoted)]
    if scenario.reference is not None:
        text, quoted = rendered(scenario.reference, quotes, is_markdown=False, kind="expert")
        texts.append(("The expert's report", text))
        seen.append(("expert", "in the expert's", quoted))
    oracle = scenario.controls.get("oracle")
    labels: Mapping[str, bool] = {} if oracle is None or scenario.task is None else oracle.labels
    graded = [
        (item, by_id[item.item_id], _state(by_id[item.item_id]), place, labels.get(item.item_id))
        for place, item in enumerate(scenario.items)
    ]
    graded.sort(key=lambda one: (_STATES.index(one[2]), -_weight(one[0], weights or {})))
    facts = [*_about(row, brief, score, scoring, said), *_shares(scenario, by_id, score, said)]
    folder, name = ("..", "..", "rubric"), scenario.scenario_id
    return render(
        "brief.html",
        f"{heading}: {condition}",
        depth=2,
        scripts=TABLE_SCRIPTS,
        texts=[] if brief.text is None else texts,
        quoted=seen,
        pictures=[address("..", "..", "..", *path.split("/")) for path in pictures],
        beside=[file and address(file) for file in beside],
        heading=heading,
        condition=condition,
        row=row,
        scenario=scenario,
        brief=brief,
        said=said,
        is_stand_in=is_stand_in,
        facts=[*facts, *_about_file(row, report)],
        columns=_columns(said, has_expert=bool(labels)),
        has_expert=bool(labels),
        graded=graded,
        classes=_classes,
        whole_words=_whole_words,
        rubric=address(*folder, f"{name}.html"),
        rubric_script=address(*folder, rubric_script(name)),
        scenario_page=address("..", "..", "scenario", f"{name}.html"),
        anchor=anchor,
        placing=placing,
    )


def _head(brief: Brief, said: Wording) -> str:
    size = f"{brief.words_kept:,} words" if brief.text and brief.words_kept is not None else "empty"
    return f"The {said.brief} as it was graded ({size})"


def _columns(said: Wording, *, has_expert: bool) -> list[Column]:
    wanted = "criterion" if said is REPORTS else "requirement"
    shown = [Column("item"), Column(f"{wanted} and reason"), Column("verdict")]
    expert = [Column("expert's report")] if has_expert else []
    return shown + expert + [Column(name, is_filter=True, is_shown=False) for name in _FILTERS]


_FILTERS = ("graded as", "kind", "tier", "step", "severity", "mode")


def _classes(item: Item, verdict: Verdict, state: str) -> list[str]:
    """Return the values of the columns that filter; an empty one is no choice."""
    said = wording(is_task=item.points is not None)
    return [
        "without a verdict" if state == "missing" else state,
        said.error if item.is_error else said.requirement,
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


def _about(
    row: LeaderboardRow, brief: Brief, score: BriefScore, scoring: str, said: Wording
) -> list[tuple[str, str]]:
    words_kept = parts().unknown()
    if brief.words_kept is not None:
        words_kept = count_of(brief.words_kept, brief.words_raw or 0)
        words_kept += " kept" if brief.cut or brief.words_kept != brief.words_raw else ""
    status = brief.status.value + cut_phrase(brief)
    if brief.detail and brief.text is None:
        status += f": {brief.detail}"
    pairs = [(said.brief.capitalize(), status)]
    if brief.detail and brief.text is not None:
        pairs.append(("Left out or repaired while reading", brief.detail))
    pairs += [
        ("Words", words_kept),
        ("Judge", row.judge_id),
        ("Items graded", count_of(score.n_graded, score.n_items)),
        (f"Score ({scoring} scoring)", parts().score_cell(score)),
    ]
    if score.n_abstained:
        pairs.append(("Not judged by this judge, not scored", plural(str(score.n_abstained), "item")))
    if score.n_missing:
        reasons = f"{score.n_refused} refused, {score.n_unparsed} unparsed, {score.n_error} error"
        pairs.append(("Without a verdict", reasons))
    return pairs


def _shares(
    scenario: Scenario, by_id: dict[str, Verdict], score: BriefScore, said: Wording
) -> list[tuple[str, str]]:
    """Format shares with their counts; unknown if an item has no verdict."""
    judged = [item for item in scenario.items if by_id[item.item_id].status is not VerdictStatus.abstained]
    errors = sum(item.is_error for item in judged)
    requirements = len(judged) - errors
    n_passed = [bool(by_id[item.item_id].passed) for item in scenario.items if not item.is_error]
    wrong = parts().unknown() if score.wrong is None else f"{score.wrong} of {errors}"
    n_correct = sum(bool(verdict.passed) for verdict in by_id.values())
    return [
        ("Correct", _share(score.correct, n_correct, len(judged), "items")),
        ("Passed", _share(score.passed, sum(n_passed), requirements, said.requirements)),
        (f"{said.errors.capitalize()} {said.made}", wrong),
    ]


def _share(share: float | None, part: int, whole: int, noun: str) -> str:
    return parts().unknown() if share is None else f"{percent(share)}, {part} of {whole} {noun}"


def _about_file(row: LeaderboardRow, report: ReportFacts | None) -> list[tuple[str, str]]:
    if report is None:
        return []
    ended = own(report.ended)
    if report.n_calls:
        page = address("..", "..", *attempt_path(row.condition, report.scenario_id, report.seed))
        ended += Markup(', <a href="{}">calls of the model: {}</a>').format(page, report.n_calls)
    pairs: list[tuple[str, str]] = [("Attempt", ended)]
    if report.report is not None:
        # Only reports paid for with model calls are versioned; the others are made again by a run and may be
        # missing here.
        name: str = f"reports/files/{report.report}.docx"
        if report.n_calls:
            file = address("..", "..", "..", "reports", "files", f"{report.report}.docx")
            name = Markup('<a href="{}" download="report.docx">report.docx</a> ({})').format(file, own(name))
        pairs.append(("File, beside this site", name))
    for measure in report.length:
        found = "not measured" if measure.found is None else f"{measure.found:,}"
        over = ", over the limit" if measure.within is False else ""
        unit = measure.unit.value.capitalize()
        pairs.append((f"{unit} against the limit", f"{found}; at most {measure.limit:,}{over}"))
    if report.renderer is not None:
        pairs.append(("Page count", report.renderer))
    return pairs


def _state(verdict: Verdict) -> str:
    if verdict.passed is None:
        return "missing"
    return "passed" if verdict.passed else "failed"
