"""One brief and the verdict on every item of its rubric."""

from __future__ import annotations

from collections.abc import Sequence

from flows.schema.brief import Brief
from flows.schema.leaderboard import LeaderboardRow
from flows.schema.report_task import ReportFacts
from flows.schema.scenario import Item, Scenario
from flows.schema.verdict import BriefScore, FailureMode, Verdict
from flows.stages.page.attempt import attempt_path
from flows.stages.page.condition import cut_phrase, score_cell
from flows.stages.page.frame import document, facts, stand_in_notice
from flows.stages.page.markup import MISSING, NOT_SAID, address, count_of, own, percent
from flows.stages.page.rubric import anchor, evidence, paragraph, placing
from flows.stages.page.wording import REPORTS, Wording, wording

_PLACES = (
    "Paragraphs and tables are counted as the file is read. They are not the places (p7, t1r2c1) by which "
    "the tools of an attempt name parts of a report while it is written."
)
_CHOICES = (("all", "all"), ("failed", "failed"), ("missing", "without a verdict"), ("passed", "passed"))


def brief_page(
    row: LeaderboardRow,
    scenario: Scenario,
    brief: Brief,
    *,
    score: BriefScore,
    verdicts: Sequence[Verdict],
    scoring: str,
    is_stand_in: bool,
    report: ReportFacts | None = None,
) -> str:
    """A brief's counts, its text as graded, and a table of verdicts that can be filtered.

    Args:
        row: the condition and judge, as on the leaderboard.
        scenario: what the brief answers.
        brief: as it was graded.
        score: what the verdicts come to.
        verdicts: one for each item, in any order.
        scoring: name of the weights.
        is_stand_in: True where the judge is one.
        report: what is known of its file; None for a brief that is text alone.

    Raises:
        KeyError: an item has no verdict; scores exist for whole sets only.
    """
    by_id = {verdict.item_id: verdict for verdict in verdicts}
    said = wording(is_task=scenario.task is not None)
    title = f"{brief.scenario_id}, {said.repeat} {brief.seed}"
    up, condition = address("..", "..", "index.html"), f"{row.condition}, judge {row.judge_id}"
    body = [
        f'<nav><a href="{up}">Leaderboard</a> / <a href="index.html">{own(condition)}</a></nav>',
        f"<h1>{own(title)}</h1>",
        f'<p class="soft own">{own(scenario.title)}</p>',
    ]
    if is_stand_in:
        body.append(stand_in_notice(row.judge_id))
    about = _about(row, brief, score, scoring, said)
    pairs = [*about, *_shares(scenario, by_id, score, said), *_about_file(row, report)]
    body.append(facts(pairs))
    if said is REPORTS and brief.text is not None and brief.detail:
        body.append(f'<p class="soft">{_PLACES}</p>')
    if brief.text is not None:
        kept = f"{brief.words_kept:,} words" if brief.text and brief.words_kept is not None else "empty"
        body.append(f"<details><summary>The {said.brief} as it was graded ({kept})</summary>")
        # The line feed after the tag is the one that HTML drops; the brief's own first one stays.
        body.append(f'<pre class="own" dir="auto">\n{own(brief.text)}</pre></details>')
    body.append("<h2>Verdicts</h2>")
    body.append(_verdicts(scenario, by_id, row.judge_id, said))
    return document(f"{title}: {condition}", body)


def _about(
    row: LeaderboardRow, brief: Brief, score: BriefScore, scoring: str, said: Wording
) -> list[tuple[str, str]]:
    words_kept = MISSING
    if brief.words_kept is not None:
        words_kept = count_of(brief.words_kept, brief.words_raw or 0)
        words_kept += " kept" if brief.cut or brief.words_kept != brief.words_raw else ""
    status, detail = own(brief.status.value) + cut_phrase(brief), own(brief.detail)
    if brief.detail and brief.text is None:
        status += f": {detail}"
    pairs = [(said.brief.capitalize(), status)]
    if brief.detail and brief.text is not None:
        pairs.append(("Left out or mended on reading", detail))
    pairs += [
        ("Words", words_kept),
        ("Judge", own(row.judge_id)),
        ("Items graded", count_of(score.n_graded, score.n_items)),
        (f"Score ({own(scoring)} scoring)", score_cell(score)),
    ]
    if score.n_graded < score.n_items:
        reasons = f"{score.n_refused} refused, {score.n_unparsed} unparsed, {score.n_error} error"
        pairs.append(("Without a verdict", reasons))
    return pairs


def _shares(
    scenario: Scenario, by_id: dict[str, Verdict], score: BriefScore, said: Wording
) -> list[tuple[str, str]]:
    """Shares with what they are of; unknown where an item has no verdict."""
    errors = sum(item.is_error for item in scenario.items)
    requirements = len(scenario.items) - errors
    n_passed = [bool(by_id[item.item_id].passed) for item in scenario.items if not item.is_error]
    wrong = MISSING if score.wrong is None else f"{score.wrong} of {errors}"
    n_correct = sum(bool(verdict.passed) for verdict in by_id.values())
    return [
        ("Correct", _share(score.correct, n_correct, len(scenario.items), "items")),
        ("Passed", _share(score.passed, sum(n_passed), requirements, said.requirements)),
        (f"{said.errors.capitalize()} {said.made}", wrong),
    ]


def _share(share: float | None, part: int, whole: int, noun: str) -> str:
    return MISSING if share is None else f"{percent(share)}, {part} of {whole} {noun}"


def _about_file(row: LeaderboardRow, report: ReportFacts | None) -> list[tuple[str, str]]:
    if report is None:
        return []
    ended = own(report.ended)
    if report.n_calls:
        page = address("..", "..", *attempt_path(row.condition, report.scenario_id, report.seed))
        ended += f', <a href="{page}">calls of the model: {report.n_calls}</a>'
    pairs = [("Attempt", ended)]
    if report.report is not None:
        # Versions hold the files that a model's calls were paid for; the others are made again by a run, and
        # need not be here.
        name = f"reports/files/{own(report.report)}.docx"
        if report.n_calls:
            file = address("..", "..", "..", "reports", "files", f"{report.report}.docx")
            name = f'<a href="{file}">{name}</a>'
        pairs.append(("File, beside this site", name))
    for measure in report.length:
        found = "not measured" if measure.found is None else f"{measure.found:,}"
        over = ", over the limit" if measure.within is False else ""
        unit = measure.unit.value.capitalize()
        pairs.append((f"{unit} against the limit", f"{found}; at most {measure.limit:,}{over}"))
    if report.renderer is not None:
        pairs.append(("Page count", own(report.renderer)))
    return pairs


def _verdicts(scenario: Scenario, by_id: dict[str, Verdict], judge: str, said: Wording) -> str:
    """The table with its filter, which is style alone and needs no script."""
    states = [_state(by_id[item.item_id]) for item in scenario.items]
    counts = {key: len(states) if key == "all" else states.count(key) for key, _ in _CHOICES}
    choices = [
        f'<label class="choice"><input type="radio" name="only" id="only-{key}"'
        f"{' checked' if key == 'all' else ''}> {label} ({counts[key]})</label>"
        for key, label in _CHOICES
    ]
    page = address("..", "..", "rubric", f"{scenario.scenario_id}.html")
    rows = [
        _verdict_row(item, by_id[item.item_id], state, f"{page}#{anchor(place)}", said)
        for place, (item, state) in enumerate(zip(scenario.items, states, strict=True))
    ]
    placed = "step, tier, severity" if scenario.task is None else "points"
    wanted = "criterion" if said is REPORTS else "requirement"
    heads = ("item", placed, wanted, "verdict", "judge's reason")
    return (
        '<div class="filter">\n<fieldset><legend>Show</legend>'
        + "".join(choices)
        + '</fieldset>\n<table class="verdicts">\n'
        + f"<caption>Verdicts of judge {own(judge)}. An item's id leads to all that its rubric says."
        + "</caption>\n"
        + "<thead><tr>"
        + "".join(f'<th scope="col">{head}</th>' for head in heads)
        + "</tr></thead>\n<tbody>\n"
        + "\n".join(rows)
        + "\n</tbody>\n</table>\n</div>"
    )


def _verdict_row(item: Item, verdict: Verdict, state: str, rubric: str, said: Wording) -> str:
    # What failed or is missing is what gets looked into: its evidence is here. Every item's is in the
    # rubric, one step away, or a thousand briefs would repeat their rubrics a thousand times.
    more = ""
    if state != "passed":
        parts = f"{paragraph('Ground truth', item.ground_truth) if item.ground_truth else ''}{evidence(item)}"
        head = "Ground truth and evidence" if item.ground_truth else "Evidence"
        more = f"<details><summary>{head}</summary>{parts}</details>" if parts else ""
    kind = f"<b>{said.error.capitalize()}:</b> " if item.is_error else ""
    placed = "<br>".join(own(part) for part in placing(item))
    reason = own(verdict.reason) if verdict.reason else NOT_SAID
    return (
        f'<tr class="{state}"><th scope="row"><a href="{rubric}">{own(item.item_id)}</a></th>'
        f'<td class="soft">{placed}</td>'
        f'<td><div class="own" dir="auto">{kind}{own(item.requirement)}</div>{more}</td>'
        f"<td>{_shown(item, verdict, said)}</td>"
        f'<td><div class="own" dir="auto">{reason}</div></td></tr>'
    )


def _state(verdict: Verdict) -> str:
    if verdict.passed is None:
        return "missing"
    return "passed" if verdict.passed else "failed"


def _shown(item: Item, verdict: Verdict, said: Wording) -> str:
    """A verdict in words, with a sign that does not need colour."""
    if verdict.passed is None:
        return f'<span class="verdict">? no verdict</span><br><small>{own(verdict.status.value)}</small>'
    made = ""
    if item.is_error:
        made = f"<br><small>{'not ' if verdict.passed else ''}{said.made}</small>"
    sign = "✓ passed" if verdict.passed else "✗ failed"
    # An error fails in one way alone, which has been said.
    has_mode = verdict.mode is not None and verdict.mode is not FailureMode.committed
    mode = f"<br><small>{own(verdict.mode.value)}</small>" if has_mode and verdict.mode else ""
    return f'<span class="verdict">{sign}</span>{made}{mode}'
