"""The OpenAI chat protocol over HTTP: one try, no retries."""

import io
import json
import os
import socket
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import orjson

from flows.adapters.completions.faults import Fault, FaultKind, error_fault, retry_after_s
from flows.adapters.completions.senders.fields import load_json
from flows.adapters.completions.senders.reply import Reply, StreamedReply, read_completion
from flows.adapters.completions.senders.turns import chat_messages, offers_tools
from flows.schema.completion import Request
from flows.schema.settings import RunnerSettings

OPENAI_BASE = "https://api.openai.com/v1"

_MAX_BODY_BYTES = 64 << 20  # of a whole reply: four times the longest text
_MAX_LINE_BYTES = 64 << 20  # of a stream
_WARNED_BODY_BYTES = 1 << 20  # above this aiohttp warns about in-memory bodies
_MAX_ERROR_BYTES = 64 << 10
_OK = 200
_WIRE_ERRORS = (aiohttp.ClientError, TimeoutError, OSError)

# A lost peer is detected within 30 + 4 * 15 seconds even while a model is thinking silently, for which
# `idle_timeout_s` is the limit.
_KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPALIVE": 30, "TCP_KEEPINTVL": 15, "TCP_KEEPCNT": 4}


class OpenAISender:
    """Sends requests over one pool of connections. Use it from one event loop only."""

    def __init__(self, runner: RunnerSettings) -> None:
        self._timeout = aiohttp.ClientTimeout(
            total=runner.total_timeout_s,
            connect=runner.connect_timeout_s,
            sock_connect=runner.connect_timeout_s,
            sock_read=runner.idle_timeout_s,
        )
        self._session: aiohttp.ClientSession | None = None
        self._proxies: dict[str, str | None] = {}

    async def send(
        self, request: Request, key: str | None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Make one try; `headers` override our own.

        Raises:
            Fault: no completion.
        """
        fault: Fault
        # Raised outside `except`: the error holds the headers with the key, and would be its context.
        try:
            return await self._send(request, key, headers or {})
        except Fault as raised:
            fault = raised
        except _WIRE_ERRORS as error:
            fault = _wire_fault(error, self._timeout)
        raise fault

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _send(self, request: Request, key: str | None, more: Mapping[str, str]) -> Reply:
        base = request.api_base or OPENAI_BASE
        body = _encode(
            {
                "model": request.model,
                "messages": chat_messages(request.messages),
                **request.parameters,
            }
        )
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        own = {name.lower() for name in more}
        headers = {name: value for name, value in headers.items() if name.lower() not in own} | dict(more)
        async with self._open().post(
            f"{base.rstrip('/')}/chat/completions",
            data=body if len(body) <= _WARNED_BODY_BYTES else io.BytesIO(body),
            headers=headers,
            allow_redirects=False,  # the key must not be redirected
            proxy=self._proxy(base),
        ) as response:
            if response.status != _OK:
                raise await _status_fault(response)
            if response.content_type == "text/event-stream":
                return await _read_stream(response, StreamedReply(tools=offers_tools(request)))
            payload, note = load_json(await _read_body(response, _MAX_BODY_BYTES))
            return read_completion(payload, note, tools=offers_tools(request))

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                # The number of connections is set by the provider's limit.
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300, socket_factory=_keepalive_socket),
                timeout=self._timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    def _proxy(self, base: str) -> str | None:
        """Return the proxy for `base` from the environment; never for localhost.

        aiohttp's `trust_env` would also read `~/.netrc`, which conflicts with the key.
        """
        if base not in self._proxies:
            parts = urllib.parse.urlsplit(base)
            host = parts.hostname or ""
            local = host in ("localhost", "::1") or host.startswith("127.")
            skipped = local or urllib.request.proxy_bypass(host)
            self._proxies[base] = None if skipped else urllib.request.getproxies().get(parts.scheme)
        return self._proxies[base]


def _keepalive_socket(address: tuple[Any, ...]) -> socket.socket:
    family, kind, protocol = address[:3]
    opened = socket.socket(family, kind, protocol)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, seconds in _KEEPALIVE.items():  # each system supports some of them
        if hasattr(socket, name):
            opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), seconds)
    return opened


async def _read_stream(response: aiohttp.ClientResponse, reply: StreamedReply) -> Reply:
    done = False
    try:
        async for data in _events(response.content):
            # The rest is read too, so that the connection can be reused.
            done = done or data == b"[DONE]"
            if not done:
                reply.feed(*load_json(data))
    except (aiohttp.ClientError, OSError, Fault) as error:  # a timeout is an OSError
        if not reply.finished:
            raise
        reply.remark(f"what followed the reply's end could not be read: {type(error).__name__}")
    return reply.end()


async def _events(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Yield the data of each server-sent event (WHATWG HTML, 9.2.6), ignoring other fields."""
    pieces: list[bytes] = []  # of an incomplete line
    size = 0
    data: list[bytes] = []
    async for part in content.iter_any():
        pieces.append(part)
        size += len(part)
        if b"\n" not in part and b"\r" not in part:
            if size > _MAX_LINE_BYTES:
                raise Fault(FaultKind.reply, f"a line of more than {_MAX_LINE_BYTES >> 20} MB")
            continue
        # Lines may end with CR, LF or both. JSON has no unescaped CR, so none is lost.
        lines = b"".join(pieces).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        pieces = [lines.pop()]
        size = len(pieces[0])
        for line in lines:
            if line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
            elif not line and data:
                yield b"\n".join(data)
                data = []
    rest = b"".join(pieces)
    if rest.startswith(b"data:"):  # some servers omit the last blank line
        data.append(rest[5:].removeprefix(b" "))
    if data:
        yield b"\n".join(data)


def _encode(fields: dict[str, Any]) -> bytes:
    # Not orjson, which allocates eight times the text's size: with large packets and a hundred calls in
    # flight that fragmented 70 MB.
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _wire_fault(error: BaseException, timeout: aiohttp.ClientTimeout) -> Fault:
    """Convert an error of `_WIRE_ERRORS` to a fault."""
    match error:
        case aiohttp.ConnectionTimeoutError():
            return Fault(FaultKind.connect, f"no connection within {timeout.connect:g} s")
        case TimeoutError():
            silent = isinstance(error, aiohttp.SocketTimeoutError) or timeout.total is None
            said = f"silent for {timeout.sock_read:g} s" if silent else f"not done within {timeout.total:g} s"
            return Fault(FaultKind.timeout, said)
        case aiohttp.ClientConnectorError():
            return Fault(FaultKind.connect, f"{error.host}:{error.port}: {_reason(error)}")
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return Fault(FaultKind.parameter, f"api_base is not an address: {error}")
        case _:
            return Fault(FaultKind.connection, f"{type(error).__name__}: {error}")


def _reason(error: aiohttp.ClientConnectorError) -> str:
    """Return the system's words, such as 'Connection refused', instead of aiohttp's internals."""
    code = error.os_error.errno
    return os.strerror(code) if code is not None and code > 0 else str(error.os_error)


async def _read_body(response: aiohttp.ClientResponse, most: int) -> bytes:
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


async def _status_fault(response: aiohttp.ClientResponse) -> Fault:
    """Return the fault of a response with an error status; a body that is too long is left out."""
    try:
        data = await _read_body(response, _MAX_ERROR_BYTES)
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
