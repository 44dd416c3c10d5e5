"""Claims to pay for a key, in a store that several machines share.

A claim is a blob that only its first creator gets. It names its worker, and each worker renews one blob of
its own while it lives: a claim costs no requests while it is held, and ends with its worker. Others take a
worker for dead if that blob is gone, or has not changed for `lease_s` by their own clock. Clocks of machines
are never compared. On one machine they also ask the kernel.

A dead worker's claim is not replaced, since another one could have done so in between. Instead the claim
after it is created, under a name with the dead one's random number: there is one successor at most. It counts
while the first claim of the key is there, and a release removes that one first.
"""

import logging
import os
import secrets
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

from flows.common.blobs import Blobs
from flows.common.digests import sha256_text
from flows.common.errors import StoreError

LEASE_S = 30.0
_RENEWALS = 6  # within one lease

_log = logging.getLogger(__name__)


Claim = tuple[str, ...]  # a claim that is held: the names of its blobs, the key's first one first


class Claims:
    """The claims of one process. Thread-safe."""

    def __init__(self, blobs: Blobs, lease_s: float = LEASE_S) -> None:
        self._blobs = blobs
        self._lease_s = lease_s
        self._worker = f"{_machine()}-{os.getpid()}-{secrets.token_hex(8)}"
        self._guard = threading.Lock()
        self._renewing = threading.Lock()
        self._held: set[str] = set()
        self._unreleased: list[Claim] = []
        self._seen: dict[str, tuple[bytes, float]] = {}
        self._renewed_at = float("-inf")
        self._count = 0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Announce this worker, unless it was just renewed. It also shows that the store can be written."""
        with self._renewing:
            if time.monotonic() - self._renewed_at > self._lease_s / 2:
                self._renew()
            if self._thread is None:
                self._thread = threading.Thread(target=self._keep_alive, name="lease", daemon=True)
                self._thread.start()

    def acquire(self, name: str) -> Claim | None:
        """Claim the key whose first claim is `name`; None while another holds it."""
        with self._guard:
            if name in self._held:
                return None
            self._held.add(name)
        claim: Claim | None = None
        try:
            self.begin()
            claim = self._acquire(name)
        finally:
            if claim is None:
                with self._guard:
                    self._held.discard(name)
        return claim

    def release(self, claim: Claim) -> None:
        """Release a claim; if the store can't be reached now, later."""
        try:
            for name in claim:
                self._blobs.delete(name)
        except StoreError:
            self._unreleased.append(claim)
        with self._guard:
            self._held.discard(claim[0])

    def close(self) -> None:
        """End this worker: what it holds is free."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            with suppress(StoreError):
                self._blobs.delete(_blob(self._worker))

    def _acquire(self, name: str) -> Claim | None:
        own = f"{self._worker}/{secrets.token_hex(8)}".encode()
        if self._blobs.create(name, own):
            return (name,)
        first = holder = self._blobs.get(name)
        names = [name]
        while holder is not None:
            worker, _, number = holder.decode("ascii", "replace").partition("/")
            if self._is_alive(worker):
                return None
            names.append(f"{name}.after.{number}")
            if self._blobs.create(names[-1], own):
                if self._blobs.get(name) == first:
                    return tuple(names)
                self._blobs.delete(names[-1])  # released in between
                return None
            holder = self._blobs.get(names[-1])
        return None

    def _is_alive(self, worker: str) -> bool:
        if worker == self._worker:
            return False  # this process does not hold it: its release failed
        machine, _, rest = worker.partition("-")
        if machine == _machine() and rest.partition("-")[0].isdigit():
            with suppress(PermissionError):
                try:
                    os.kill(int(rest.partition("-")[0]), 0)
                except ProcessLookupError:
                    return False
        found, now = self._blobs.get(_blob(worker)), time.monotonic()
        if found is None:
            return False
        with self._guard:
            before, since = self._seen.setdefault(worker, (found, now))
            if before != found:
                self._seen[worker] = (found, now)
                return True
        return now - since < self._lease_s

    def _keep_alive(self) -> None:
        while not self._ended.wait(self._lease_s / _RENEWALS):
            try:
                with self._renewing:
                    self._renew()
                    waiting, self._unreleased = self._unreleased, []
                for claim in waiting:
                    self.release(claim)
            except StoreError as error:
                _log.warning("%s", error)

    def _renew(self) -> None:
        self._count += 1
        self._blobs.put(_blob(self._worker), str(self._count).encode())
        self._renewed_at = time.monotonic()


def _blob(worker: str) -> str:
    return f"workers/{worker}"


def _machine() -> str:
    """Return what names this machine's processes: host, start of its kernel and namespace of process ids."""
    parts = [socket.gethostname()]
    with suppress(OSError):  # without them, a process id can't be asked for: the name is unique
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
        return sha256_text("\n".join(parts))[:16]
    return secrets.token_hex(8)
