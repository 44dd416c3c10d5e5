"""Convert aiohttp errors to faults."""

from __future__ import annotations

import aiohttp

from flows.adapters.completions.faults import Fault, FaultKind

WIRE_ERRORS = (aiohttp.ClientError, TimeoutError, OSError)
"""Errors of a connection. Raise the fault outside `except`: the error holds the request's headers with the
key, and would be kept as the fault's context."""


def wire_fault(error: BaseException, timeout: aiohttp.ClientTimeout) -> Fault:
    """Convert an error of `WIRE_ERRORS` to a fault.

    Args:
        error: the error.
        timeout: the timeouts.
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
            return Fault(FaultKind.parameter, f"api_base is not an address: {error}")
        case _:
            return Fault(FaultKind.connection, f"{type(error).__name__}: {error}")
