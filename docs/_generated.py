"""What is generated while the pages are built: `<!-- generated: NAME -->` becomes text made from the code.

MkDocs calls `on_page_markdown` (`hooks` in mkdocs.yml); tests call it too.
"""

# ruff: noqa: INP001 -- a hook beside the pages, no package
import argparse
import html
import inspect
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from flows.adapters import tables
from flows.adapters.config.described import AXES, comment
from flows.pipeline.commands.arguments import build_parser
from flows.schema import models, settings
from flows.schema.leaderboard import LeaderboardRow

_PLACE = re.compile(r"^<!-- generated: (\w+) -->$", re.MULTILINE)
_CONF = Path(__file__).resolve().parents[1] / "conf"
_PYTHON = Path(__file__).resolve().parents[1] / "flows/adapters/tables.py"

_TYPES = {
    "benchmark": [settings.BenchmarkSettings],
    "harness": [settings.HarnessSettings],
    "model": [models.ModelSettings],
    "effort": [settings.EffortSettings],
    "word_cap": [settings.WordCapSettings],
    "prompt": [settings.PromptSettings],
    "judge": [models.JudgeSettings],
    "judge_prompt": [settings.JudgePromptSettings],
    "scoring": [settings.ScoringSettings],
    "runner": [settings.RunnerSettings],
    "budget": [settings.BudgetSettings],
    "tracking": [settings.TrackingSettings],
    "experiment": [],
}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with every place filled in."""
    return _PLACE.sub(lambda place: _MAKERS[place[1]](), markdown)


def commands() -> str:
    """Each command with its help."""
    return "\n\n".join(_command(name, parser) for name, parser in _parsers(build_parser()))


def _parsers(
    parser: argparse.ArgumentParser, prefix: str = ""
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:  # noqa: SLF001 -- argparse has no public way to its subcommands
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for name, inner in action.choices.items():
                if inner.get_default("is_former"):
                    continue  # an old name, which the command's help leaves out too
                below = list(_parsers(inner, f"{prefix}{name} "))
                yield from below or [(prefix + name, inner)]


def _command(name: str, parser: argparse.ArgumentParser) -> str:
    rows = [
        (_argument(action), (action.help or "").replace("%(default)s", str(action.default)))
        for action in parser._actions  # noqa: SLF001
        if not isinstance(action, argparse._HelpAction)  # noqa: SLF001
    ]
    parts = [
        f"## staffbench {name}",
        _sentence(parser.description or ""),
        _table(("argument", "meaning"), rows),
    ]
    return "\n\n".join([*parts, parser.epilog] if parser.epilog else parts)


def _argument(action: argparse.Action) -> str:
    words = ", ".join(action.option_strings)
    value = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
    if action.choices:
        value = " or ".join(map(str, action.choices))
    return f"`{' '.join(part for part in (words, str(value)) if part)}`"


def options() -> str:
    """Each axis: its options with their first comment, and its keys."""
    own = [(key, what.replace("None", "null")) for key, what in attributes(settings.Settings)]
    parts = [
        f"## Keys without an axis\n\n{_table(('key', 'meaning'), own)}",
        *(_axis(name) for name in AXES),
    ]
    unknown = {folder.name for folder in _CONF.iterdir() if folder.is_dir()} - AXES.keys()
    if unknown:
        raise ValueError(f"axes without a sentence: {sorted(unknown)}")
    return "\n\n".join(parts)


def _axis(name: str) -> str:
    files = sorted(path for path in (_CONF / name).glob("*.yaml") if not path.stem.startswith("_"))
    rows = [(f"`{path.stem}`", comment(_CONF.parent, name, path.stem)) for path in files]
    if not any(comment for _, comment in rows):
        listed = "Options: " + ", ".join(option for option, _ in rows) + "."
    else:
        listed = _table(("option", "what it is"), rows)
    keys = [(key, what.replace("None", "null")) for each in _TYPES[name] for key, what in attributes(each)]
    if name == "judge":
        known = {key for key, _ in attributes(models.ModelSettings)}
        keys = [row for row in keys if row[0] not in known]
    text = f"## {name}\n\n{AXES[name]} Folder: `conf/{name}/`.\n\n{listed}"
    return f"{text}\n\n{_table(('key', 'meaning'), keys)}" if keys else text


def columns() -> str:
    """Each table that is written, with its columns."""
    source = _PYTHON.read_text(encoding="utf-8")
    parts: list[str] = []
    for name in (
        "BRIEFS",
        "VERDICTS",
        "SCORES",
        "REPEATS",
        "REPORTS",
        "TRAJECTORIES",
        "JUDGE_CHATS",
        "BLOCKS",
    ):
        rows = [
            (
                f"`{field.name}`",
                str(field.type),
                "yes" if field.nullable else "no",
                _remark(source, name, field.name),
            )
            for field in getattr(tables, name)
        ]
        where = "packets" if name == "BLOCKS" else name.lower()
        parts.append(f"## {where}\n\n{_table(('column', 'type', 'may be null', 'remark'), rows)}")
    return "\n\n".join(parts)


def _remark(source: str, table: str, column: str) -> str:
    block = source.partition(f'\n{table} = _schema("""')[2].partition('\n"""')[0]
    found = re.search(rf"^    {column}(?:[:?]\S*)?  # (.+)$", block, re.MULTILINE)
    return found[1] if found else ""


def leaderboard() -> str:
    """The fields of a row of the leaderboard's files."""
    return _table(("column", "meaning"), attributes(LeaderboardRow))


def attributes(kind: type) -> list[tuple[str, str]]:
    """Names and meanings of a dataclass's fields, from the comments at them, and the values they take."""
    found: list[tuple[str, str]] = []
    hints = get_type_hints(kind)
    above: list[str] = []
    for line in inspect.getsource(kind).splitlines():
        if note := re.match(r"    # (.+)", line):
            above.append(note[1])
            continue
        if entry := re.match(r"    (\w+): [^#]*(?:# (.+))?", line):
            text = " ".join(above) or entry[2]
            several = re.match(r"(\w+(?:, \w+)+): (.+)", text or "") if above else None
            names, what = (several[1], several[2]) if several else (entry[1], text)
            values = _values(hints.get(entry[1]))
            listed = any(value not in (what or "") for value in values)
            if what or listed:
                one_of = f"One of {', '.join(f'`{value}`' for value in values)}." if listed else ""
                meaning = " ".join(filter(None, [_sentence(what or ""), one_of]))
                found.append((", ".join(f"`{name}`" for name in names.split(", ")), meaning))
        above = []
    return found


def _values(hint: Any) -> list[str]:
    """Return the texts that a field takes, if they are a closed list."""
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return [member.value for member in hint]
    if get_origin(hint) is Literal:
        return [value for value in get_args(hint) if isinstance(value, str)]
    if get_origin(hint) in (Union, UnionType, Annotated):
        return [value for part in get_args(hint) for value in _values(part)]
    return []


def _sentence(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)


def _cell(text: str) -> str:
    """Text without marks of a table or of HTML; code stays as it is."""
    text = re.sub(r"`([^`]*\|[^`]*)`", _code, text)  # a backslash would be shown
    parts = text.replace("|", "\\|").split("`")
    marked = (
        part if number % 2 else re.sub(r"<(?!/?code>)", "&lt;", part) for number, part in enumerate(parts)
    )
    return "`".join(marked)


def _code(found: re.Match[str]) -> str:
    return f"<code>{html.escape(found[1]).replace('|', '&#124;')}</code>"


_MAKERS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "options": options,
    "columns": columns,
    "leaderboard": leaderboard,
}
