"""The pages of a scenario's rubric and of its documents, with the evidence of every item."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from flows.common.text import words
from flows.schema.document import Document
from flows.schema.scenario import Item, Scenario
from flows.stages.page.markup import address
from flows.stages.page.render import parts, render, script_of
from flows.stages.page.text import rendered
from flows.stages.page.wording import anchor, kind_of, wording


def rubric_script(scenario_id: str) -> str:
    """Return the file name of the script with the truth and evidence of a rubric's items."""
    return f"{scenario_id}.js"


def rubric_data(scenario: Scenario, documents: Mapping[str, Markup]) -> str:
    """Return the script that the pages of briefs load: the truth and evidence of each item, as HTML.

    Args:
        scenario: the scenario.
        documents: addresses of the pages of its documents, from the pages of briefs.
    """
    return script_of("rubric", [parts().truth(item, _described(item), documents) for item in scenario.items])


def rubric_page(scenario: Scenario, documents: Mapping[str, Markup] | None = None) -> str:
    """Render every item of a rubric.

    Args:
        scenario: the scenario.
        documents: addresses of the pages of its documents, where there are any.
    """
    return render(
        "rubric.html",
        f"{scenario.scenario_id}: rubric",
        depth=1,
        scenario=scenario,
        documents=documents or {},
        said=wording(is_task=scenario.task is not None),
        n_items=len(scenario.items),
        n_errors=sum(item.is_error for item in scenario.items),
        described=_described,
    )


def _described(item: Item) -> list[tuple[str, str]]:
    """Return the texts of an item with their headings; the page omits empty ones."""
    return [
        (kind_of(item).capitalize(), item.requirement),
        ("Ground truth", item.ground_truth),
        ("Passed if", item.pass_condition),
        ("Failed if", item.fail_condition),
        ("Why it matters", item.rationale),
    ]


def document_addresses(scenario: Scenario, documents: Sequence[Document], *up: str) -> dict[str, Markup]:
    """Return the addresses of the pages of documents, by name.

    Args:
        scenario: the scenario.
        documents: of its packet, in order.
        up: a `..` for each folder between the page with the links and the site's.
    """
    return {
        document.name: address(*up, "documents", scenario.scenario_id, f"{place}.html")
        for place, document in enumerate(documents, 1)
    }


def document_page(scenario: Scenario, document: Document, others: Mapping[str, Markup]) -> str:
    """Render the text of a document as a writer gets it, with links to the addresses of others."""
    quotes = {
        item.item_id: own
        for item in scenario.items
        if (own := [source.quote for source in item.source if source.document == document.name])
    }
    text, seen = rendered(document.text, quotes, form="plain", kind="evidence")
    rubric = address("..", "..", "rubric", f"{scenario.scenario_id}.html")
    return render(
        "document.html",
        f"{scenario.scenario_id}: {document.name}",
        depth=2,
        scenario=scenario,
        document=document,
        notices=[f"{words(one.kind)}, {one.place}: {one.detail}" for one in document.notices],
        text=text,
        items=[
            (item.item_id, Markup("{}#{}").format(rubric, anchor(place)), item.item_id in seen)
            for place, item in enumerate(scenario.items)
            if item.item_id in quotes
        ],
        others=others,
        rubric=rubric,
    )
