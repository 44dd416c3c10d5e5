"""The child process that is an embedded Prefect server; `python -m` runs it with a port."""

import gc
import json
import os
import socket
import sys
import threading
import time
import urllib.request
from contextlib import ExitStack, suppress

from flows.common.errors import StoreError
from flows.common.locks import locked
from flows.pipeline.orchestration.server import DIRECT, home

_DRAIN_S = 2.5  # the recorder flushes every second
_WRITE_S = 10.0  # a crashed task run may never be recorded as finished


def _serve(port: int) -> None:
    """Run Prefect's server in the child process until standard input is closed."""
    gc.disable()  # collecting during the imports takes a seventh of the start
    import uvicorn
    from prefect.server.api.server import create_app

    config = uvicorn.Config(
        create_app(),
        host="127.0.0.1",
        port=port,
        log_level="error",
        ws_per_message_deflate=False,  # compression does not pay on localhost
    )

    lock = ExitStack()

    class Started(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            lock.close()

    server = Started(config)
    gc.freeze()
    gc.enable()

    def watch() -> None:
        words = b"".join(iter(lambda: os.read(0, 4096), b"")).split()  # sys.stdin is locked at exit
        if not server.started:
            os._exit(0)
        if words:
            _wait_until_written(port, words[0].decode(), int(words[1]))
        else:
            time.sleep(_DRAIN_S)
        server.should_exit = True
        time.sleep(10)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    with suppress(StoreError):  # a file system without locks
        # Two servers must not migrate the same database at once.
        lock.enter_context(locked(home() / "server.lock"))
    server.run()


def _wait_until_written(port: int, flow_run_id: str, task_runs: int) -> None:
    """Wait until this server has recorded that many finished task runs, at most `_WRITE_S`."""
    body = {
        "flow_runs": {"id": {"any_": [flow_run_id]}},
        "task_runs": {"state": {"type": {"any_": ["COMPLETED", "FAILED", "CANCELLED", "CRASHED"]}}},
    }
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/task_runs/count",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    deadline = time.monotonic() + _WRITE_S
    while time.monotonic() < deadline:
        with suppress(OSError, ValueError), DIRECT.open(request, timeout=2) as reply:
            if int(reply.read()) >= task_runs:
                return
        time.sleep(0.1)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
