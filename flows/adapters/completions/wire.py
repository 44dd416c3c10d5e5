"""What aiohttp raises, as the fault of one try."""

from __future__ import annotations

import aiohttp

from flows.adapters.completions.faults import Fault, FaultKind

WIRE_ERRORS = (aiohttp.ClientError, TimeoutError, OSError)
"""What a connection may raise on the way. Whoever catches one lets it go before the fault is raised: it holds
the request's headers, and the key with them, and would stay reachable as the fault's context."""


def wire_fault(error: BaseException, timeout: aiohttp.ClientTimeout) -> Fault:
    """The fault that an error of `WIRE_ERRORS` stands for.

    Args:
        error: what was raised.
        timeout: the limits that held.
    """
    match error:
        case aiohttp.ConnectionTimeoutError():
            return Fault(FaultKind.connect, f"no connection within {timeout.connect:g} s")
        case TimeoutError():
            silent = isinstance(error, aiohttp.SocketTimeoutError) or timeout.total is None
            said = f"silent for {timeout.sock_read:g} s" if silent else f"not done within {timeout.total:g} s"
            return Fault(FaultKind.timeout, said)
        case aiohttp.ClientConnectorError():
            return Fault(FaultKind.connect, str(error))
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return Fault(FaultKind.parameter, f"api_base is no address: {error}")
        case _:
            return Fault(FaultKind.connection, f"{type(error).__name__}: {error}")
