"""A durable record of which calls are in which batch, written before a batch is submitted.

One file per batch, `<fingerprint>-<random>.json`, replaced atomically. The fingerprint is the hash of the
batch's sorted request keys; the whole name is the batch's marker at the provider, by which it is found if its
id was lost.
"""

import secrets
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from flows.common.blobs import Mirror
from flows.common.digests import sha256_text
from flows.common.errors import StoreError
from flows.common.files import write_whole
from flows.schema.rows import as_row

FORMAT = 1
FOLDER = "batches"  # below the store's folder

_SUFFIX = ".json"
_PULL_S = 10.0  # less than a lease: a call of a dead worker's batch is found before it is sent again


@dataclass(slots=True, eq=False)
class Entry:
    """One batch."""

    marker: str  # its name, here and at the provider
    model: str  # the provider's name of the model
    api_base: str | None  # address of the endpoint; None for the provider's default
    api_key_env: str | None  # environment variable of the key that was used; None for none
    created_at: str  # UTC, ISO 8601
    keys: frozenset[str]  # keys of its requests
    batch_id: str | None = None  # the provider's id; None until known
    # Finished keys: answered and stored, or known to be unanswered.
    settled: set[str] = field(default_factory=set[str])
    void: bool = False  # True if the provider has no such batch: nothing was submitted

    def holds(self, key: str) -> bool:
        """Whether the call of `key` is pending in this batch."""
        return not self.void and key in self.keys and key not in self.settled


class Ledger:
    """The batches of a store.

    Several processes may use one folder; an entry belongs to the holder of the store's lock on its marker.
    Use it from one event loop only.
    """

    def __init__(self, store: Path, mirror: Mirror | None = None) -> None:
        """Describe the ledger in a completion store's folder, without reading it.

        Its own folder is created with the first batch. `mirror` is where other machines have its files.
        """
        self._folder = store / FOLDER
        self._mirror = mirror
        self._pulled_at = float("-inf")
        self._entries: dict[str, Entry] = {}
        self._versions: dict[str, tuple[int, int, int]] = {}
        self._open: dict[str, Entry] = {}
        self._unwritten: set[str] = set()

    def path(self, entry: Entry) -> Path:
        """Return the path of an entry."""
        return self._folder / f"{entry.marker}{_SUFFIX}"

    def find(self, key: str) -> Entry | None:
        """Return the batch that the call of `key` waits for, if any.

        Raises:
            StoreError: the folder or an entry can't be read.
        """
        self._refresh()
        entry = self._open.get(key)
        return entry if entry is not None and entry.holds(key) else None

    def intend(
        self, keys: Iterable[str], *, model: str, api_base: str | None, api_key_env: str | None
    ) -> Entry:
        """Record durably that a batch of `keys` is about to be submitted.

        Raises:
            StoreError: it could not be written; the batch must not be submitted.
        """
        held = frozenset(keys)
        fingerprint = sha256_text("\n".join(sorted(held)))
        entry = Entry(
            marker=f"{fingerprint}-{secrets.token_hex(8)}",
            model=model,
            api_base=api_base,
            api_key_env=api_key_env,
            created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            keys=held,
        )
        self._write(entry)
        return entry

    def submitted(self, entry: Entry, batch_id: str) -> None:
        """Record the provider's id durably."""
        entry.batch_id = batch_id
        self._write(entry)

    def never_submitted(self, entry: Entry) -> None:
        """Record that the provider has no such batch: its calls may be sent again."""
        entry.void = True
        self._write(entry)

    def mark_done(self, entry: Entry, keys: Iterable[str]) -> None:
        """Record that these calls are finished: they may be sent again."""
        entry.settled |= set(keys)
        self._write(entry)

    def stored(self, key: str) -> None:
        """Note that the answer of a call is in the store; recorded later.

        Losing this in a crash is harmless: the store has the answer.
        """
        entry = self._open.get(key)
        if entry is not None and entry.holds(key):
            entry.settled.add(key)
            self._unwritten.add(entry.marker)

    def close(self) -> None:
        """Record what `stored` noted, on a best-effort basis."""
        while self._unwritten:
            with suppress(StoreError):
                self._write(self._entries[self._unwritten.pop()])

    def reload(self, entry: Entry) -> Entry:
        """Reload the entry, keeping what this process knows to be settled."""
        if self._mirror is not None:
            self._mirror.pull(self.path(entry))
        self._read(f"{entry.marker}{_SUFFIX}")
        return self._entries[entry.marker]

    def _pull(self) -> None:
        """Fetch what other machines recorded: new batches, and changes of those that are open."""
        if self._mirror is None or time.monotonic() - self._pulled_at < _PULL_S:
            return
        for path in self._mirror.paths():
            known = self._entries.get(path.stem)
            if known is None or (not known.void and known.keys - known.settled):
                self._mirror.pull(path)
        self._pulled_at = time.monotonic()

    def _refresh(self) -> None:
        self._pull()
        try:
            names = sorted(path.name for path in self._folder.iterdir() if path.suffix == _SUFFIX)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(self._folder, f"can't be read: {error.strerror}") from error
        for name in names:
            self._read(name)

    def _read(self, name: str) -> None:
        path = self._folder / name
        try:
            version = _version(path)
            if self._versions.get(name) == version:
                return
            entry = _decoded(orjson.loads(path.read_bytes()))
        except OSError as error:
            raise StoreError(path, f"can't be read: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(
                path,
                "not the record of a batch, or written by a later version",
                f"format {FORMAT}",
                "restore it: it records paid calls, which are paid for again if you delete it",
            ) from error
        known = self._entries.get(entry.marker)
        if known is not None:
            # In place, as waiters hold this object.
            known.batch_id, known.void = entry.batch_id or known.batch_id, entry.void
            known.settled |= entry.settled
            entry = known
        self._versions[name] = version
        self._take(entry)

    def _take(self, entry: Entry) -> None:
        self._entries[entry.marker] = entry
        for key in entry.keys:
            other = self._open.get(key)
            if entry.holds(key) and (other is None or not other.holds(key)):
                self._open[key] = entry

    def _write(self, entry: Entry) -> None:
        path = self.path(entry)
        self._unwritten.discard(entry.marker)
        sets = {"keys": sorted(entry.keys), "settled": sorted(entry.settled)}
        body = {"format": FORMAT, **as_row(entry), **sets}
        write_whole(path, orjson.dumps(body), durable=True)
        if self._mirror is not None:
            self._mirror.push(path)
        self._versions[path.name] = _version(path)
        self._take(entry)


def _version(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


def _decoded(body: dict[str, Any]) -> Entry:
    if body.pop("format") != FORMAT:
        raise ValueError("another format")
    fields: dict[str, Any] = {**body, "keys": frozenset(body["keys"]), "settled": set(body["settled"])}
    return Entry(**fields)
