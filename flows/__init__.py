"""staffbench: do language models make the determinations a competent staff would make?

The names in `__all__` are the public face of the library, shown in `docs/reference/library.md`. Nothing else
is promised. They are imported when they are first used, so that `import flows` is quick.
"""

import importlib
from typing import TYPE_CHECKING, Any

from flows.common.version import __version__

if TYPE_CHECKING:
    from flows.common.errors import StaffbenchError
    from flows.pipeline.library import Benchmark, Figure, Grade, load_benchmark, read_document
    from flows.schema.document import Document, Packet
    from flows.schema.scenario import Item, Scenario
    from flows.schema.verdict import Verdict

__all__ = [
    "Benchmark",
    "Document",
    "Figure",
    "Grade",
    "Item",
    "Packet",
    "Scenario",
    "StaffbenchError",
    "Verdict",
    "__version__",
    "load_benchmark",
    "read_document",
]

_MODULES = {
    "flows.common.errors": ("StaffbenchError",),
    "flows.pipeline.library": ("Benchmark", "Figure", "Grade", "load_benchmark", "read_document"),
    "flows.schema.document": ("Document", "Packet"),
    "flows.schema.scenario": ("Item", "Scenario"),
    "flows.schema.verdict": ("Verdict",),
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            value = getattr(importlib.import_module(module), name)
            globals()[name] = value  # not looked up here again
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
