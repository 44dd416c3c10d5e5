"""Stores that several machines share: S3, Google Cloud Storage and Azure by obstore, and folders.

Credentials and endpoints come from the environment, by the names that each provider's own tools use:
`AWS_ACCESS_KEY_ID`, `GOOGLE_APPLICATION_CREDENTIALS`, `AZURE_STORAGE_ACCOUNT_NAME`, and so on. Only this
module uses obstore.
"""

import copy
import json
import os
import random
import re
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from flows.common.blobs import Blobs
from flows.common.errors import ConfigError, StoreError
from flows.common.files import sync, unwritable, write_whole
from flows.schema.store_address import StoreAddress

_Result = TypeVar("_Result")

MARKER = "staffbench-store.json"
FORMAT = 1  # raise when an older version would misread the store

PATIENCE_S = 120.0  # how long one operation is retried
_REQUEST_S = 30
_FIRST_PAUSE_S = 0.1
_LAST_PAUSE_S = 5.0

_FAULT = re.compile(r"<Code>(?P<code>[^<]*)</Code>.*?<Message>(?P<message>[^<]*)</Message>", re.DOTALL)
_NO_BUCKET = re.compile(r"NoSuchBucket|ContainerNotFound|bucket does not exist|InvalidBucketName")
_FOR_GOOD = re.compile(r"status code: 4(?!0[89]|29)\d\d")  # not 408, 409 and 429
# Without credentials of another kind, a machine's own are asked for at such an address.
_METADATA = re.compile(r"//169\.254\.|/computeMetadata/|/latest/(api/token|meta-data)|/metadata/identity/")
_ENDPOINTS = {
    "s3": re.compile(r"AWS_ENDPOINT(_URL)?(_S3)?", re.IGNORECASE),
    "az": re.compile(r"AZURE_(STORAGE_)?ENDPOINT", re.IGNORECASE),
}
"""Environment variables with the address of another service than the provider's, by scheme."""
_SEE = "docs/how-to/store.md names the variables"


def open_blobs(address: StoreAddress, *, may_create: bool = True) -> Blobs:
    """Open a shared store, creating its marker if it is new; with `may_create=False` that is an error.

    Raises:
        ConfigError: obstore is not installed, or there is no store.
        StoreError: it can't be used, holds something else, or was written by a newer version.
    """
    blobs = FolderBlobs(address) if address.scheme == "file" else ObjectBlobs(address)
    own = json.dumps({"format": FORMAT}).encode()
    # Looked for before the marker: another process may be making the store, and its marker comes first, by
    # way of a hidden file.
    is_used = isinstance(blobs, FolderBlobs) and any(blobs.folder.glob("[!.]*"))
    found = blobs.get(MARKER)
    if found is None and not may_create:
        expected = "a folder of results, or the address of a shared store"
        raise ConfigError(blobs.address, "no store there", expected)
    if found is None and is_used:
        raise StoreError(
            blobs.address,
            "this folder holds something else",
            "a new or empty folder",
            "to put stored replies into a shared store: staffbench store copy FROM TO",
        )
    if found is None and not blobs.create(MARKER, own):
        found = blobs.get(MARKER)
    try:
        version = json.loads(found or own)["format"]
    except (ValueError, LookupError, TypeError):
        raise StoreError(f"{blobs.address}/{MARKER}", "not the marker of a store") from None
    if version != FORMAT:
        remedy = "use one version of staffbench"
        raise StoreError(blobs.address, f"a store of format {version}", f"format {FORMAT}", remedy)
    return blobs


class FolderBlobs:
    """A folder, also on a network file system: it needs no file locks, only hard links.

    `replace` is not atomic; only the holder of a claim calls it.
    """

    def __init__(self, address: StoreAddress) -> None:
        self.folder = Path(address.bucket)
        self.address = str(address)

    def get(self, name: str) -> bytes | None:
        """See `Blobs`."""
        path = self.folder / name
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise StoreError(path, f"can't be read: {error.strerror}") from error

    def put(self, name: str, data: bytes) -> None:
        """See `Blobs`."""
        write_whole(self.folder / name, data, durable=True)

    def create(self, name: str, data: bytes) -> bool:
        """See `Blobs`."""
        path = self.folder / name
        part = path.with_name(f".{uuid.uuid4().hex}.part")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(data)
            sync(part)
            with suppress(FileExistsError):
                path.hardlink_to(part)
                sync(path.parent)
                return True
        except OSError as error:
            raise unwritable(path, error) from error
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        return self.get(name) == data

    def replace(self, name: str, data: bytes, expected: bytes) -> bool:
        """See `Blobs`."""
        if self.get(name) != expected:
            return False
        self.put(name, data)
        return True

    def delete(self, name: str) -> None:
        """See `Blobs`."""
        path = self.folder / name
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(path, error) from error

    def names(self, prefix: str) -> Iterator[str]:
        """See `Blobs`."""
        for folder, _, files in os.walk(self.folder / prefix):
            for file in files:
                if not file.endswith(".part"):
                    yield (Path(folder) / file).relative_to(self.folder).as_posix()


class ObjectBlobs:
    """A bucket. Writes that must be the first or replace known bytes are conditional puts."""

    def __init__(self, address: StoreAddress, patience_s: float = PATIENCE_S) -> None:
        """Open the bucket; nothing is sent.

        Raises:
            ConfigError: obstore is not installed, or does not take the settings of the environment.
        """
        try:
            import obstore
            from obstore import exceptions, store
        except ImportError:
            raise ConfigError(
                f"store={address}",
                "obstore is not installed",
                remedy="pip install 'staffbench[cluster]', or use a folder",
            ) from None
        self.address = str(address)
        self._patience_s = patience_s
        self._obstore: Any = obstore
        self._exceptions: Any = exceptions
        self._given_up: StoreError | None = None
        self._is_new = True  # it has not answered yet
        # One layer retries, as for calls: obstore does not retry conditional puts.
        _check_endpoints(address.scheme)
        client = {"allow_http": True, "timeout": f"{_REQUEST_S}s", "connect_timeout": "10s"}
        options: dict[str, Any] = {"client_options": client, "retry_config": {"max_retries": 0}}
        kinds: dict[str, Any] = {"s3": store.S3Store, "gs": store.GCSStore, "az": store.AzureStore}
        try:
            self._store: Any = kinds[address.scheme](address.bucket, prefix=address.prefix or None, **options)
        except (ValueError, TypeError, exceptions.BaseError) as error:
            found = f"can't be opened: {_said(error)}"
            raise ConfigError(f"store={address}", found, remedy=_SEE) from None

    def get(self, name: str) -> bytes | None:
        """See `Blobs`."""
        found = self._do(lambda: self._read(name))
        return None if found is None else found[0]

    def put(self, name: str, data: bytes) -> None:
        """See `Blobs`."""
        self._do(lambda: self._obstore.put(self._store, name, data, use_multipart=False))

    def create(self, name: str, data: bytes) -> bool:
        """See `Blobs`."""
        if self._do(lambda: self._put_if(name, data, "create")):
            return True
        return self.get(name) == data  # a try whose answer was lost may have created it

    def replace(self, name: str, data: bytes, expected: bytes) -> bool:
        """See `Blobs`."""
        found = self._do(lambda: self._read(name))
        if found is None or found[0] != expected:
            return False
        version = {key: found[1][key] for key in ("e_tag", "version") if found[1].get(key)}
        return self._do(lambda: self._put_if(name, data, version)) or self.get(name) == data

    def delete(self, name: str) -> None:
        """See `Blobs`."""

        def remove() -> None:
            with suppress(FileNotFoundError):
                self._obstore.delete(self._store, name)

        self._do(remove)

    def names(self, prefix: str) -> Iterator[str]:
        """See `Blobs`."""
        pages = self._do(lambda: list(self._obstore.list(self._store, prefix=prefix)))
        yield from (entry["path"] for page in pages for entry in page)

    def _read(self, name: str) -> tuple[bytes, Any] | None:
        try:
            found = self._obstore.get(self._store, name)
        except FileNotFoundError as error:
            if _NO_BUCKET.search(str(error)):
                raise
            return None
        return bytes(found.bytes()), found.meta

    def _put_if(self, name: str, data: bytes, mode: Any) -> bool:
        try:
            self._obstore.put(self._store, name, data, mode=mode, use_multipart=False)
        except (self._exceptions.AlreadyExistsError, self._exceptions.PreconditionError):
            return False
        return True

    def _do(self, operation: Callable[[], _Result]) -> _Result:
        """Run an operation; retry what may pass, and give up the store for good otherwise."""
        if self._given_up is not None:
            raise copy.copy(self._given_up)
        end, pause = time.monotonic() + self._patience_s, _FIRST_PAUSE_S
        while True:
            try:
                found = operation()
            except (OSError, self._exceptions.BaseError) as error:
                fault = self._lasting(error)
                if fault is None and time.monotonic() + pause < end:
                    time.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 -- jitter
                    pause = min(2 * pause, _LAST_PAUSE_S)
                    continue
                if fault is None:
                    fault = f"can't be reached for {self._patience_s:.0f} s: {_said(error)}"
                self._given_up = StoreError(
                    self.address,
                    fault,
                    remedy="once that is put right, run the same command again; paid replies are kept",
                )
                raise copy.copy(self._given_up) from None
            else:
                self._is_new = False
                return found

    def _lasting(self, error: Exception) -> str | None:
        """Return what is wrong if another try would not help; None otherwise."""
        text, said, kinds = str(error), _said(error), self._exceptions
        for_good = _FOR_GOOD.search(text) is not None
        if isinstance(error, FileNotFoundError):
            return f"no such bucket: {said}"
        if isinstance(error, (kinds.PermissionDeniedError, kinds.UnauthenticatedError)):
            return f"access denied: {said}"
        if self._is_new and _METADATA.search(text) and (for_good or "status code" not in text):
            return f"no credentials in the environment; {_SEE}: {said}"
        return said if for_good or isinstance(error, kinds.NotSupportedError) else None


def _check_endpoints(scheme: str) -> None:
    """Refuse an address that obstore takes and then panics over, with a traceback of Rust."""
    names = _ENDPOINTS.get(scheme)
    for name, value in os.environ.items():
        if names is not None and names.fullmatch(name) and not re.match(r"https?://[^/]", value):
            shown = value.rpartition("@")[2]  # it may hold a password
            raise ConfigError(
                name, f"{shown!r} is no address", "http://HOST:PORT or https://HOST, or no variable"
            )


def _said(error: Exception) -> str:
    """Return the provider's code and message, or the first line, without queries, which may hold tokens."""
    text = str(error)
    if found := _FAULT.search(text):
        return f"{found['code']}, {found['message']}".rstrip(". ")
    line = text.strip().split("\n", 1)[0]
    return re.sub(r"\?\S*", "", line)[:300].rstrip(". ")
