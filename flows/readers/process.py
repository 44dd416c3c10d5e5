"""The child process that reads documents for `guarded`, and the protocol between the two."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import queue
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import IO, Any

from flows.common.errors import ReadError
from flows.readers.limits import MAX_TEXT, PROGRESS

_LENGTH = struct.Struct(">Q")
_MAX_MESSAGE = 16 * MAX_TEXT  # bytes: a character is at most twelve in JSON


def send(pipe: IO[bytes], data: bytes) -> None:
    """Write a message, preceded by its length."""
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def frame(pipe: IO[bytes]) -> bytes | None:
    """Return the next message; None if the pipe ends first or the message is too long."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = pipe.read(length) if length <= _MAX_MESSAGE else b""
    return data if len(data) == length else None


def pages(pid: int | str, column: int) -> int:
    """Return a process's address space (column 0) or resident memory (1) in bytes; 0 if unknown."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[column]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def serve() -> None:
    """Main function of the child: answer calls until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the parent, which kills this process
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of a library must not mix with the replies
    calls: queue.SimpleQueue[tuple[dict[str, Any], bytes]] = queue.SimpleQueue()

    def take() -> None:
        while (head := frame(sys.stdin.buffer)) is not None and (data := frame(sys.stdin.buffer)) is not None:
            calls.put((json.loads(head), data))
        os._exit(0)  # the parent is gone, also in the middle of a document

    threading.Thread(target=take, daemon=True).start()
    size = pages("self", 0)
    send(replies, b"ready")
    while True:
        head, data = calls.get()
        bound = partial(_bound, size, head["seconds"], head["memory"])
        bound()
        PROGRESS.set(_reporter(replies, head["patience"], bound))
        module, name, path, *rest = head["call"]
        try:
            value = getattr(importlib.import_module(module), name)(data, Path(path), *rest)
            reply: dict[str, Any] = {"value": asdict(value)}
        except ReadError as error:
            reply = {"error": [error.where, error.found, error.expected, error.remedy]}
        except BaseException:  # noqa: BLE001 -- the parent reports it; no thread may delay the exit
            os._exit(1)
        send(replies, json.dumps(reply).encode())


def _reporter(replies: IO[bytes], patience: float, bound: Callable[[], None]) -> Callable[[int, int], None]:
    """Return a function that sends progress at most every `patience` seconds and renews the limits."""
    said = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal said
        if time.monotonic() >= said + patience:
            said = time.monotonic()
            bound()
            send(replies, json.dumps({"done": done, "total": total}).encode())

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
