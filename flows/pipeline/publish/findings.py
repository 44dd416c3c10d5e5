"""Search an export for what nobody means to publish: keys, the machine's names and paths, people."""

import getpass
import os
import re
import socket
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flows.adapters.screen import Screen
from flows.common.errors import StaffbenchError
from flows.common.text import plural
from flows.pipeline.inputs.scenarios import source_files
from flows.readers.people import people_of
from flows.schema.scenario import Scenario

_KEY = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bgh[opsur]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}"
    r"|\bhf_[A-Za-z0-9]{20,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[\w-]{35}|\bxox[abeprs]-[\w-]{10,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\bBearer +[\w.~+/-]{20,}|\beyJ[\w-]{10,}\.eyJ[\w-]{10,}"
)
_KEY_MARKS = (
    *("sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "hf_", "AKIA", "ASIA", "AIza", "xox", "Bearer", "eyJ"),
    *("ghp_", "gho_", "ghr_", "ghs_", "ghu_", "github_pat_", "PRIVATE KEY"),
)
"""One of these is in every text that `_KEY` matches."""
_HOME = re.compile(
    r"(?:/home|/Users)/[^/\s\"']+|[A-Za-z]:[\\/]Users[\\/][^\\/\s\"']+"
    r"|(?<![\w/.])/root/\S+|file://\S+"
)
_MAIL = re.compile(r"[\w.%+'-]+@(?:[\w-]+\.)+[^\W\d_]{2,}")
# No one has an address there (RFC 2606).
_RESERVED = re.compile(
    r"@(?:[\w-]+\.)*(?:example(?:\.(?:com|net|org))?|test|invalid|localhost)$", re.IGNORECASE
)
_SECRET_VARIABLE = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
_ANYONES = frozenset(
    {"admin", "administrator", "debian", "ec2-user", "jovyan", "localhost", "root", "runner"}
)
_SHORTEST_SECRET = 8
_SHORTEST_NAME = 4
_SHORTEST_FOLDER = 5
_SHOWN = 10  # findings of a kind in full

SOFTWARE = frozenset({"anonymous", "author", "openpyxl", "python-docx", "unknown", "un-named", "user"})
"""What programs write in the place of an author."""


@dataclass(frozen=True)
class Finding:
    """What was found, with all its places."""

    kind: str  # `key`, `machine`, `mail address`, `author` or `licence`
    shown: str  # what it is; a key is not shown
    places: tuple[str, ...]  # where it is, each once


def show_findings(found: Sequence[Finding], screen: Screen) -> None:
    """Print findings as a table, if there are any: the first of each kind, and the names of the others."""
    if not found:
        return
    rows = [("kind", "what", "first place", "places")]
    rest: list[str] = []
    for kind in dict.fromkeys(one.kind for one in found):
        alike = [one for one in found if one.kind == kind]
        rows += [(kind, one.shown, one.places[0], str(len(one.places))) for one in alike[:_SHOWN]]
        if others := alike[_SHOWN:]:
            names = "; ".join(one.shown.partition(" (")[0] for one in others)
            rest.append(f"{kind}, {len(others)} more: {names}")
    screen.table("found in what would be exported", rows, words=3)
    for line in rest:
        screen.bullet(line)


def refuse_findings(found: Sequence[Finding], *, allow: bool) -> None:
    """Raise for findings that are not allowed, before anything is written.

    Raises:
        StaffbenchError: there are findings.
    """
    if found and not allow:
        remedy = (
            "take them out of the documents or the results, or add --allow if all may be published, "
            "such as the roles of invented people"
        )
        raise StaffbenchError("export", f"{plural(len(found), 'finding')}; nothing was written", "", remedy)


def people_in(folder: Path, scenario: Scenario, people: dict[str, list[str]]) -> None:
    """Add the people that a scenario's documents name to `people`, with their places.

    Raises:
        StaffbenchError: a document can't be read.
    """
    for document, place in source_files(scenario):
        file = folder / place
        for person, where in people_of(file.read_bytes(), file).names:
            people.setdefault(person, []).append(f"{folder.name}/{document}, {where}")


def find_private(
    texts: Iterable[tuple[str, str]], people: Mapping[str, Sequence[str]], project: Path
) -> list[Finding]:
    """Search texts.

    `texts` are pairs of place and text, `people` the names in documents' properties and comments with their
    places.
    """
    found: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    secrets, machine = list(_secrets()), _machine(project)
    # Of a short one, such as J4, only what the readers write of an author is certain: "Comment by J4".
    named = {
        name: _word(name if len(name) >= _SHORTEST_NAME else f"by {name}")
        for name in people
        if name.lower() not in SOFTWARE
    }
    for place, text in texts:
        for kind, shown in _in_text(text, secrets, machine):
            found[kind, shown][place] = None
        for name, pattern in named.items():
            if name in text and pattern.search(text):
                found["author", f"{name} ({people[name][0]})"][place] = None
    kinds = ("key", "machine", "mail address", "author")
    ordered = sorted(found, key=lambda one: (kinds.index(one[0]), one[1]))
    return [Finding(kind, shown, tuple(found[kind, shown])) for kind, shown in ordered]


def _in_text(
    text: str, secrets: Sequence[tuple[str, str]], machine: Mapping[str, re.Pattern[str]]
) -> Iterator[tuple[str, str]]:
    for name, value in secrets:
        if value in text:
            yield "key", f"the value of {name}"
    # A plain search first: the expressions take a hundred times as long.
    for match in _KEY.finditer(text) if any(mark in text for mark in _KEY_MARKS) else ():
        yield "key", f"{match[0][:4]}... ({len(match[0])} characters)"
    for shown, pattern in machine.items():
        if shown.rpartition(" name ")[2] in text and pattern.search(text):
            yield "machine", shown
    for match in _HOME.finditer(text) if "/" in text or "\\" in text else ():
        yield "machine", match[0]
    for match in _MAIL.finditer(text) if "@" in text else ():
        if not _RESERVED.search(match[0]):
            yield "mail address", match[0]


def _secrets() -> Iterator[tuple[str, str]]:
    for name, value in os.environ.items():
        is_long = len(value.strip()) >= _SHORTEST_SECRET
        if is_long and _SECRET_VARIABLE.search(name) and re.search("[A-Za-z]", value):
            yield name, value.strip()


def _machine(project: Path) -> dict[str, re.Pattern[str]]:
    """Return folders and names of this machine, with a pattern for each."""
    folders = {str(project.resolve()), str(Path.home()), tempfile.gettempdir(), str(Path.cwd())}
    patterns = {
        folder: re.compile(rf"(?<![\w/]){re.escape(folder)}(?=[/\\\s\"':;,.)]|$)")
        for folder in sorted(folders)
        if len(folder) >= _SHORTEST_FOLDER
    }
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name
        user = ""
    for what, name in (("user name", user), ("host name", socket.gethostname())):
        if len(name) >= _SHORTEST_NAME and name.lower() not in _ANYONES:
            patterns[f"{what} {name}"] = _word(name)
    return patterns


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
