"""Convert aiohttp errors to faults."""

from __future__ import annotations

import aiohttp
import orjson

from flows.adapters.completions.faults import Fault, FaultKind, error_fault, retry_after_s

WIRE_ERRORS = (aiohttp.ClientError, TimeoutError, OSError)
"""Errors of a connection. Raise the fault outside `except`: the error holds the request's headers with the
key, and would be kept as the fault's context."""

_MAX_ERROR_BYTES = 64 << 10


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


async def read_body(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Return the body of a response.

    Raises:
        Fault: it is longer than `most` bytes.
    """
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > most:
            raise Fault(FaultKind.reply, f"more than {most >> 20} MB")
    return b"".join(parts)


async def status_fault(response: aiohttp.ClientResponse) -> Fault:
    """Return the fault of a response with an error status; a body that is too long is left out."""
    try:
        data = await read_body(response, _MAX_ERROR_BYTES)
    except Fault:
        data = b""
    text = data.decode("utf-8", "replace") or response.reason or ""
    try:
        payload: object = orjson.loads(data)
    except orjson.JSONDecodeError:
        payload = None
    if location := response.headers.get("Location"):
        text = f"moved to {location}"
    return error_fault(response.status, payload, text, retry_after_s(response.headers))
