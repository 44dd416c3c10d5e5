"""The process that reads documents for `guarded`: what runs in it, and how the two talk."""

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
    """Write a message."""
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def frame(pipe: IO[bytes]) -> bytes | None:
    """The next message; None where the pipe ends before it does, or it is longer than any may be."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = pipe.read(length) if length <= _MAX_MESSAGE else b""
    return data if len(data) == length else None


def pages(pid: int | str, column: int) -> int:
    """A column of a process's memory in bytes: 0 its address space, 1 what it holds; 0 where nothing says."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[column]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def serve() -> None:
    """Answer the calls that come in, until the pipe ends: the reading process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not stand among the replies
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
        except BaseException:  # noqa: BLE001 -- the parent says that it ended; no thread holds it up
            os._exit(1)
        send(replies, json.dumps(reply).encode())


def _reporter(replies: IO[bytes], patience: float, bound: Callable[[], None]) -> Callable[[int, int], None]:
    """Sends on how far a reader is, every `patience` seconds at most, and bounds it anew: it is not stuck."""
    said = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal said
        if time.monotonic() >= said + patience:
            said = time.monotonic()
            bound()
            send(replies, json.dumps({"done": done, "total": total}).encode())

    return report


def _bound(size: int, seconds: float, memory: int) -> None:
    """Bounds of the system behind those of the parent, which looks now and then and may itself be stopped."""
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
        with contextlib.suppress(OSError, ValueError):  # a system that has no such bound, or a lower one
            resource.setrlimit(kind, (bound, resource.getrlimit(kind)[1]))
