"""Console sessions of a Markdown page: read, run in a copy of the project, compared with what the page shows.

    python -m tests.docs.sessions docs/tutorial.md    # what the commands of a page print today

A fenced `console` block is a session. A line that begins with `$ ` is a command, one that begins with `> `
continues it, and the others are its output, standard error included. In them `...` stands for any text, and a
line of `...` alone for any lines; white space counts as one space. Comments before a block say more:

    <!-- not run: REASON -->     the block is shown only
    <!-- exits 2 -->             its last command ends with this code; without it every command ends with 0
    <!-- fresh copy -->          it and the blocks below run in another copy of the project
    <!-- file: PATH -->          the block, of any language, is written to PATH in the copy
"""

import contextlib
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
ENDPOINT = "8399"
"""The demo endpoint's port, as pages name it. The tests give it another one, and a quicker answer."""

_FENCE = re.compile(r"^( *)```(\w+)?.*$")
_COMMENT = re.compile(r"^ *<!-- (not run|exits|fresh copy|file)(?:: | )?(.*?) ?-->$")
_END = "\x1e"
_LIMIT_S = 900


@dataclass(frozen=True)
class Command:
    """What is typed, and what the page shows below it."""

    line: int
    text: str
    shown: tuple[str, ...]
    code: int = 0


@dataclass(frozen=True)
class Session:
    """A block that is run, or written to a file.

    Attributes:
        line: of the block in its page.
        commands: of a session; empty for a file.
        not_run: why it is shown only; empty where it runs.
        is_fresh: it starts in a copy of its own.
        file: path and content; None for a session.
    """

    line: int
    commands: tuple[Command, ...] = ()
    not_run: str = ""
    is_fresh: bool = False
    file: tuple[str, str] | None = None


def read_sessions(page: Path) -> list[Session]:
    """Every session and file of a page, in order."""
    found: list[Session] = []
    notes: dict[str, str] = {}
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), start=1))
    for number, line in lines:
        if comment := _COMMENT.match(line):
            notes[comment[1]] = comment[2]
        elif fence := _FENCE.match(line):
            body = _body(lines, indent=len(fence[1]))
            if "file" in notes:
                content = "\n".join(text for _, text in body) + "\n"
                found.append(Session(number, file=(notes["file"], content), is_fresh="fresh copy" in notes))
            elif fence[2] == "console":
                commands = _commands(body)
                if "exits" in notes:
                    commands[-1] = replace(commands[-1], code=int(notes["exits"]))
                not_run, is_fresh = notes.get("not run", ""), "fresh copy" in notes
                found.append(Session(number, tuple(commands), not_run, is_fresh))
            notes = {}
        elif line.strip():
            notes = {}
    return found


def _body(lines: Iterator[tuple[int, str]], indent: int) -> list[tuple[int, str]]:
    body: list[tuple[int, str]] = []
    for number, line in lines:
        if line.strip() == "```":
            return body
        body.append((number, line[indent:]))
    raise ValueError("a block without an end")


def _commands(body: list[tuple[int, str]]) -> list[Command]:
    found: list[Command] = []
    for number, line in body:
        if line.startswith("$ "):
            found.append(Command(number, line[2:], ()))
        elif line.startswith("> ") and found and not found[-1].shown:
            found[-1] = replace(found[-1], text=f"{found[-1].text}\n{line[2:]}")
        elif found:
            found[-1] = replace(found[-1], shown=(*found[-1].shown, line))
        else:
            raise ValueError(f"line {number}: output before a command")
    return found


def matches(shown: tuple[str, ...], printed: str) -> bool:
    """Whether a page's output fits what a command printed."""
    wanted = [" ".join(line.split()) for line in shown if line.strip()]
    lines = [" ".join(line.split()) for line in printed.splitlines() if line.strip()]
    rules = [
        r"(?:.*\n)*?" if line == "..." else ".*?".join(re.escape(part) for part in line.split("...")) + r"\n"
        for line in wanted
    ]
    return re.fullmatch("".join(rules), "".join(f"{line}\n" for line in lines)) is not None


def run_page(page: Path, folder: Path) -> list[tuple[Command, str, int]]:
    """Run a page's sessions in copies of the project below `folder`.

    Returns:
        Each command with what it printed and its exit code.
    """
    groups: list[list[Session]] = []
    for session in read_sessions(page):
        if session.not_run:
            continue
        if not groups or session.is_fresh:
            groups.append([])
        groups[-1].append(session)
    done: list[tuple[Command, str, int]] = []
    for number, group in enumerate(groups):
        copy = make_copy(folder / f"copy{number}")
        done += _run(group, copy, folder / f"home{number}")
    return done


def make_copy(folder: Path) -> Path:
    """A clone of the project with what is changed and not yet committed, and this environment as `.venv`."""
    _git(PROJECT, "clone", "--quiet", str(PROJECT), str(folder))
    for listed in _git(PROJECT, "ls-files", "-z", "--modified", "--others", "--exclude-standard").split("\0"):
        source = PROJECT / listed
        if listed and source.is_file():
            (folder / listed).parent.mkdir(parents=True, exist_ok=True)
            (folder / listed).write_bytes(source.read_bytes())
        elif listed:
            (folder / listed).unlink(missing_ok=True)
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / ".git/info/exclude").write_text("/.venv\n", encoding="utf-8")
    return folder


def _git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def _run(group: list[Session], copy: Path, home: Path) -> list[tuple[Command, str, int]]:
    home.mkdir()
    # The environment is set up already: make is kept from doing it again.
    script = ['make() { command make -o .venv/.installed "$@"; }']
    for session in group:
        if session.file:
            path, content = session.file
            script += [f"mkdir -p $(dirname {shlex.quote(path)})"]
            script += [f"printf %s {shlex.quote(content)} > {shlex.quote(path)}"]
        for command in session.commands:
            script += [f"{{ {command.text}\n}} 2>&1", f"printf '{_END}%s{_END}\\n' $?"]
    text = "\n".join(script)
    with _endpoint(ENDPOINT in text) as port:
        printed = _shell(text.replace(ENDPOINT, port), copy, home).replace(port, ENDPOINT)
    parts = printed.split(_END)
    commands = [command for session in group for command in session.commands]
    if len(parts) != 2 * len(commands) + 1:
        raise AssertionError(
            f"the shell ended early, in {commands[len(parts) // 2].text}:\n{printed[-2000:]}"
        )
    return list(zip(commands, parts[::2], map(int, parts[1::2]), strict=False))


def _shell(script: str, copy: Path, home: Path) -> str:
    kept = {
        key: value
        for key, value in os.environ.items()
        # MAKE...: under `make test` another make would print the folders that it enters.
        if not key.startswith(("PREFECT_", "MLFLOW_", "DVC_", "GIT_", "PYTEST_", "COLUMNS", "MAKE", "MFLAGS"))
    }
    environment = kept | {
        "HOME": str(home),
        "PATH": f"{Path(sys.prefix) / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
        "DO_NOT_TRACK": "1",
        "DVC_NO_ANALYTICS": "1",
        "GIT_AUTHOR_NAME": "Reader",
        "GIT_AUTHOR_EMAIL": "reader@example.org",
        "GIT_COMMITTER_NAME": "Reader",
        "GIT_COMMITTER_EMAIL": "reader@example.org",
    }
    log = home / "printed"
    with log.open("wb") as out:
        process = subprocess.Popen(
            ["bash", "-c", script],
            cwd=copy,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(_LIMIT_S)
        finally:
            with contextlib.suppress(ProcessLookupError):  # what a session left running
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return log.read_text(encoding="utf-8", errors="replace")


@contextlib.contextmanager
def _endpoint(is_needed: bool) -> Iterator[str]:
    """The demo endpoint on a free port, where a page needs it."""
    if not is_needed:
        yield ENDPOINT
        return
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    code = f"from tests.support import demo_endpoint as d; d.PORT = {port}; d.DELAY_S = 0.3; d.main()"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("endpoint on")
        yield port
    finally:
        process.kill()
        process.communicate()


def _main() -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for command, printed, code in run_page(PROJECT / sys.argv[1], Path(folder)):
            verdict = "" if code == command.code and matches(command.shown, printed) else "DIFFERS: "
            print(f"{verdict}line {command.line}\n$ {command.text}\n{printed.rstrip()}\n[exit {code}]\n")  # noqa: T201


if __name__ == "__main__":
    _main()
