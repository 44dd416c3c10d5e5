"""The child process that reads documents for `guarded`, and the protocol between the two."""

import contextlib
import importlib
import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeAlias

from flows.common.errors import ReadError
from flows.readers.limits import MAX_TEXT, PROGRESS

Pipe: TypeAlias = "Connection[bytes, bytes]"
_MAX_MESSAGE = 16 * MAX_TEXT  # bytes: a character is at most twelve in JSON


def send(pipe: Pipe, message: dict[str, Any]) -> None:
    """Send a message as JSON; pickles would run what a document put into them."""
    pipe.send_bytes(json.dumps(message).encode())


def received(pipe: Pipe) -> dict[str, Any] | None:
    """Return the next message; None if the pipe ends first or the message is too long."""
    try:
        return json.loads(pipe.recv_bytes(_MAX_MESSAGE))
    except (EOFError, OSError, ValueError):
        return None


def pages(pid: int | str, column: int) -> int:
    """Return a process's address space (column 0) or resident memory (1) in bytes; 0 if unknown."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[column]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def serve() -> None:
    """Main function of the child: answer calls until the pipe ends, whose descriptor is its last argument."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent, which kills this process
    pipe: Pipe = Connection(int(sys.argv[-1]))
    calls: queue.SimpleQueue[tuple[dict[str, Any], bytes]] = queue.SimpleQueue()

    def take() -> None:
        with contextlib.suppress(EOFError, OSError):
            while (head := received(pipe)) is not None:
                calls.put((head, pipe.recv_bytes()))
        os._exit(0)  # the parent is gone, also in the middle of a document

    threading.Thread(target=take, daemon=True).start()
    size = pages("self", 0)
    send(pipe, {})
    while True:
        head, data = calls.get()
        bound = partial(_bound, size, head["seconds"], head["memory"])
        bound()
        PROGRESS.set(_reporter(pipe, head["patience"], bound))
        module, name, path, *rest = head["call"]
        try:
            value = getattr(importlib.import_module(module), name)(data, Path(path), *rest)
            reply: dict[str, Any] = {"value": asdict(value)}
        except ReadError as error:
            reply = {"error": [error.where, error.found, error.expected, error.remedy]}
        except BaseException:  # noqa: BLE001 -- the parent reports it; no thread may delay the exit
            os._exit(1)
        send(pipe, reply)


def _reporter(pipe: Pipe, patience: float, bound: Callable[[], None]) -> Callable[[int, int], None]:
    """Return a function that sends progress at most every `patience` seconds and renews the limits."""
    said = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal said
        if time.monotonic() >= said + patience:
            said = time.monotonic()
            bound()
            send(pipe, {"done": done, "total": total})

    return report


def _bound(size: int, seconds: float, memory: int) -> None:
    """Set the system's limits, in case the parent, which polls, is itself stopped."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    # Address space is more than memory: libraries are mapped whole.
    bounds = {
        resource.RLIMIT_CPU: int(used.ru_utime + used.ru_stime + seconds) + 2,
        resource.RLIMIT_AS: size + memory + memory // 2 + 2**28,
    }
    for kind, bound in bounds.items():
        with contextlib.suppress(OSError, ValueError):  # a system without such a limit, or with a lower one
            resource.setrlimit(kind, (bound, resource.getrlimit(kind)[1]))
