"""The stores of a run, folders or a store that machines share; its context; checks of the calls it makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from flows.adapters.completions.budget import check_price
from flows.adapters.completions.client import check_batches, check_keys
from flows.adapters.completions.keys import check_no_secret
from flows.adapters.completions.stores.folder import CompletionStore
from flows.adapters.completions.stores.shared import SharedCompletionStore, Store
from flows.adapters.completions.threaded_client import ThreadedClient
from flows.adapters.objects import ObjectStore
from flows.adapters.reports import ReportStore
from flows.adapters.shared_store import open_blobs
from flows.common.blobs import Blobs, Mirror
from flows.common.digests import sha256_text
from flows.common.errors import ConfigError
from flows.pipeline.native.renders import Renders
from flows.pipeline.work.run_context import Evaluation, RunContext
from flows.schema.settings import JudgeKind, ModelSettings, Settings, Transport, Writer
from flows.schema.store_address import StoreAddress

_PACKAGE = "package:"  # before the name of an installed package with a GGUF file
FILES = "files/"
"""What names of files begin with in a shared store; then follows their path in a folder of results."""


def check_calls(points: Sequence[Settings]) -> bool:
    """Check what can be known of the calls of a run before it begins; return whether there are any.

    Raises:
        ConfigError: a key or a model file is not there, a setting holds a secret, or a batch can't be sent.
    """
    remote = [(point, models) for point in points if (models := _called(point))]
    check_keys(model for point, _ in remote for model in (point.model, point.judge))
    for point, models in remote:
        for section, values in asdict(point).items():  # written to files, MLflow and Prefect
            check_no_secret(section, values)
        for section, model in models.items():
            check_price(point.budget, model, section)
            if model.transport is Transport.gguf:
                _check_file(f"{section}.api_base", model.api_base or "")
    for point, models in remote:
        if point.runner.batch:
            check_batches([*models.values()], point.runner, point.budget)
    return bool(remote)


def _check_file(key: str, place: str) -> None:
    is_package, name = place.startswith(_PACKAGE), place.removeprefix(_PACKAGE)
    if is_package and name.isidentifier() and find_spec(name) is None:
        raise ConfigError(f"{key}={place}", "the package is not installed", "", "make local installs it")
    if not is_package and not Path(place).expanduser().is_file():
        raise ConfigError(f"{key}={place}", "no such file", "the path of a GGUF file")


def _called(settings: Settings) -> dict[str, ModelSettings]:
    """Return the models that are called, by their sections: a remote writer, a remote judge."""
    model, judge = settings.model, settings.judge
    called: dict[str, ModelSettings] = {"model": model} if model.writer is Writer.remote else {}
    return {**called, "judge": judge} if judge.kind is JudgeKind.remote else called


@dataclass(frozen=True)
class Stores:
    """What a run keeps, by the settings `results` and `store`."""

    results: Path  # folder of all output on this machine
    blobs: Blobs | None = None  # the shared store; None if everything is kept below `results`

    @classmethod
    def of(cls, project: Path, settings: Settings) -> Stores:
        """Open the stores of a run; see `at`."""
        return cls.at(project, project / settings.results, settings.store)

    @classmethod
    def at(cls, project: Path, results: Path, store: str | None) -> Stores:
        """Open the stores of the folder `results`, or the shared store with the address `store`.

        Raises:
            StaffbenchError: the shared store can't be used.
        """
        return cls(results, None if store is None else open_blobs(StoreAddress.of(store, project)))

    def context(
        self, project: Path, evaluations: Sequence[Evaluation], client: ThreadedClient | None
    ) -> RunContext:
        """Return the context of a run; `client` is None if every model and judge is local."""
        own = self.results / evaluations[0].condition.benchmark
        files, pages = own / "reports" / "files", own / "renders"
        return RunContext(
            project,
            self.results,
            evaluations,
            client,
            self.objects(),
            ReportStore(files, self._mirror(files)),
            Renders(pages, mirror=self._mirror(pages)),
        )

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

    def _mirror(self, folder: Path) -> Mirror | None:
        if self.blobs is None:
            return None
        return Mirror(folder, self.blobs, f"{FILES}{folder.relative_to(self.results).as_posix()}/")


def context_of(project: Path, results: Path, evaluations: Sequence[Evaluation] = ()) -> RunContext:
    """Return a context outside a run."""
    objects, reports = ObjectStore(results / "objects"), ReportStore(results / "reports")
    return RunContext(project, results, evaluations, None, objects, reports, Renders(results / "renders"))
