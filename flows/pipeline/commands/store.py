"""`staffbench store copy FROM TO`: copy paid replies, and files that were paid for, between stores."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from flows.adapters.completions.stores.index import supersedes
from flows.adapters.completions.stores.shared import Store
from flows.adapters.screen import Screen
from flows.adapters.shared_store import MARKER, FolderBlobs, open_blobs
from flows.common.blobs import Blobs
from flows.common.errors import ConfigError
from flows.common.gather import gather_then_raise
from flows.pipeline.work.stores import FILES, Stores
from flows.schema.store_address import StoreAddress

_Result = TypeVar("_Result")

_AT_ONCE = 32
_KEPT = re.compile(
    r"[^/]+/reports/files/[^/]+\.docx|[^/]+/renders/.+\.(json|png)|completions/batches/[^/]+\.json"
)
"""Files besides replies that a store keeps, below a folder of results and below `FILES` of a shared store."""


def copy(project: Path, source: str, target: str, screen: Screen) -> int:
    """Copy what `source` has and `target` lacks. It can be repeated, and goes on where it was interrupted.

    Raises:
        StaffbenchError: a store can't be used, or is not there.
    """
    given, wanted = _stores(project, source, may_create=False), _stores(project, target)
    if _place(given) == _place(wanted):
        raise ConfigError(f"store copy {source} {target}", "both are the same store")
    if given.blobs is None and not (given.results / "completions").is_dir():
        raise ConfigError(source, "no store there", "a folder of results, or the address of a shared store")
    if wanted.blobs is None and wanted.results.exists() and not wanted.results.is_dir():
        raise ConfigError(target, "is a file", "a folder, or a name that is free")
    here, there = given.completions(), wanted.completions()
    try:
        copied, before, lost = asyncio.run(_copy_replies(here, there))
        screen.note(f"Replies: {copied} copied, {before} there before.")
        if lost:
            screen.say(f"Replies not copied, as their request is missing or damaged: {lost}")
        for problem in here.problems:
            screen.say(str(problem))
    finally:
        here.close()
        there.close()
    copied, before = asyncio.run(_copy_files(_files(given), _files(wanted)))
    screen.note(f"Files: {copied} copied, {before} there before.")
    return 0


def _stores(project: Path, text: str, *, may_create: bool = True) -> Stores:
    """Open a store: a plain path is a folder of results, unless a shared store is there."""
    address = StoreAddress.of(text, project)
    folder = Path(address.bucket)
    if address.scheme == "file" and not text.startswith("file:") and not (folder / MARKER).is_file():
        return Stores(folder)
    return Stores(project / "results", open_blobs(address, may_create=may_create))


def _place(stores: Stores) -> str:
    return str(stores.results.resolve()) if stores.blobs is None else stores.blobs.address


async def _copy_replies(source: Store, target: Store) -> tuple[int, int, int]:
    """Return how many were copied, were there before, and can't be copied."""
    known = set(target.keys())

    async def one(key: str) -> int:
        reply = await source.fetch(key)
        there = await target.fetch(key) if key in known else None
        if there is not None and (
            reply is None or reply.status == there.status or not supersedes(reply.status, there.status)
        ):
            return 1
        request = await asyncio.to_thread(source.request, key)
        if reply is None or request is None:
            return 2
        await target.copy(request, reply)
        return 0

    ways = await _each(one, sorted(source.keys()))
    return ways.count(0), ways.count(1), ways.count(2)


def _files(stores: Stores) -> tuple[Blobs, str]:
    """Return what holds a store's files, and what their names begin with there."""
    if stores.blobs is not None:
        return stores.blobs, FILES
    return FolderBlobs(StoreAddress("file", str(stores.results))), ""


async def _copy_files(source: tuple[Blobs, str], target: tuple[Blobs, str]) -> tuple[int, int]:
    """Return how many were copied, and were there before."""
    (given, before), (wanted, after) = source, target

    def names(blobs: Blobs, prefix: str) -> set[str]:
        found = (name.removeprefix(prefix) for name in blobs.names(prefix))
        return {name for name in found if _KEPT.fullmatch(name)}

    have, known = names(given, before), names(wanted, after)

    def one(name: str) -> bool:
        data = given.get(before + name)
        return data is not None and wanted.create(after + name, data)

    done = await _each(lambda name: asyncio.to_thread(one, name), sorted(have - known))
    return sum(done), len(have & known)


async def _each(work: Callable[[str], Awaitable[_Result]], names: Sequence[str]) -> list[_Result]:
    slots = asyncio.Semaphore(_AT_ONCE)

    async def in_slot(name: str) -> _Result:
        async with slots:
            return await work(name)

    return await gather_then_raise([in_slot(name) for name in names])
