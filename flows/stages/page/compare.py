"""The page of two conditions side by side."""

from __future__ import annotations

from collections.abc import Sequence

from flows.stages.page.render import Column, render

_MEANS = (Column("scenario"), *(Column(name, is_number=True) for name in ("A", "B", "A - B")))
_ITEMS = (
    *(Column(name) for name in ("scenario", "item", "requirement or wrong move")),
    *(Column(name, is_number=True) for name in ("A", "B", "A - B")),
)


def compare_page(
    benchmark: str,
    facts: Sequence[tuple[str, str]],
    means: Sequence[Sequence[str]],
    items: Sequence[Sequence[str]],
    notes: Sequence[str],
) -> str:
    """Render a comparison.

    Args:
        benchmark: its name.
        facts: names of the conditions and their difference.
        means: scenario, both means and their difference.
        items: scenario, item, its text, passes under both and the difference of their shares.
        notes: sentences below the tables.
    """
    return render(
        "compare.html",
        f"{benchmark}: two conditions",
        with_script=True,
        facts=facts,
        mean_columns=_MEANS,
        means=means,
        item_columns=_ITEMS,
        items=items,
        notes=notes,
    )
