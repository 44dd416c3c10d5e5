"""The processes that import mlflow: `--log`, `--labels` and `--serve`."""

import gc
import json
import os
import sys
import threading
import traceback
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from flows.adapters.tracking import BriefTrace, RunRecord, is_foreign, redacted
from flows.adapters.tracking.store import prepare, serve
from flows.common.errors import StaffbenchError


def _log(results: Path, experiment: str, parent: str) -> None:
    from flows.adapters.tracking.runs import Logged, known_identities, log_all

    lines: SimpleQueue[str | None] = SimpleQueue()

    def read() -> None:
        # Read at once, as a full pipe would block the parent.
        for line in sys.stdin:
            if line.endswith("\n"):  # else the parent died while writing
                lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    if sys.platform != "win32":
        # The run comes first where cores are few: with equal shares a sweep took a third longer.
        os.nice(10)
    logged = Logged()
    gc.disable()  # imported modules stay; collecting costs time
    try:
        opened = prepare(results, experiment)
        print(json.dumps({"known": known_identities(opened)}), flush=True)  # noqa: T201 -- see `Tracker.has`
        gc.freeze()
        gc.enable()
        records = (_record(line) for line in iter(lines.get, None))
        log_all(opened, tuple(json.loads(parent)), records, logged)
    except Exception as error:
        if not is_foreign():
            raise
        # A server's fault is no fault of the run. What was not logged is logged by the next run.
        text = f"{type(error).__name__}: {error}"
        logged.problem = "it does not answer" if "Max retries exceeded" in text else redacted(text)
    answer = {"logged": len(logged.runs), "problem": logged.problem, "notes": logged.notes}
    print(json.dumps(answer))  # noqa: T201 -- the reply to the parent
    gc.freeze()  # avoids a final collection of half a second while the parent waits


def _record(line: str) -> RunRecord:
    fields: dict[str, Any] = json.loads(line)
    fields["traces"] = [BriefTrace(**one) for one in fields["traces"]]
    return RunRecord(**fields)


def _labels(results: Path, experiment: str, benchmark: str) -> None:
    from flows.adapters.tracking.traces import human_labels

    labels, notes = human_labels(prepare(results, experiment), benchmark)
    answer = {"labels": [vars(label) for label in labels], "notes": notes}
    print(json.dumps(answer))  # noqa: T201 -- the reply to the parent


if __name__ == "__main__":
    try:
        {"--log": _log, "--labels": _labels, "--serve": serve}[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
    except StaffbenchError as fault:
        sys.exit(f"staffbench: {fault}")
    except Exception as fault:  # noqa: BLE001 -- a log of all of it, whose last line says what is wrong
        traceback.print_exc()
        sys.exit(f"{type(fault).__name__}: {str(fault).splitlines()[0] if str(fault) else ''}".rstrip(": "))
