"""`staffbench agreement`: judges against labels, others and themselves; and sheets that experts fill in."""

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from flows.adapters.completions.client import check_keys
from flows.adapters.completions.stores.shared import Store
from flows.adapters.completions.threaded_client import ThreadedClient
from flows.adapters.config.compose import compose_points
from flows.adapters.labels import read_labels, write_sheet
from flows.adapters.objects import ObjectStore
from flows.adapters.pairs import load_pairs
from flows.adapters.screen import Screen
from flows.common.digests import sha256_text
from flows.common.errors import ConfigError
from flows.common.gather import gather_then_raise
from flows.common.text import number, plural
from flows.common.untrusted import plain_name
from flows.pipeline.evaluate.showing import command_hint, display_path
from flows.pipeline.results.agreement.judges import judges_agreement
from flows.pipeline.results.agreement.labels import (
    by_code,
    label_faults,
    labels_agreement,
    mlflow_labels,
    stored_briefs,
)
from flows.pipeline.results.agreement.offline import offline_agreements, pairs_agreement
from flows.pipeline.results.agreement.text import HEAD, agreement_rows, figure, remarks
from flows.pipeline.results.graded import Graded
from flows.pipeline.results.leaderboard import build_leaderboard
from flows.pipeline.results.stored import load_graded, load_scenarios
from flows.pipeline.work.remote_judge import ask
from flows.pipeline.work.stores import Stores
from flows.schema.leaderboard import JudgeNote
from flows.schema.scenario import Item, Scenario
from flows.schema.settings import JudgeKind, JudgeSettings, ProtocolName, Settings
from flows.schema.verdict import Agreement, ExpertLabel
from flows.stages.agreement import LabelledVerdict, measure_agreement, window_overlap
from flows.stages.judge import build_requests
from flows.stages.label_sample import Size, draw_sample

SHEET = "sheet"
"""The word after `staffbench agreement` that draws a sample."""

_BRIEFS, _ITEMS = 8, 15  # a day's work of a rater


def agreement(
    project: Path,
    overrides: Sequence[str],
    screen: Screen,
    *,
    raters: str | None = None,
    briefs: int | None = None,
    items: int | None = None,
    shared: int | None = None,
    draw: int | None = None,
    source: str | None = None,
) -> int:
    """Measure how far judges agree with labels, with one another, and each with itself; or draw a sample."""
    paths = [argument for argument in overrides if "=" not in argument]
    settings = compose_points(project, [one for one in overrides if "=" in one], multirun=False)[0].settings
    scenarios, broken = load_scenarios(project, settings)
    graded, problems = load_graded(project / settings.results / settings.benchmark.name, scenarios)
    if paths[:1] == [SHEET]:
        if len(paths) != 2:  # noqa: PLR2004 -- the word and the folder
            found = plural(len(paths) - 1, "folder")
            raise ConfigError(f"agreement {SHEET}", found, "the folder to write")
        briefs = _BRIEFS if briefs is None else briefs
        size = Size(
            briefs, _ITEMS if items is None else items, (briefs + 1) // 2 if shared is None else shared
        )
        name = f"{settings.benchmark.name} {1 if draw is None else draw}"
        _draw(Path(paths[1]), raters or "", size, name, graded, scenarios, screen)
        back = command_hint(f"agreement {shlex.quote(display_path(Path(paths[1])))}", project, settings)
        screen.note(f"When they come back: {back}")
    elif (raters, briefs, items, shared, draw) != (None,) * 5:
        raise ConfigError("--raters", "no sheet to draw", f"staffbench agreement {SHEET} FOLDER")
    else:
        labels = read_labels(
            [Path(path) for path in paths],
            lambda name: by_code(graded, scenarios, name),
            lambda read: label_faults(read, graded),
        )
        notes: Sequence[str] = ()
        if source is not None:
            given, notes = mlflow_labels(project / settings.results, settings, graded)
            labels += given
        _measure(project, settings, graded, scenarios, screen=screen, labels=labels)
        for note in notes:  # at the end, where a terminal still shows them
            screen.note(note)
    return screen.failed([*broken, *problems])


def _draw(  # noqa: PLR0917 -- what is drawn, and of what
    folder: Path,
    given: str,
    size: Size,
    name: str,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    screen: Screen,
) -> None:
    """Write a sheet of the sample `name` for each rater."""
    raters = [rater.strip() for rater in given.split(",") if rater.strip()]
    if not raters or len(set(raters)) < len(raters) or not all(map(plain_name, raters)):
        raise ConfigError("--raters", repr(given), "different names of files, as in --raters ann,ben,cem")
    limits = {"briefs": (1, 1000), "items": (1, 10_000), "shared": (0, size.briefs)}
    for option, (least, most) in limits.items():
        if not least <= (value := getattr(size, option)) <= most:
            raise ConfigError(f"--{option}", str(value), f"a number from {least} to {most:,}")
    paths = [folder / f"{rater}.xlsx" for rater in raters]
    for path in paths:
        if path.exists():
            raise ConfigError(path, "already there, and maybe filled in", "another folder or name")
    rubrics = {scenario_id: scenario.items for scenario_id, scenario in scenarios.items()}
    stored = [brief for brief in stored_briefs(graded) if brief.scenario_id in rubrics]
    drawn = draw_sample(stored, rubrics, raters, size, name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, (rater, parts) in zip(paths, drawn.items(), strict=True):
            read = [(brief.code(name), brief.text, chosen) for brief, chosen in parts]
            titles = {brief.code(name): scenarios[brief.scenario_id] for brief, _ in parts}
            write_sheet(path, rater, name, read, titles)
    except OSError as error:
        raise ConfigError(folder, f"can't be written ({error.strerror})", "a folder that can be") from error
    screen.note("Written: " + ", ".join(map(display_path, paths)))
    rows = sum(len(chosen) for _, chosen in next(iter(drawn.values())))
    screen.note(f"Each has {plural(size.briefs, 'brief')} and about {plural(rows, 'item')}.")
    screen.note(f"Read by all: {plural(size.shared, 'brief')}.")


def _measure(
    project: Path,
    settings: Settings,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    *,
    labels: Sequence[ExpertLabel],
    screen: Screen,
) -> None:
    objects = ObjectStore(project / settings.results / ".cache" / "objects")
    measured: list[tuple[str, Agreement]] = [
        ("offline", found) for found in offline_agreements(scenarios, objects)
    ]
    pairs = project / "data" / "judge_pairs"
    if settings.benchmark.protocol is ProtocolName.ma_bench and pairs.is_dir():  # for its items only
        measured += [("offline", found) for found in pairs_agreement(pairs)]
        measured += remote_pairs_agreement(project, settings)
    judges: Sequence[JudgeNote] = ()
    if graded:
        judges = build_leaderboard(graded, scenarios, settings.scoring, objects).judges
        measured += [(n.judge_id, found) for n in judges if not n.is_stand_in for found in n.agreements]
    measured += labels_agreement(labels, graded, scenarios) if labels else []
    for judge, found in measured:
        screen.table(f"{judge} against {found.labels}", [HEAD, *agreement_rows(found)])
        for remark in remarks(found):
            screen.note(remark)
    if measured:
        screen.note("±: half of a 95% interval over scenarios. within: kappa within each brief.")
        screen.note("by brief, BM25: kappa of raters that know only which brief it is, or match words.")
    _show_judges(judges_agreement(graded, scenarios), judges, screen)
    if labels:
        _show_calibration(graded, scenarios, settings, labels, screen)


def _show_calibration(
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    settings: Settings,
    labels: Sequence[ExpertLabel],
    screen: Screen,
) -> None:
    """Show what the labels say about the judges, as the paper's tables do."""
    # pandas takes a second to import.
    from flows.pipeline.results.paper import paper_results
    from flows.stages.paper import LABEL_TABLES, TABLES, NotEnoughError, cells

    cap, prompt = settings.word_cap.words, settings.prompt.version
    results = paper_results(graded, scenarios, settings.scoring, word_cap=cap, prompt=prompt, labels=labels)
    for name in LABEL_TABLES:
        try:
            table = TABLES[name](results)
        except NotEnoughError as error:
            screen.note(f"No table {name}: {error}")
            continue
        screen.table(table.title, cells(table), words=2)
        for note in table.notes:
            screen.note(note)


def _show_judges(
    against: Sequence[tuple[str, Agreement]], judges: Sequence[JudgeNote], screen: Screen
) -> None:
    """Show the agreement of judges with one another and with their own repeats, if any."""
    rows = [("judge", "other judge", "n", "ungraded", "same verdict", "kappa", "within")]
    rows += [(judge, found.labels, *_agreed(found)) for judge, found in against]
    if against:
        screen.table("judges against each other, on the same briefs", rows)
    rows = [("judge", "repeats", "n", "ungraded", "same verdict", "kappa", "within")]
    for note in judges:
        repeats = note.self_agreement
        if repeats is not None:
            counts = (str(repeats.n), str(repeats.n_ungraded), number(repeats.unanimous, 2), "-", "-")
            rows.append((note.judge_id, f"all {repeats.n_repeats}", *counts))
            rows += [(note.judge_id, pair.labels, *_agreed(pair)) for pair in repeats.pairs]
    if len(rows) > 1:
        screen.table("repeats of the same judge", rows)


def _agreed(found: Agreement) -> tuple[str, ...]:
    return (
        str(found.n),
        str(found.n_ungraded),
        figure(found.accuracy, found.accuracy_margin),
        figure(found.kappa, found.kappa_margin),
        figure(found.within, found.within_margin),
    )


def remote_pairs_agreement(project: Path, settings: Settings) -> list[tuple[str, Agreement]]:
    """Measure how far the configured judge, or each remote panel member, agrees with the labelled pairs.

    The judge is asked as in a run, by its mode: the items of a brief together or one by one. Its replies are
    stored and paid for once; pairs without a verdict are counted separately.

    Returns:
        Label and agreement of each judge; empty for the offline judge.

    Raises:
        ScenarioError: the pairs can't be read.
        StaffbenchError: the judge can't be asked.
    """
    judge = settings.judge
    judges = list(judge.members.values()) if judge.kind is JudgeKind.panel else [judge]
    remote = [member for member in judges if member.kind is JudgeKind.remote]
    if not remote:
        return []
    check_keys(remote)
    store = Stores.of(project, settings).completions()
    try:
        return asyncio.run(_ask_judges(project, settings, remote, store))
    finally:
        store.close()


async def _ask_judges(
    project: Path, settings: Settings, judges: list[JudgeSettings], store: Store
) -> list[tuple[str, Agreement]]:
    client = ThreadedClient(store, settings.runner, settings.budget, settings.retry)
    try:
        found = await gather_then_raise([_ask_pairs(project, settings, judge, client) for judge in judges])
    finally:
        await client.aclose()
    return [
        (judge.label, measure_agreement("judge pairs", pairs))
        for judge, pairs in zip(judges, found, strict=True)
    ]


async def _ask_pairs(
    project: Path, settings: Settings, judge: JudgeSettings, client: ThreadedClient
) -> list[LabelledVerdict]:
    by_brief: dict[str, list[tuple[Item, bool]]] = {}
    for _, item, label, brief in load_pairs(project / "data" / "judge_pairs"):
        by_brief.setdefault(brief, []).append((item, label))
    calls = [
        call
        for brief, pairs in by_brief.items()
        for call in build_requests([item for item, _ in pairs], brief, judge, settings.judge_prompt, 1)
    ]
    answers = await gather_then_raise([ask(client, judge, call, settings.retry) for call in calls])
    passed = {verdict.item_id: verdict.passed for answer in answers for verdict in answer.verdicts}
    return [
        LabelledVerdict(item, label, passed[item.item_id], name, name, window_overlap([item], brief)[0])
        for brief, pairs in by_brief.items()
        for name in [sha256_text(brief)]
        for item, label in pairs
    ]
