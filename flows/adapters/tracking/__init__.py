"""Log runs to MLflow for comparison; it is not a source of truth. The only package that imports mlflow.

MLflow takes seconds to import and to create its database, so a child process does that during the run and
logs each condition as it ends. `MLFLOW_TRACKING_URI` names another store, such as a server; without it the
store is `results/mlflow.db`. Only `python -m flows.adapters.tracking` imports mlflow.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flows.common.errors import StaffbenchError, StoreError

STORE = "mlflow.db"
URI = "MLFLOW_TRACKING_URI"
_LONGEST = 300  # characters of a message of MLflow


@dataclass(frozen=True)
class BriefTrace:
    """One brief with its verdicts, for MLflow's pages of traces and evaluations."""

    scenario_id: str
    seed: int
    request: str  # what was asked, in short
    text: str | None  # the graded text; None if there is none
    problem: str  # why there is no text; may be empty
    score: float | None
    # item_id, class (the name of the assessment), passed, rationale, and status of each
    verdicts: Sequence[tuple[str, str, bool | None, str, str]]


@dataclass(frozen=True)
class RunRecord:
    """The log entry of one condition under one judge."""

    name: str  # of the MLflow run
    key: str  # digest of condition, judge, scoring and parameters: a run with it is updated
    identity: str  # digest of the key and the scores: a run with it is left as it is
    params: Mapping[str, str]  # the varied settings
    metrics: Mapping[str, float]  # the results; unknown ones are left out
    tags: Mapping[str, str]
    texts: Mapping[str, str] = field(default_factory=dict[str, str])  # small artifacts, path to content
    # Vega-Lite specifications by the path of the SVG that is drawn of each.
    charts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    files: Mapping[str, str] = field(default_factory=dict[str, str])  # folder among the artifacts, and path
    tables: Sequence[str] = ()  # paths in `texts` that MLflow's page shows as tables
    dataset: Mapping[str, str] = field(default_factory=dict[str, str])  # of the scenarios; empty for none
    model: str = ""  # name of the logged model, which stands for the condition; empty for none
    judge: tuple[str, bool] = ("", False)  # label, and whether a model grades
    traces: Sequence[BriefTrace] = ()  # as many as are to be logged
    traces_s: float = 30.0  # seconds after which the rest of them are left out
    n_briefs: int = 0  # all of them


@dataclass(frozen=True)
class HumanLabel:
    """What a person said of one item of one brief on MLflow's pages."""

    rater: str  # as MLflow names the person
    condition: str
    scenario_id: str
    seed: int
    item_id: str
    passed: bool  # as in a verdict


def store_uri(results: Path) -> str:
    """Return the URI of the store: what `MLFLOW_TRACKING_URI` names, or the project's own."""
    return os.environ.get(URI) or f"sqlite:///{results.resolve() / STORE}"


def is_foreign() -> bool:
    """True if `MLFLOW_TRACKING_URI` names a store that is not the project's own."""
    return bool(os.environ.get(URI))


def shown_uri(uri: str) -> str:
    """Return an address without the user and password that it may hold."""
    parts = urlsplit(uri)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl() if parts.netloc else uri


class Tracker:
    """The parent's side of the logging process."""

    def __init__(self, results: Path, experiment: str, wait_s: float | None = None) -> None:
        """Take `wait_s`: seconds that `finish` waits for a store that is not the project's own."""
        self._results = results
        self._experiment = experiment
        self._wait_s = wait_s if is_foreign() else None
        self._log = results / ".cache" / "mlflow.log"
        self._child: subprocess.Popen[str] | None = None
        self._said = b""  # the first line of the child, as far as it has come
        self._known: frozenset[str] | None = None  # identities; None until the child has named them

    def start(self, title: str, params: Mapping[str, str]) -> None:
        """Start the child, which prepares the store.

        Title and parameters (the command, the swept values) are of the parent run of several conditions.

        Raises:
            StoreError: its folder can't be written.
        """
        command = [*_child("--log", self._results, self._experiment), json.dumps([title, dict(params)])]
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            log = self._log.open("wb")
        except OSError as error:
            raise StoreError(
                self._log,
                f"can't be written ({error.strerror})",
                remedy="free disk space or fix the permissions, or name another folder with results=",
            ) from error
        with log:
            self._child = subprocess.Popen(  # noqa: S603 -- this package
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
                start_new_session=True,
            )

    def has(self, identity: str) -> bool:
        """Whether the store has that record, as far as the child has named them: such a record may be spared.

        The child looks each record up by itself, too.
        """
        if self._known is None and sys.platform != "win32":  # there a pipe can't be read without waiting
            assert self._child is not None
            assert self._child.stdout is not None
            place = self._child.stdout.fileno()
            os.set_blocking(place, False)
            with suppress(BlockingIOError):
                while not self._said.endswith(b"\n") and (part := os.read(place, 65536)):
                    self._said += part
            if self._said.endswith(b"\n"):
                with suppress(ValueError):  # a line of something else
                    self._known = frozenset(json.loads(self._said)["known"])
        return identity in (self._known or ())

    def log(self, record: RunRecord) -> None:
        """Send `record` to the child, which logs it during the run. `finish` reports errors."""
        assert self._child is not None
        assert self._child.stdin is not None
        with suppress(BrokenPipeError):  # the child has failed
            self._child.stdin.write(json.dumps(record, default=vars) + "\n")  # asdict copies each verdict
            self._child.stdin.flush()

    def finish(self) -> tuple[int, list[str]]:
        """Wait until everything is logged.

        Returns:
            The number of new or updated runs, and notes: what was sampled, and what a foreign store did not
            take. Results are complete without it.

        Raises:
            StoreError: the project's own store could not log them; the results are complete.
        """
        ended = self._ended()
        if ended is None:
            return 0, [_not_logged(f"no end of it after {self._wait_s:g} s")]
        code, answer = ended
        if code == 0 and answer:
            found = json.loads(answer.splitlines()[-1])
            problems = [_not_logged(found["problem"])] if found["problem"] else []
            return found["logged"], [*problems, *found["notes"]]
        if is_foreign():
            return 0, [_not_logged(f"see {self._log}")]
        raise StoreError(
            self._results / STORE,
            f"MLflow could not log the runs ({self._reason()})",
            remedy=f"see {self._log}; results are complete without it; tracking=none disables it. "
            f"A damaged {STORE} may be deleted: the same command logs its runs again",
        )

    def _reason(self) -> str:
        """Return the last line of the child's log, which says what is wrong."""
        try:
            lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return redacted(lines[-1]) if lines else "its log is empty"

    def close(self) -> None:
        """Let the child end, if `finish` has not."""
        if self._child is not None:
            self._ended()

    def _ended(self) -> tuple[int, str] | None:
        """Wait for the child; return its exit code and output, None if it did not end in time."""
        assert self._child is not None
        child, self._child = self._child, None
        try:
            answer, _ = child.communicate(timeout=self._wait_s)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate()
            return None
        return child.returncode, answer


def _not_logged(problem: str) -> str:
    where = shown_uri(os.environ[URI])
    return (
        f"MLflow at {where} did not take all runs: {problem}. The results are complete without it; the same "
        "command logs what is missing"
    )


def read_human_labels(results: Path, experiment: str, benchmark: str) -> tuple[list[HumanLabel], list[str]]:
    """Read what people said of a benchmark's items on MLflow's pages; a rater's last word counts.

    Returns:
        The labels, and notes on what was left out.

    Raises:
        StaffbenchError: the store can't be read.
    """
    if not is_foreign() and not (results / STORE).is_file():
        raise StaffbenchError(results / STORE, "not there", remedy="staffbench run first")
    command = [*_child("--labels", results, experiment), benchmark]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)  # noqa: S603 -- this package
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        found = "does not answer" if "Max retries exceeded" in last else f"can't be read ({redacted(last)})"
        raise StaffbenchError(shown_uri(store_uri(results)), f"MLflow {found}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return [HumanLabel(**label) for label in answer["labels"]], answer["notes"]


def redacted(text: str) -> str:
    """Return a message in one line, without the password of the store's address or its token."""
    uri = os.environ.get(URI, "")
    text = text.replace(uri, shown_uri(uri)) if uri else text
    for name in ("MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_PASSWORD"):
        if secret := os.environ.get(name):
            text = text.replace(secret, "...")
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rsplit(' ', 1)[0]} ..."


def serve_command(results: Path, experiment: str, port: int, benchmark: str = "") -> list[str]:
    """Return the command that serves MLflow's page; it prints the page's address once it can.

    With a benchmark the page opens at the runs of that one.
    """
    return [*_child("--serve", results, experiment), str(port), benchmark]


def _child(what: str, results: Path, experiment: str) -> list[str]:
    # -P: a folder `flows` where the command is typed is not ours.
    return [sys.executable, "-P", "-m", "flows.adapters.tracking", what, str(results), experiment]
