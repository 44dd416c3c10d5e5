"""Schemas of the tools, in the format of the OpenAI protocol.

They are literal, not generated: they are part of every request's key and must not change with a library.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

MAX_TEXT = 20_000
"""Longest text of a paragraph, cell or other place, in characters."""
MAX_WORD = 200
"""Longest run of characters without a space in a text that is written."""
MAX_REPORT = 300_000
"""Characters of a whole report."""

_LIMITS = (
    f"A text has at most {MAX_TEXT:,} characters, a word in it {MAX_WORD}, the whole report {MAX_REPORT:,}."
)

_PATH = {"type": "string", "description": "As list_files names it, such as attachments/notes.docx."}
_PLACE = {"type": "string", "description": "An id that show_report gave, such as p7 or t2r3c1."}
_OFFSET = {"type": "integer", "minimum": 0, "description": "Characters to leave out before; 0 if not given."}
_BLOCK = {
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["heading", "paragraph", "bullet", "number", "table"]},
        "text": {
            "type": "string",
            "description": "Of all but a table. **bold** and *italic* are understood, no other marks.",
        },
        "level": {
            "type": "integer",
            "minimum": 1,
            "description": "Of a heading or list item; 1 if not given.",
        },
        "rows": {
            "type": "array",
            "items": {"type": "array", "items": {"type": "string"}},
            "description": "Of a table: its rows of cells, equally long.",
        },
        "header": {
            "type": "boolean",
            "description": "Of a table: whether its first row is a heading; true if not given.",
        },
    },
    "required": ["kind"],
    "additionalProperties": False,
}


def _function(
    name: str, description: str, properties: Mapping[str, Any], required: list[str]
) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": {
                "type": "object",
                "properties": dict(properties),
                "required": required,
                "additionalProperties": False,
            },
        },
    }


_TOOLS = (
    _function(
        "list_files",
        "List the files that there are: the attachments, and the report once it is begun.",
        {},
        [],
    ),
    _function(
        "read_file",
        "Read a file as text: Word, PDF, Excel, CSV, text or e-mail. Tables come as pipe tables; hidden "
        "text, tracked changes and other things that a page does not show are named. A long file comes in "
        "parts.",
        {"path": _PATH, "offset": _OFFSET},
        ["path"],
    ),
    _function(
        "view_page",
        "Look at one page of a file, of the report too, as a picture: for layout, scans, drawings, stamps.",
        {
            "path": _PATH,
            "page": {"type": "integer", "minimum": 1, "description": "From 1; 1 if not given."},
        },
        ["path"],
    ),
    _function(
        "start_report",
        "Begin outputs/report.docx, from a Word attachment as its template or from a blank document, and "
        "show its places. A report that is there already is replaced.",
        {
            "template": {
                "type": "string",
                "description": "A .docx among the attachments; leave it out for a blank document.",
            }
        },
        [],
    ),
    _function(
        "show_report",
        "Show the places of the report in order, each with its id, kind, hints and text: headings, "
        "paragraphs, list items, table cells, content controls, text boxes, headers and footers. Ids are "
        "counted in the report as it stands: an edit that adds or removes something says how they moved.",
        {"offset": _OFFSET},
        [],
    ),
    _function(
        "fill",
        "Give places of the report a new text, which replaces the old one and keeps its style. All entries "
        "are written, or none. A line feed begins a new paragraph; an empty text empties the place. "
        + _LIMITS,
        {
            "entries": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {"place": _PLACE, "text": {"type": "string"}},
                    "required": ["place", "text"],
                    "additionalProperties": False,
                },
            }
        },
        ["entries"],
    ),
    _function(
        "insert",
        "Insert blocks after a place of the report, in the report's own styles. " + _LIMITS,
        {
            "after": {
                "type": "string",
                "description": "The place that they come after; leave it out for the start of the report.",
            },
            "blocks": {"type": "array", "minItems": 1, "items": _BLOCK},
        },
        ["blocks"],
    ),
    _function(
        "add_rows",
        "Add rows to a table of the report, below the row of the given cell and formatted like it.",
        {
            "cell": _PLACE,
            "rows": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "array", "items": {"type": "string"}},
                "description": "The texts of each row's cells, from left to right.",
            },
        },
        ["cell", "rows"],
    ),
    _function(
        "delete",
        "Delete places of the report: paragraphs, content controls, whole tables, or for a cell its row. All "
        "are deleted, or none.",
        {
            "places": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "string"},
                "description": "Ids that show_report gave, and ranges of them in its order: p7, p9-p40, "
                "t2r3c1-t2r8c1.",
            }
        },
        ["places"],
    ),
    _function(
        "check_report",
        "Check the report as it will be read: whether it opens, its words by the rule that counts, its "
        "pages, the task's limit of length, and what is left to fill in.",
        {},
        [],
    ),
)


_OF_JUDGE = {
    "list_files": "List the two reports.",
    "read_file": "Read a report as text. Tables come as pipe tables. A long report comes in parts.",
    "view_page": "Look at one page of a report as a picture: for layout, emphasis, length.",
}
_DECIDE = "Decide every criterion, each with a reason. This ends the judgment, unless the call is rejected."


def judge_tools(decision: Mapping[str, Any], *, images: bool) -> list[dict[str, Any]]:
    """Return the schemas of a judge's tools, in a fixed order.

    Args:
        decision: JSON schema of the arguments of `decide`.
        images: as for `offered_tools`.
    """
    tools = [tool for tool in offered_tools(images=images) if tool["function"]["name"] in _OF_JUDGE]
    for tool in tools:
        function = tool["function"]
        function["description"] = _OF_JUDGE[function["name"]]
        if "path" in function["parameters"]["properties"]:
            function["parameters"]["properties"]["path"]["description"] = "As list_files names it."
    return [*tools, _function("decide", _DECIDE, decision["properties"], list(decision["required"]))]


def offered_tools(*, images: bool) -> list[dict[str, Any]]:
    """Return the schemas, in a fixed order.

    Args:
        images: True if the model takes images. Whether this machine can render pages must not matter, since a
            replay on another machine must send the same request.
    """
    return [deepcopy(tool) for tool in _TOOLS if images or tool["function"]["name"] != "view_page"]
