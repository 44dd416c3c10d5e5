"""The tools of a writer and of a judge: what they take, and their schemas as sent."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

MAX_TEXT = 20_000
"""Longest text of a paragraph, cell or other place, in characters."""
MAX_WORD = 200
"""Longest run of characters without a space in a text that is written."""
MAX_REPORT = 300_000
"""Characters of a whole report."""

_LIMITS = (
    f"A text has at most {MAX_TEXT:,} characters, a word in it {MAX_WORD}, the whole report {MAX_REPORT:,}."
)
# Of a schema, in the order that is sent. Titles, defaults and null are left out.
_SENT = ("type", "minimum", "minItems", "enum", "items", "description")


def _says(description: str, **more: Any) -> Any:
    return Field(description=description, **more)


_Path = Annotated[str, _says("As list_files names it, such as attachments/notes.docx.")]
_PlaceId = Annotated[str, _says("An id that show_report gave, such as p7 or t2r3c1.")]
_Offset = Annotated[int, _says("Characters to leave out before; 0 if not given.", ge=0)]


class Arguments(BaseModel):
    """Arguments of one call. Unknown keys are refused, since they would have no effect."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Nothing(Arguments):
    """Arguments of `list_files` and `check_report`."""


class FilePage(Arguments):
    """Arguments of `read_file`."""

    path: _Path
    offset: _Offset = 0


class PageView(Arguments):
    """Arguments of `view_page`."""

    path: _Path
    page: int = _says("From 1; 1 if not given.", default=1, ge=1)


class Start(Arguments):
    """Arguments of `start_report`."""

    template: str | None = _says(
        "A .docx among the attachments; leave it out for a blank document.", default=None
    )


class Show(Arguments):
    """Arguments of `show_report`."""

    offset: _Offset = 0


class Entry(Arguments):
    """A place and its new text."""

    place: _PlaceId
    text: str


class Fill(Arguments):
    """Arguments of `fill`."""

    entries: list[Entry] = Field(min_length=1)


class NewBlock(Arguments):
    """A block to insert."""

    kind: Literal["heading", "paragraph", "bullet", "number", "table"]
    text: str = _says("Of all but a table. **bold** and *italic* are understood, no other marks.", default="")
    # Level 0 is taken too: `Block` knows it as the title.
    level: int = _says(
        "Of a heading or list item; 1 if not given.", default=1, json_schema_extra={"minimum": 1}
    )
    rows: list[list[str]] = _says(
        "Of a table: its rows of cells, equally long.", default_factory=list[list[str]]
    )
    header: bool = _says("Of a table: whether its first row is a heading; true if not given.", default=True)


class Insert(Arguments):
    """Arguments of `insert`."""

    after: str | None = _says(
        "The place that they come after; leave it out for the start of the report.", default=None
    )
    blocks: list[NewBlock] = Field(min_length=1)


class Rows(Arguments):
    """Arguments of `add_rows`."""

    cell: _PlaceId
    rows: list[list[str]] = _says("The texts of each row's cells, from left to right.", min_length=1)


class Delete(Arguments):
    """Arguments of `delete`: ids, or ranges of ids."""

    places: list[str] = _says(
        "Ids that show_report gave, and ranges of them in its order: p7, p9-p40, t2r3c1-t2r8c1.", min_length=1
    )


class Tool(NamedTuple):
    """What a tool takes and what a model is told of it."""

    takes: type[Arguments]
    description: str


TOOLS = {
    "list_files": Tool(
        Nothing,
        "List the files that there are: the attachments, and the report once it is begun.",
    ),
    "read_file": Tool(
        FilePage,
        "Read a file as text: Word, PDF, Excel, CSV, text or e-mail. Tables come as pipe tables; hidden "
        "text, tracked changes and other things that a page does not show are named. A long file comes in "
        "parts.",
    ),
    "view_page": Tool(
        PageView,
        "Look at one page of a file, of the report too, as a picture: for layout, scans, drawings, stamps.",
    ),
    "start_report": Tool(
        Start,
        "Begin outputs/report.docx, from a Word attachment as its template or from a blank document, and "
        "show its places. A report that is there already is replaced.",
    ),
    "show_report": Tool(
        Show,
        "Show the places of the report in order, each with its id, kind, hints and text: headings, "
        "paragraphs, list items, table cells, content controls, text boxes, headers and footers. Ids are "
        "counted in the report as it stands: an edit that adds or removes something says how they moved.",
    ),
    "fill": Tool(
        Fill,
        "Give places of the report a new text, which replaces the old one and keeps its style. All entries "
        "are written, or none. A line feed begins a new paragraph; an empty text empties the place. "
        + _LIMITS,
    ),
    "insert": Tool(
        Insert,
        "Insert blocks after a place of the report, in the report's own styles. " + _LIMITS,
    ),
    "add_rows": Tool(
        Rows,
        "Add rows to a table of the report, below the row of the given cell and formatted like it.",
    ),
    "delete": Tool(
        Delete,
        "Delete places of the report: paragraphs, content controls, whole tables, or for a cell its row. All "
        "are deleted, or none.",
    ),
    "check_report": Tool(
        Nothing,
        "Check the report as it will be read: whether it opens, its words by the rule that counts, its "
        "pages, the task's limit of length, and what is left to fill in.",
    ),
}
"""The tools of a writer by name, in the order in which they are offered."""

_OF_JUDGE = {
    "list_files": "List the two reports.",
    "read_file": "Read a report as text. Tables come as pipe tables. A long report comes in parts.",
    "view_page": "Look at one page of a report as a picture: for layout, emphasis, length.",
}
_DECIDE = "Decide every criterion, each with a reason. This ends the judgment, unless the call is rejected."


def offered_tools(*, images: bool) -> list[dict[str, Any]]:
    """Return the schemas of a writer's tools in the format of the OpenAI protocol, in a fixed order.

    They are part of every request's key: a test holds their digest.

    Args:
        images: True if the model takes images. Whether this machine can render pages must not matter, since a
            replay on another machine must send the same request.
    """
    names = [name for name in TOOLS if images or name != "view_page"]
    schemas = {name: TOOLS[name].takes.model_json_schema() for name in names}
    return [
        _function(name, TOOLS[name].description, _sent(schema, schema.get("$defs", {})))
        for name, schema in schemas.items()
    ]


def judge_tools(decision: Mapping[str, Any], *, images: bool) -> list[dict[str, Any]]:
    """Return the schemas of a judge's tools, in a fixed order.

    Args:
        decision: JSON schema of the arguments of `decide`.
        images: as for `offered_tools`.
    """
    tools = [tool for tool in offered_tools(images=images) if tool["function"]["name"] in _OF_JUDGE]
    for function in (tool["function"] for tool in tools):
        function["description"] = _OF_JUDGE[function["name"]]
        if "path" in function["parameters"]["properties"]:
            function["parameters"]["properties"]["path"]["description"] = "As list_files names it."
    return [*tools, _function("decide", _DECIDE, _object(decision["properties"], decision["required"]))]


def _function(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


def _object(properties: Mapping[str, Any], required: Sequence[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _sent(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is sent of a schema of pydantic's: references are followed, null is left out."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    for choice in schema.get("anyOf", ()):
        if choice["type"] != "null":
            schema = {**schema, **choice}
    if schema["type"] == "object":
        properties = {name: _sent(each, definitions) for name, each in schema["properties"].items()}
        return _object(properties, schema.get("required", []))
    sent = {key: schema[key] for key in _SENT if key in schema}
    return sent | ({"items": _sent(sent["items"], definitions)} if "items" in sent else {})
