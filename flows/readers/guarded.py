"""Read documents in a child process with limits: no document can block others or exhaust the machine.

The parent sends a file's bytes through a pipe and gets JSON back, so the parent runs nothing that a document
controls. One process reads many documents in turn. It is killed and replaced when it exceeds a limit, and it
exits when its pipe breaks, so none is left however the parent ends.
"""

import atexit
import contextlib
import json
import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from flows.common.errors import ReadError, StaffbenchError, Stopped
from flows.readers.limits import Limits
from flows.readers.process import Pipe, pages, received, send
from flows.readers.read import read_bytes, source
from flows.schema.document import Block, BlockKind, Document, Notice

_POLL = 0.05  # seconds between checks of a process
_START = 120.0  # seconds for a process to start
_PATIENCE = 2.0  # seconds between progress reports
_NO_LIMIT = 2**63 - 1
_REMEDY = "split it, or save it again in a simpler form; if it looks ordinary, report it"
_CHILD = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);from flows.readers.process import serve; serve()"
)

OnProgress = Callable[[str], None]


def read_guarded(path: Path, limits: Limits = Limits(), on_progress: OnProgress | None = None) -> Document:  # noqa: B008 -- frozen
    """`read_document` in a child process that is killed over its limits.

    `on_progress` is called with a line of progress now and then, for a long document.

    Raises:
        ReadError: see `read_document`; or a limit was exceeded, or the process ended. Nothing of it is used.
        StaffbenchError: no process can be started.
    """
    data, media = source(path)
    return read_guarded_bytes(data, path, media, limits, on_progress)


def read_guarded_bytes(
    data: bytes,
    path: Path,
    media: str,
    limits: Limits = Limits(),  # noqa: B008 -- frozen
    on_progress: OnProgress | None = None,
) -> Document:
    """`read_bytes` in the child process; see `read_guarded`."""
    return document_of(guarded(read_bytes, data, path, media, limits=limits, on_progress=on_progress))


def guarded(
    function: Callable[..., Any],
    data: bytes,
    path: Path,
    *rest: str,
    limits: Limits = Limits(),  # noqa: B008 -- frozen
    on_progress: OnProgress | None = None,
) -> dict[str, Any]:
    """Call `function(data, path, *rest)` in the reading process, within limits of time and memory.

    It is a module's function that returns a dataclass of JSON values, or raises a ReadError.

    Returns:
        The fields of what it returned.

    Raises:
        ReadError: as raised by it; or a limit was exceeded, or the process ended.
        StaffbenchError: no process can be started.
        Stopped: after `stop_reading`.
    """
    call = [function.__module__, function.__name__, str(path), *rest]
    return _reader.call(call, data, path, limits, on_progress)


def document_of(fields: dict[str, Any]) -> Document:
    """Build a document from its fields as JSON values."""
    own: dict[str, Any] = {
        "blocks": tuple(
            Block(BlockKind(block["kind"]), block["text"], block["place"], block["level"])
            for block in fields["blocks"]
        ),
        "notices": tuple(Notice(**notice) for notice in fields["notices"]),
    }
    return Document(**(fields | own))


class _Reader:
    """The reading process: started on first use, replaced after it was killed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Pipe | None = None
        self._base = 0
        self._stopped = False
        self._killed: subprocess.Popen[bytes] | None = None  # by `stop`; it may take a moment to end
        atexit.register(self.close)

    def stop(self, *, stopped: bool) -> None:
        self._stopped = stopped
        process = self._process
        if stopped and process is not None:
            self._killed = process
            process.kill()  # whoever waits for it finds it ended

    def _refuse_if_stopped(self, process: subprocess.Popen[bytes] | None = None) -> None:
        if self._stopped or (process is not None and process is self._killed):
            found = "stopped before every document was read"
            raise Stopped("reading", found, remedy="the same command resumes")

    def call(
        self, call: list[str], data: bytes, path: Path, limits: Limits, on_progress: OnProgress | None
    ) -> dict[str, Any]:
        with self._lock:
            self._refuse_if_stopped()
            process, pipe = self._started()
            try:
                with _watched(process, limits, self._base) as watch:
                    with contextlib.suppress(OSError):  # it has ended
                        send(pipe, {"call": call, **asdict(limits), "patience": _PATIENCE})
                        pipe.send_bytes(data)
                    while (reply := received(pipe)) is not None and "done" in reply:
                        watch.pages = reply["done"]
                        if on_progress is not None:
                            on_progress(f"{path.name}: {reply['done']} of {reply['total']} pages read")
            except BaseException:  # Ctrl-C: a partial reply must not be taken for the next one
                self.close()
                raise
            if reply is None or watch.over:
                self.close()
                self._refuse_if_stopped(process)
                found = watch.over or f"the process that reads it ended ({_ending(process)})"
                raise ReadError(path, found, "a document within the limits of its reader", _REMEDY)
            if _resident(process) > self._base + limits.memory // 4:
                self.close()  # memory that this document left must not count against the next
        if "error" in reply:
            raise ReadError(*reply["error"])
        return reply["value"]

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        pipe, self._pipe = self._pipe, None
        if process is not None:
            process.kill()
            process.wait()
        if pipe is not None:
            pipe.close()

    def _started(self) -> tuple[subprocess.Popen[bytes], Pipe]:
        if self._process is not None and (self._process is self._killed or self._process.poll() is not None):
            self.close()
        process, pipe = self._process, self._pipe
        if process is None or pipe is None:
            try:
                pipe, far = multiprocessing.Pipe()
                self._pipe = pipe
                with far:
                    self._process = process = subprocess.Popen(  # noqa: S603 -- this interpreter, our code
                        [sys.executable, "-P", "-c", _CHILD, json.dumps(sys.path), str(far.fileno())],
                        pass_fds=[far.fileno()],
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                    )
                with _watched(process, Limits(_START, _NO_LIMIT), 0) as watch:
                    ready = received(pipe)
            except OSError as error:
                self.close()
                raise StaffbenchError("reading", f"no process can be started ({error.strerror})") from error
            except BaseException:
                self.close()
                raise
            if ready is None or watch.over:
                self.close()
                found = f"the process that reads documents did not start ({_ending(process)})"
                raise StaffbenchError("reading", found)
            self._base = _resident(process)
        return process, pipe


_reader = _Reader()


def stop_reading(*, stopped: bool = True) -> None:
    """End the reading of documents at once, also in other threads; False allows it again.

    Whoever reads, or begins to, gets `Stopped`.
    """
    _reader.stop(stopped=stopped)


@dataclass(slots=True)
class _Watch:
    """Pages read, and the limit that was exceeded."""

    pages: int = 0
    over: str = ""


@contextlib.contextmanager
def _watched(process: subprocess.Popen[bytes], limits: Limits, base: int) -> Generator[_Watch]:
    """Kill `process` when it exceeds `limits`; the caller updates `pages`."""
    watch = _Watch()
    finished = threading.Event()
    start = time.monotonic()

    def look() -> None:
        while not watch.over and not finished.wait(_POLL):
            seconds = limits.seconds + limits.page_seconds * watch.pages
            if time.monotonic() > start + seconds:
                after = f" at page {watch.pages}" if watch.pages else ""
                watch.over = f"reading it takes over {seconds:g} seconds{after}"
            elif _resident(process) > base + limits.memory:
                watch.over = f"reading it takes over {limits.memory // 2**20:,} MB of memory"
        if watch.over:
            process.kill()

    watcher = threading.Thread(target=look, name="reading-limits", daemon=True)
    watcher.start()
    try:
        yield watch
    finally:
        finished.set()
        watcher.join()


def _resident(process: subprocess.Popen[bytes]) -> int:
    """Return a process's resident memory in bytes; 0 if the system does not say."""
    return pages(process.pid, 1)


def _ending(process: subprocess.Popen[bytes]) -> str:
    code = process.wait()
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"signal {signal.Signals(-code).name}"
    return f"signal {-code}"
