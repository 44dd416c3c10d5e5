"""All other providers, through litellm: one try without retries or dropped parameters.

Works around litellm 1.110: it turns unknown and missing finish reasons into `stop`; it reports an endpoint's
error and a stream without chunks as a reply; it counts tokens itself, or gives 0, if the provider did not; it
wraps a failed connection in an HTTP 500; it appends Gemini's signatures to the ids of tool calls; its clients
follow redirects, with the prompt. Not worked around: it drops stream chunks with only `reasoning_details`,
which OpenRouter sends if a host encrypts its reasoning.
"""

import asyncio
import functools
import logging
import os
import threading
import warnings
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, cast

from flows.adapters.completions.faults import Fault, FaultKind, error_fault, retry_after_s
from flows.adapters.completions.senders.fields import escaped, load_json
from flows.adapters.completions.senders.reply import Reply, StreamedReply, read_completion
from flows.adapters.completions.senders.turns import chat_messages, offers_tools
from flows.schema.completion import Request
from flows.schema.settings import RunnerSettings

_NEVER_CONNECTED = frozenset(
    {"ConnectError", "ConnectTimeout", "ClientConnectorError", "ClientConnectorDNSError"}
)

_OK = 200
_TIMED_OUT = 408

_FINISH = ("finish_reason", "finish_details", "finishReason", "stop_reason", "stopReason")
"""Finish reason fields of OpenAI, Gemini, Anthropic and Bedrock. Elsewhere a missing one is not detected."""

_importing = threading.Lock()

_heard: ContextVar[list[Any] | None] = ContextVar("heard", default=None)
"""Responses of the current call; None outside a call."""

_SIGNATURE = "__thought__"  # between a call's id and its signature of up to thousands of characters


class LiteLLMSender:
    """Sends requests through litellm, imported at the first one. Use it from one event loop only."""

    def __init__(self, runner: RunnerSettings) -> None:
        self._runner = runner
        self._library: Any = None

    async def send(
        self, request: Request, key: str | None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Make one try, with the request's parameters unchanged; without a key litellm finds the credentials.

        Raises:
            Fault: no completion.
        """
        if self._library is None:
            # Importing takes seconds; calls of other providers continue meanwhile.
            self._library = await asyncio.to_thread(import_litellm)
        heard: list[Any] = []
        _heard.set(heard)
        fault: Fault
        # Raised outside `except`: litellm's errors hold the request with its headers.
        try:
            async with asyncio.timeout(self._runner.total_timeout_s):
                return await self._send(request, key, headers or {}, heard)
        except Fault as raised:
            fault = raised
            heard.clear()
        except TimeoutError:
            fault = Fault(FaultKind.timeout, f"not done within {self._runner.total_timeout_s:g} s")
        except Exception as error:  # noqa: BLE001 -- litellm passes on any exception of its providers' code
            fault = _answered(heard, error) or _raised(self._library, error)
        if "choices" in (sent := _sent(heard)):
            # A valid reply that litellm's types reject, for example for odd counts.
            return read_completion(sent, tools=offers_tools(request))
        raise fault

    async def aclose(self) -> None:
        """Close litellm's connections."""
        if self._library is not None:
            await self._library.close_litellm_async_clients()

    async def _send(
        self, request: Request, key: str | None, headers: Mapping[str, str], heard: Sequence[Any]
    ) -> Reply:
        import httpx  # slow to import, and only litellm needs it

        runner = self._runner
        given = {"api_key": key, "extra_headers": dict(headers) or None, "api_base": request.api_base}
        response = await self._library.acompletion(
            model=request.model,
            messages=chat_messages(request.messages),
            timeout=httpx.Timeout(
                runner.total_timeout_s, connect=runner.connect_timeout_s, read=runner.idle_timeout_s
            ),
            max_retries=0,
            **{name: value for name, value in given.items() if value is not None},
            **request.parameters,
        )
        tools = offers_tools(request)
        if request.parameters.get("stream"):
            reply = await _read_stream(response, StreamedReply(tools=tools))
        else:
            reply = read_completion(_native(_plain(response), _sent(heard)), tools=tools)
        # litellm appends signatures to the ids of tool calls; they are carried separately.
        calls = [replace(call, call_id=call.call_id.split(_SIGNATURE)[0]) for call in reply.tool_calls]
        return replace(reply, tool_calls=tuple(calls))


def _hear_responses() -> None:
    """Prevent redirects of our requests, and keep the provider's original responses.

    litellm opens several kinds of clients in many places; all of them call `send`.
    """
    import httpx

    send: Any = httpx.AsyncClient.send

    async def heard(client: httpx.AsyncClient, request: httpx.Request, **how: Any) -> httpx.Response:
        responses = _heard.get()
        if responses is None:  # not one of our requests
            return await send(client, request, **how)
        response = await send(client, request, **{**how, "follow_redirects": False})
        responses.append(response)
        return response

    httpx.AsyncClient.send = heard  # pyright: ignore[reportAttributeAccessIssue]


def _sent(heard: Sequence[Any]) -> Mapping[str, Any]:
    """Return the body of the provider's reply; empty if it is missing or not an object."""
    try:
        body = load_json(heard[-1].content)[0] if heard and heard[-1].status_code == _OK else None
    except (Fault, RuntimeError):  # no JSON, or not read to its end
        body = None
    return cast("Mapping[str, Any]", body) if isinstance(body, Mapping) else {}


def import_litellm() -> Any:
    """Import litellm and set it up, once."""
    with _importing:
        return _imported()


@functools.cache
def _imported() -> Any:
    # Read at import: without them it fetches its price table and loads ./.env.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    # litellm's types cause pydantic warnings that users can't fix.
    warnings.filterwarnings("ignore", message="Item '.*' on TypedDict class", category=UserWarning)
    import litellm  # slow to import, and only some runs need it

    _hear_responses()
    library = cast("Any", litellm)
    library.telemetry = False
    library.suppress_debug_info = True
    library.drop_params = False
    library.modify_params = False
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # it logs requests; every fault is recorded here
    return library


async def _read_stream(stream: Any, reply: StreamedReply) -> Reply:
    """Read a streamed reply.

    Texts are from litellm's chunks. Finish reason and usage are the provider's, as litellm adds its own in
    the last chunks if they are missing.
    """
    failed = False
    try:
        async for chunk in cast("AsyncIterator[Any]", stream):
            body = _plain(chunk)
            body.pop("usage", None)
            for choice in body.get("choices") or ():
                choice.pop("finish_reason", None)
            reply.feed(body)
    except Fault:
        raise
    except Exception as error:
        # It raises at the end of a stream without a finish reason, which is handled elsewhere. Errors after
        # the end of the reply, such as odd counts, lose no text.
        ended = any(isinstance(cause, StopAsyncIteration) for cause in _causes(error))
        failed = "finish_reason: error" in str(error)  # it also raises at that finish reason
        if not ended and not failed and not getattr(stream, "received_finish_reason", None):
            raise
        if not ended:
            reply.remark(f"what followed the reply's end could not be read: {type(error).__name__}")
    given = (getattr(stream, name, None) for name in ("received_finish_reason", "intermittent_finish_reason"))
    finish = "error" if failed else next(filter(None, given), None)
    usages = [usage for part in getattr(stream, "chunks", ()) if (usage := getattr(part, "usage", None))]
    reply.feed(
        {
            "choices": [{"index": 0, "finish_reason": finish}],
            "usage": _usage(_plain(usages[-1])) if usages else None,
        }
    )
    return reply.end()


def _plain(value: Any) -> dict[str, Any]:
    return value.model_dump(warnings=False) if hasattr(value, "model_dump") else dict(value)


def _native(body: dict[str, Any], sent: Mapping[str, Any]) -> Mapping[str, Any]:
    """Restore finish reasons and counts in litellm's `body` from the provider's own, empty if unknown."""
    own = next((_first(sent, name) for name in ("choices", "candidates") if name in sent), sent)
    for choice in body.get("choices") or ():
        fields: dict[str, Any] = choice.get("provider_specific_fields") or {}
        native = fields.get("native_finish_reason")
        if choice.get("finish_reason") == "content_filter":
            continue  # litellm's mapping of refusals is kept
        # litellm's `stop` includes "error", "network_error" and "MALFORMED_RESPONSE".
        choice["finish_reason"] = native or choice.get("finish_reason")
        said = [own[name] for name in _FINISH if name in own]
        if not any(said) and (said or own is not sent):
            choice["finish_reason"] = None
        elif "choices" in sent:
            choice["finish_reason"] = own.get("finish_reason")
    if "choices" in sent:  # the same format, before litellm
        for choice in (body.get("choices") or ())[:1]:
            own = {**own, "finish_reason": choice.get("finish_reason")}
        return {**sent, "choices": [own]}
    return {**body, "usage": _usage(body.get("usage") or {})}


def _first(sent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    items = sent[name]
    first = cast("list[object]", items)[0] if isinstance(items, list) and items else None
    return cast("Mapping[str, Any]", first) if isinstance(first, Mapping) else {}


def _usage(usage: dict[str, Any]) -> dict[str, Any] | None:
    """Return the counts; None if all are 0, which litellm gives if the provider sent none."""
    return usage if usage.get("total_tokens") else None


def _answered(heard: Sequence[Any], error: Exception) -> Fault | None:
    """Return the fault of a response that litellm misinterprets; None for any other."""
    answer = heard[-1] if heard else None
    if answer is not None and (answer.is_redirect or answer.status_code == _TIMED_OUT):
        moved = f"moved to {answer.headers['Location']}" if answer.is_redirect else str(error)
        return error_fault(answer.status_code, None, moved, retry_after_s(answer.headers))
    if answer is not None and answer.status_code == _OK and hasattr(answer, "_content"):  # complete
        return Fault(FaultKind.reply, f"{type(error).__name__}: {error}", raw=escaped(answer.text))
    return None


def _raised(library: Any, error: Exception) -> Fault:
    detail = f"{type(error).__name__}: {error}"
    if isinstance(error, library.UnsupportedParamsError):
        return Fault(FaultKind.parameter, detail)
    if any(type(cause).__name__ in _NEVER_CONNECTED for cause in _causes(error)):
        return Fault(FaultKind.connect, detail)
    if isinstance(error, library.Timeout):
        return Fault(FaultKind.timeout, detail)
    headers: Any = getattr(error, "litellm_response_headers", None)
    status: Any = getattr(error, "status_code", None)
    if headers is None or not isinstance(status, int):
        # No response: litellm wraps broken connections as 500 and invalid requests as 400.
        refused = isinstance(error, library.BadRequestError)
        return Fault(FaultKind.parameter if refused else FaultKind.connection, detail)
    if isinstance(error, library.APIConnectionError):
        return Fault(FaultKind.reply, detail)  # a response that it could not read
    body: object = getattr(error, "body", None)
    fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    code: Any = fields.get("code") or getattr(error, "code", None) or fields.get("type") or ""
    if isinstance(error, library.ContentPolicyViolationError):
        code = "content_filter"
    return error_fault(status, {"message": detail, "code": str(code)}, detail, retry_after_s(dict(headers)))


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__
