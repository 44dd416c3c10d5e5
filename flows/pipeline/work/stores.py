"""The stores of a run: folders below its results, or a store that several machines share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from flows.adapters.completions.stores.folder import CompletionStore
from flows.adapters.completions.stores.shared import SharedCompletionStore, Store
from flows.adapters.objects import ObjectStore
from flows.adapters.reports import ReportStore
from flows.adapters.shared_store import open_blobs
from flows.common.blobs import Blobs, Mirror
from flows.common.digests import sha256_text
from flows.pipeline.native.renders import Renders
from flows.schema.settings import Settings
from flows.schema.store_address import StoreAddress

FILES = "files/"
"""What names of files begin with in a shared store; then follows their path in a folder of results."""


@dataclass(frozen=True)
class Stores:
    """What a run keeps, by the settings `results` and `store`.

    Attributes:
        results: folder of all output on this machine.
        blobs: the shared store; None if everything is kept below `results`.
    """

    results: Path
    blobs: Blobs | None = None

    @classmethod
    def of(cls, project: Path, settings: Settings) -> Stores:
        """Open the stores of a run.

        Raises:
            StaffbenchError: the shared store can't be used.
        """
        return cls.at(project, project / settings.results, settings.store)

    @classmethod
    def at(cls, project: Path, results: Path, store: str | None) -> Stores:
        """Open the stores of the folder `results`, or the shared store with the address `store`.

        Raises:
            StaffbenchError: the shared store can't be used.
        """
        address = None if store is None else StoreAddress.of(store, project)
        return cls(results, None if address is None else open_blobs(address))

    @property
    def cache(self) -> Path:
        """This machine's folder of stage values and of copies of what is in a shared store."""
        folder = self.results / ".cache"
        return folder if self.blobs is None else folder / "store" / sha256_text(self.blobs.address)[:16]

    def completions(self) -> Store:
        """Open the store of completions; the caller closes it.

        Raises:
            StoreError: it can't be used.
        """
        if self.blobs is None:
            return CompletionStore(self.results / "completions")
        return SharedCompletionStore(self.blobs, self.cache / "completions")

    def objects(self) -> ObjectStore:
        """Return the store of stage values."""
        return ObjectStore(self.cache / "objects", self.blobs)

    def reports(self, benchmark: str) -> ReportStore:
        """Return the store of a benchmark's reports."""
        folder = self.results / benchmark / "reports" / "files"
        return ReportStore(folder, self._mirror(folder))

    def renders(self, benchmark: str) -> Renders:
        """Return the store of page counts and images of a benchmark's documents."""
        folder = self.results / benchmark / "renders"
        return Renders(folder, mirror=self._mirror(folder))

    def _mirror(self, folder: Path) -> Mirror | None:
        if self.blobs is None:
            return None
        return Mirror(folder, self.blobs, f"{FILES}{folder.relative_to(self.results).as_posix()}/")
