"""A store of paid replies that several machines share: one blob a reply, in the format of a segment's lines.

    completions/<2 digits>/<key>            a record; the first answer is final
    completions/<2 digits>/<key>.claim      who is paying for it; see `claims`
    texts/<2 digits>/<sha256>               a text of requests

A folder of this machine has copies in `cache/`, which may be deleted. What was paid for and could not be
stored is in its `unsent/`, and is stored when the store is opened again.
"""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from flows.adapters.completions.stores.claims import LEASE_S, Claim, Claims
from flows.adapters.completions.stores.folder import CompletionStore
from flows.adapters.completions.stores.index import is_answer, supersedes
from flows.adapters.completions.stores.records import (
    Head,
    decode_completion,
    decode_request,
    decode_text,
    encode_request,
    encode_text,
    verify,
)
from flows.common.blobs import Blobs, Mirror
from flows.common.errors import StoreError
from flows.common.files import write_whole
from flows.schema.completion import Completion, Request

_Result = TypeVar("_Result")

_AT_ONCE = 64  # requests to the store
_FIRST_POLL_S = 0.05
_LAST_POLL_S = 2.0
_REPLACED_BY_OTHERS = 5

_log = logging.getLogger(__name__)


class SharedCompletionStore:
    """Paid replies in `blobs`; the same interface as `CompletionStore`. `folder` is on this machine.

    Raises:
        StoreError: from every method, the store can't be used.
    """

    is_remote = True

    def __init__(self, blobs: Blobs, folder: Path, *, lease_s: float = LEASE_S) -> None:
        """Open the store, and store what an earlier run of this machine could not.

        `folder` is of this machine, for this store only. A worker is dead after `lease_s` without a sign of
        life.
        """
        self.folder = folder
        self._blobs = blobs
        self.ledger: Mirror | None = Mirror(folder / "batches", blobs, "files/completions/batches/")
        self._unsent = folder / "unsent"
        self._claims = Claims(blobs, lease_s)
        self._guard = threading.Lock()
        self._texts: dict[str, Future[None]] = {}
        self._damaged: dict[str, StoreError] = {}
        self._pool = ThreadPoolExecutor(_AT_ONCE, "shared-store")
        for path in sorted(self._unsent.glob("*/*/[!.]*"), reverse=True):  # texts first
            with suppress(FileNotFoundError):  # another process of this machine does the same
                self._send(path.relative_to(self._unsent).as_posix(), path.read_bytes())
                path.unlink()

    @property
    def problems(self) -> tuple[StoreError, ...]:
        """Damage found so far."""
        return tuple(self._damaged.values())

    def keys(self) -> Iterator[str]:
        """Iterate over the keys of all completions, including refusals and errors."""
        names = (name.rpartition("/")[2] for name in self._blobs.names("completions/"))
        return (name for name in names if "." not in name)

    def __len__(self) -> int:
        return sum(1 for _ in self.keys())

    def get(self, key: str) -> Completion | None:
        """Return the verified completion of `key`; None if missing or damaged. It may wait for the store."""
        line = self._line(key)
        return None if line is None else decode_completion(line)[0]

    async def fetch(self, key: str, *, again: bool = False) -> Completion | None:  # noqa: ARG002 -- interface
        """Return the completion of `key` without blocking the event loop; see `get`."""
        if (answer := self._answer(key)) is not None:
            return decode_completion(answer)[0]
        return await self._aside(self.get, key)

    def request(self, key: str) -> Request | None:
        """Return the complete request of `key`; None if it is missing or damaged."""
        line = self._line(key)
        if line is None:
            return None
        body = decode_completion(line)[1]
        return decode_request(key, body, lambda name: decode_text(self._blobs.get(_text(name)) or b""))

    async def put(self, request: Request, completion: Completion) -> None:
        """Store a completion durably, as `CompletionStore.put`.

        Raises:
            StoreError: it could not be stored. It is kept on this machine, and stored by its next run.
        """
        try:
            await self.copy(request, completion)
        except StoreError as error:
            for name, data in _records(request, completion).items():
                write_whole(self._unsent / name, data, durable=True)
            raise StoreError(
                error.where,
                error.found,
                error.expected,
                f"the paid reply is kept in {self._unsent} and is stored by the next run: "
                "fix the store, then run the same command again",
            ) from error

    async def copy(self, request: Request, completion: Completion) -> None:
        """As `put`, for a completion that is stored elsewhere: it is not kept on this machine.

        Raises:
            StoreError: it could not be stored.
        """
        await self._aside(self._send_all, _records(request, completion))

    @asynccontextmanager
    async def lock(self, key: str, waiting: Callable[[], None] | None = None) -> AsyncGenerator[None]:
        """Hold the claim to pay for a key, or of another name; it ends with this process.

        `waiting` is called before each try, and may raise to give up.
        """
        pause, claim = _FIRST_POLL_S, None
        while True:
            if waiting is not None:
                waiting()
            trying = self._pool.submit(self._claims.acquire, f"{_completion(key)}.claim")
            try:
                claim = await asyncio.wrap_future(trying)
            except asyncio.CancelledError:
                trying.add_done_callback(self._release_lost)
                raise
            if claim is not None:
                break
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LAST_POLL_S)
        try:
            yield
        finally:
            # Finished also if the caller is cancelled.
            await asyncio.shield(self._aside(self._claims.release, claim))

    def probe(self) -> None:
        """Check that a reply can be stored before paying for it.

        Raises:
            StoreError: the store, or the folder on this machine, can't be written.
        """
        write_whole(self.folder / "probe", b"")
        self._claims.begin()

    def close(self) -> None:
        """Release claims. Reading still works afterwards."""
        self._claims.close()
        self._pool.shutdown()

    def _release_lost(self, trying: Future[Claim | None]) -> None:
        if not trying.cancelled() and trying.exception() is None and (claim := trying.result()) is not None:
            self._claims.release(claim)

    def _aside(self, work: Callable[..., _Result], *arguments: Any) -> asyncio.Future[_Result]:
        try:
            return asyncio.wrap_future(self._pool.submit(work, *arguments))
        except RuntimeError:  # the pool is closed: replays still work
            return asyncio.ensure_future(asyncio.to_thread(work, *arguments))

    def _line(self, key: str) -> bytes | None:
        """Return the record of a completion: an answer of this machine, else what the store has now."""
        if (answer := self._answer(key)) is not None:
            return answer
        line = self._blobs.get(_completion(key))
        found = _checked(key, line)
        if line is not None and found is None and key not in self._damaged:
            problem = self._damaged[key] = StoreError(
                f"{self._blobs.address}/{_completion(key)}",
                "a damaged record",
                remedy="its content counts as missing and is requested again",
            )
            _log.warning("%s", problem)
        if found is not None:
            self._cache(key, found[0])
        return None if found is None else found[0]

    def _answer(self, key: str) -> bytes | None:
        """Return this machine's copy of an answer, which is final; None without one."""
        with suppress(OSError):
            found = _checked(key, (self.folder / "cache" / key[:2] / key).read_bytes())
            if found is not None and is_answer(found[1].status):
                return found[0]
        return None

    def _cache(self, key: str, line: bytes) -> None:
        write_whole(self.folder / "cache" / key[:2] / key, line)

    def _send_all(self, blobs: Mapping[str, bytes]) -> None:
        for name, data in blobs.items():
            self._send(name, data)

    def _send(self, name: str, data: bytes) -> None:
        """Store one record: a text once, a completion unless there is a better one."""
        key = name.rpartition("/")[2]
        if name.startswith("completions/"):
            self._cache(key, self._settled(key, name, data))
            return
        with self._guard:
            mine = key not in self._texts
            done = self._texts.setdefault(key, Future())
        if not mine:  # the packets of a hundred requests are one text
            done.result()
            return
        try:
            self._blobs.put(name, data)
        except StoreError as error:
            done.set_exception(error)
            raise
        done.set_result(None)

    def _settled(self, key: str, name: str, data: bytes) -> bytes:
        """Store a completion, and return the record that is kept."""
        head = verify(data)
        assert head is not None
        for _ in range(_REPLACED_BY_OTHERS):
            if self._blobs.create(name, data):
                return data
            there = self._blobs.get(name)
            found = _checked(key, there)
            if found is not None and not supersedes(head.status, found[1].status):
                return found[0]
            if there is not None and self._blobs.replace(name, data, there):
                return data
            time.sleep(_FIRST_POLL_S)
        raise StoreError(f"{self._blobs.address}/{name}", "can't be stored: others replace it all the time")


Store = CompletionStore | SharedCompletionStore


def _records(request: Request, completion: Completion) -> dict[str, bytes]:
    """Return the blobs of a completion by name, texts first."""
    line, texts = encode_request(request, completion)
    blobs = {_text(name): encode_text(name, text) for name, text in texts.items()}
    return blobs | {_completion(completion.key): line}


def _completion(key: str) -> str:
    return f"completions/{key[:2]}/{key}"


def _text(name: str) -> str:
    return f"texts/{name[:2]}/{name}"


def _checked(key: str, line: bytes | None) -> tuple[bytes, Head] | None:
    """Return an undamaged record of `key` and its head; None for anything else."""
    head = None if line is None else verify(line)
    if line is None or head is None or head.id != key or head.status is None:
        return None
    try:
        decode_completion(line)
    except (KeyError, TypeError, ValueError):
        return None
    return line, head
