"""The interface of a store that several machines share, and folders whose files are in one too."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from flows.common.files import write_whole


class Blobs(Protocol):
    """Bytes by name. Names are made of letters, digits and `-_./`.

    Every method is durable when it returns, may be called from any thread, and retries transient faults for a
    bounded time.

    Raises:
        StoreError: the store can't be used, such as access denied; every later call raises it too.
    """

    @property
    def address(self) -> str:
        """The store's address, without secrets."""
        ...

    def get(self, name: str) -> bytes | None:
        """Return the bytes of `name`; None if there are none."""
        ...

    def put(self, name: str, data: bytes) -> None:
        """Store `data`, replacing what is there."""
        ...

    def create(self, name: str, data: bytes) -> bool:
        """Store `data` if there is nothing. True if `data` is there now: equal bytes are one creation."""
        ...

    def replace(self, name: str, data: bytes, expected: bytes) -> bool:
        """Store `data` if `expected` is there; return whether it was."""
        ...

    def delete(self, name: str) -> None:
        """Remove `name` if it is there."""
        ...

    def names(self, prefix: str) -> Iterator[str]:
        """Iterate over the names in the folder `prefix`, which ends with a slash."""
        ...


class Mirror:
    """Files of a folder, kept in a shared store too, where other machines find them."""

    def __init__(self, folder: Path, blobs: Blobs, prefix: str) -> None:
        """Describe the mirror; `prefix` ends with a slash."""
        self._folder = folder
        self._blobs = blobs
        self._prefix = prefix

    def push(self, path: Path) -> None:
        """Store a file, replacing what is there."""
        self._blobs.put(self._name(path), path.read_bytes())

    def settle(self, path: Path) -> None:
        """Store a file if there is none; otherwise take the stored one, which was first."""
        if not path.is_file() or not self._blobs.create(self._name(path), path.read_bytes()):
            self.pull(path)

    def pull(self, path: Path) -> bool:
        """Fetch a file; return False if it is not stored."""
        data = self._blobs.get(self._name(path))
        if data is not None:
            write_whole(path, data)
        return data is not None

    def paths(self) -> list[Path]:
        """Return the paths of all stored files, also of those that are not here."""
        return [
            self._folder / name.removeprefix(self._prefix) for name in sorted(self._blobs.names(self._prefix))
        ]

    def _name(self, path: Path) -> str:
        return self._prefix + path.relative_to(self._folder).as_posix()
