"""How workers get their shares of a run's limits: a line of JSON each way, about once a second.

The process of the flow keeps the ledger (`Shares`) and listens on a port; each worker's client renews its
lease. The lines hold counts, no text of any request. Who does not know the run's token gets nothing.
"""

import asyncio
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Protocol

from flows.adapters.completions.shares import Grant, Need, Shares
from flows.adapters.completions.totals import Totals
from flows.common import errors
from flows.common.errors import ConfigError, StaffbenchError, Stopped
from flows.common.gather import LoopThread

_RENEW_S = 1.0
_SHORT_S = 0.1  # between renewals of a worker that waits for more
_ANSWER_S = 20.0
_PATIENCE_S = 600.0  # for a process that lives and does not answer; nothing is sent without a lease


@dataclass(frozen=True)
class LeaseAddress:
    """Where a run's ledger is: host and port, the run's secret, and the seconds that a lease lasts."""

    host: str
    port: int
    token: str
    term_s: float


class LeaseServer:
    """Serves a ledger from a thread of its own, so that work of the flow delays no renewal."""

    def __init__(self, shares: Shares, host: str, bind: str = "", port: int = 0) -> None:
        """Listen on `bind`, or else on `host`, by which workers reach this process; port 0 is any free one.

        Raises:
            ConfigError: the address can't be listened on.
        """
        self._shares = shares
        self._stop: StaffbenchError | None = None
        self._totals: dict[str, Totals] = {}
        self._lost: set[str] = set()  # workers that hung up without their last totals
        self._token = secrets.token_hex(16)
        self._loop = LoopThread("leases")
        try:
            self._server = self._loop.submit(asyncio.start_server(self._serve, bind or host, port)).result()
        except OSError as error:
            self._loop.end()
            raise ConfigError(
                "runner.contact",
                f"{bind or host}:{port} can't be listened on ({error.strerror})",
                "HOST:PORT of this machine that workers reach",
            ) from error
        self.address = LeaseAddress(
            host, self._server.sockets[0].getsockname()[1], self._token, shares.term_s
        )

    @property
    def totals(self) -> Totals:
        """The sums of all workers, as they last reported them; one that is gone has nothing in flight."""
        each = [
            replace(one, in_flight=0, unreported=1) if worker in self._lost else one
            for worker, one in self._totals.items()
        ]
        return Totals(**{name.name: sum(getattr(one, name.name) for one in each) for name in fields(Totals)})

    def stop(self, reason: StaffbenchError) -> None:
        """Tell every worker at its next renewal to send nothing more. Thread-safe."""
        self._stop = self._stop or reason

    def close(self) -> None:
        """End: workers find nobody, and stop."""
        self._loop.submit(self._hang_up()).result()
        self._loop.end()

    async def _hang_up(self) -> None:
        self._server.close()
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        worker, has_ended = None, False
        try:
            # A stream's task that is cancelled would be logged with a traceback.
            with suppress(OSError, ValueError, LookupError, TypeError, asyncio.CancelledError):
                while line := await reader.readline():
                    report = json.loads(line)
                    if not hmac.compare_digest(str(report["token"]), self._token):
                        break
                    worker, has_ended = str(report["worker"]), report["has_ended"]
                    stop = self._stop and [type(self._stop).__name__, *self._stop.__reduce__()[1]]
                    reply = {"stop": stop, "grants": self._renew(report)}
                    writer.write(json.dumps(reply).encode() + b"\n")
                    await writer.drain()
        finally:
            if worker is not None and not has_ended:
                self._lost.add(worker)
            writer.close()

    def _renew(self, report: Mapping[str, Any]) -> dict[str, Any]:
        worker = str(report["worker"])
        needs = {name: Need(**need) for name, need in report["needs"].items()}
        self._totals[worker] = Totals(**report["totals"])
        self._lost.discard(worker)  # it has come back
        grants = self._shares.renew(worker, needs, time.monotonic())
        return {name: asdict(grant) for name, grant in grants.items()}


class _Lessee(Protocol):
    """Reports what it needs of each limit, and lives by its shares until a time of `time.monotonic`."""

    def needs(self) -> Mapping[str, Need]: ...
    def take(self, grants: Mapping[str, Grant], valid_until: float) -> None: ...


@dataclass(eq=False)
class Lease:
    """Renews a worker's lease from `start` on. Use it from the event loop of the calls only."""

    _address: LeaseAddress
    _lessees: Callable[[], Sequence[_Lessee]]
    _totals: Totals  # sums that are reported
    _halt: Callable[[StaffbenchError], None]  # called once nothing more may be sent
    _worker: str = field(default_factory=lambda: secrets.token_hex(8))
    _asked: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] | None = None
    _stream: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    def ask(self) -> None:
        """Renew soon: somebody waits for more than its share."""
        self._asked.set()

    def start(self) -> None:
        """Renew from now on, until `end`."""
        if self._task is None:
            self._asked.set()
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def end(self) -> None:
        """Give everything back, with the last totals."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            with suppress(OSError, ValueError, TimeoutError):
                await self._renew(has_ended=True)
        if self._stream is not None:
            self._stream[1].close()

    async def _run(self) -> None:
        renewed = time.monotonic()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_RENEW_S):
                    await self._asked.wait()
            self._asked.clear()
            try:
                renewed = await self._renew()
            except (OSError, ValueError, TimeoutError) as error:
                gone = isinstance(error, ConnectionRefusedError)
                if gone or time.monotonic() - renewed > _PATIENCE_S:
                    at = f"{self._address.host}:{self._address.port}"
                    self._halt(Stopped("run", f"its process at {at} does not answer"))
                    return
            # Not once a call: what comes within this time shares a renewal.
            await asyncio.sleep(_SHORT_S)

    async def _renew(self, *, has_ended: bool = False) -> float:
        """Make one renewal; return when it was asked for."""
        sent = time.monotonic()
        lessees = self._lessees()
        needs = {name: need for one in lessees for name, need in one.needs().items()}
        body: dict[str, Any] = {
            "token": self._address.token,
            "worker": self._worker,
            "has_ended": has_ended,
            "totals": asdict(self._totals),
        }
        try:
            async with asyncio.timeout(_ANSWER_S):
                if self._stream is None:
                    self._stream = await asyncio.open_connection(self._address.host, self._address.port)
                reader, writer = self._stream
                body["needs"] = {name: asdict(need) for name, need in needs.items()}
                writer.write(json.dumps(body).encode() + b"\n")
                await writer.drain()
                reply = json.loads(await reader.readline())  # a closed connection gives no JSON
        except BaseException:
            if self._stream is not None:  # a late answer must not be taken for the next one's
                self._stream[1].close()
                self._stream = None
            raise
        grants = {name: Grant(**grant) for name, grant in reply["grants"].items()}
        for one in lessees:
            # Counted from the question: the ledger counts from its later arrival.
            one.take(grants, sent + self._address.term_s)
        if any(grants[name].share < need.share for name, need in needs.items()):
            self._asked.set()  # say at once that it is given back
        if reply["stop"]:
            name, *words = reply["stop"]
            self._halt(getattr(errors, name, StaffbenchError)(*words))
        return sent
