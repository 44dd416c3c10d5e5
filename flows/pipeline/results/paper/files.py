"""Write the tables and figures of a paper into folders, each with a README."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from flows.common.files import write_whole
from flows.stages.paper import (
    FIGURE_ENDINGS,
    FIGURES,
    TABLE_ENDINGS,
    TABLES,
    NotEnoughError,
    Results,
    draw,
    render,
)

README = "README.md"


def write_paper(
    results: Results, *, tables: Path | None = None, figures: Path | None = None
) -> tuple[list[Path], dict[str, str]]:
    """Write the tables and figures that the results support, and a README into each folder.

    Files of an earlier call that are not made now are deleted.

    Args:
        results: as built by `paper_results`.
        tables: folder of the tables; None to make none.
        figures: of the figures, likewise; it may be the same.

    Returns:
        The paths of the READMEs, and the names of what could not be made with the reason.

    Raises:
        StoreError: a file can't be written.
    """
    shown: dict[Path, dict[str, tuple[str, list[str]]]] = {}
    without: dict[str, str] = {}
    for folder, makers, form, endings in (
        (tables, TABLES, render, TABLE_ENDINGS),
        (figures, FIGURES, draw, FIGURE_ENDINGS),
    ):
        if folder is None:
            continue
        entries = shown.setdefault(folder.resolve(), {})
        for name, make in makers.items():
            try:
                made: Any = make(results)
                files = form(made)
            except NotEnoughError as error:
                without[name] = str(error)
                for ending in endings:
                    (folder / f"{name}.{ending}").unlink(missing_ok=True)
                continue
            for ending, content in files.items():
                write_whole(folder / f"{name}.{ending}", content)
            links = entries.setdefault(name, (results.said(summary_of(make)), []))[1]
            links += [f"[{ending}]({name}.{ending})" for ending in files]
    for folder, entries in shown.items():
        write_whole(folder / README, _readme(results, entries, without))
    return [folder / README for folder in shown], without


def summary_of(make: Callable[..., Any]) -> str:
    """Return what a table or figure shows: the first paragraph of its function's docstring."""
    return " ".join((make.__doc__ or "").split("\n\n")[0].split())


def _readme(
    results: Results, entries: Mapping[str, tuple[str, list[str]]], without: Mapping[str, str]
) -> str:
    notes = [
        results.judge_note,
        results.interval_note,
        f"Conditions: {len(results.order)}, of which {len(results.at_benchmark)} count as the benchmark's "
        "condition; judges: " + ", ".join(results.judges) + ".",
        "Names with a number or an appendix are those of MA-Bench's paper; the others it doesn't have.",
        (
            "An unknown number is null in Parquet, empty in CSV and a dash elsewhere. Shares are fractions "
            "in Parquet and CSV."
        ),
    ]
    if results.judge in results.stand_ins:
        notes.insert(1, "This judge is a stand-in. Its numbers are not to be published.")
    missing = [f"| {name} | {reason} |" for name, reason in without.items()]
    return "\n".join(
        [
            "# Tables and figures",
            "",
            *(f"- {note}" for note in notes),
            "",
            "| file | what it shows | formats |",
            "|---|---|---|",
            *(
                f"| {name} | {summary} | {', '.join(links)} |"
                for name, (summary, links) in sorted(entries.items())
            ),
            "",
            *(
                ["## Not made", "", "| file | why, and what makes it |", "|---|---|", *missing, ""]
                if missing
                else []
            ),
        ]
    )
