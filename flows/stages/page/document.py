"""The page of a document of a packet, with the evidence in it marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from flows.schema.document import Document
from flows.schema.scenario import Scenario
from flows.stages.page.markup import address, words
from flows.stages.page.render import render
from flows.stages.page.text import rendered
from flows.stages.page.wording import anchor


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
    """Render the text of a document as a writer gets it.

    Args:
        scenario: the scenario.
        document: the document.
        others: addresses of the other documents.
    """
    quotes = {
        item.item_id: own
        for item in scenario.items
        if (own := [source.quote for source in item.source if source.document == document.name])
    }
    text, seen = rendered(document.text, quotes, is_markdown=False, kind="evidence")
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
        others=[(name, page) for name, page in others.items() if name != document.name],
        rubric=rubric,
        scenario_page=address("..", "..", "scenario", f"{scenario.scenario_id}.html"),
    )
