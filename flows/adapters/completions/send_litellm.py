"""Every other provider, by way of litellm: one try, no retry, nothing dropped.

What was found by running litellm 1.110, and is undone here: it turns a finish reason that it does not
know, and a missing one, into `stop`; it reports an endpoint's error and a stream without a single
chunk as a reply; it counts tokens itself where the provider did not, or gives 0; it wraps a connection
that never came about into an HTTP 500; it appends Gemini's signatures to the ids of tool calls; its clients
follow redirects, with the prompt. Not
undone: a chunk of a stream that holds nothing but `reasoning_details`, as OpenRouter sends them where a
host encrypts its reasoning, does not get through it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import warnings
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, cast

from flows.adapters.completions.faults import Fault, FaultKind, error_fault, retry_after_s
from flows.adapters.completions.fields import escaped, load_json
from flows.adapters.completions.reply import Reply, StreamedReply, read_completion
from flows.adapters.completions.turns import chat_messages, offers_tools
from flows.schema.completion import Request
from flows.schema.settings import RunnerSettings

_NEVER_CONNECTED = frozenset(
    {"ConnectError", "ConnectTimeout", "ClientConnectorError", "ClientConnectorDNSError"}
)

_OK = 200
_TIMED_OUT = 408

_FINISH = ("finish_reason", "finish_details", "finishReason", "stop_reason", "stopReason")
"""Where OpenAI's, Gemini's, Anthropic's and Bedrock's forms have it. Elsewhere a missing one goes unseen."""

_heard: ContextVar[list[Any] | None] = ContextVar("heard", default=None)
"""Responses of the call that is being made; None outside of one."""

_SIGNATURE = "__thought__"  # between a call's id and its signature, which may have thousands of characters


class LiteLLMSender:
    """Sends requests through litellm, which is imported with the first one. Belongs to one event loop."""

    def __init__(self, runner: RunnerSettings) -> None:
        self._runner = runner
        self._library: Any = None
        self._importing = asyncio.Lock()

    async def send(
        self, request: Request, key: str | None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Make one try.

        Args:
            request: what to send; its parameters are litellm's, and are passed as they are.
            key: of the provider; None where litellm finds its credentials itself.
            headers: further ones; None for none.

        Raises:
            Fault: there is no completion.
        """
        library = await self._import()
        heard: list[Any] = []
        _heard.set(heard)
        fault: Fault
        # Raised after its cause was let go: litellm's errors hold the request, with its headers.
        try:
            async with asyncio.timeout(self._runner.total_timeout_s):
                return await self._send(library, request, key, headers or {}, heard)
        except Fault as raised:
            fault = raised
            heard.clear()
        except TimeoutError:
            fault = Fault(FaultKind.timeout, f"not done within {self._runner.total_timeout_s:g} s")
        except Exception as error:  # noqa: BLE001 -- litellm raises what its many providers' code raises
            fault = _fault(library, error, heard)
        if "choices" in (sent := _sent(heard)):
            # A reply that the protocol has and litellm's types have not, such as odd counts in it.
            return read_completion(sent, tools=offers_tools(request))
        raise fault

    async def aclose(self) -> None:
        """Close litellm's connections."""
        if self._library is not None:
            await self._library.close_litellm_async_clients()

    async def _send(
        self,
        library: Any,
        request: Request,
        key: str | None,
        headers: Mapping[str, str],
        heard: Sequence[Any],
    ) -> Reply:
        import httpx  # slow to import, and only litellm needs it

        runner = self._runner
        credentials: dict[str, Any] = {} if key is None else {"api_key": key}
        credentials |= {"extra_headers": dict(headers)} if headers else {}
        address = {} if request.api_base is None else {"api_base": request.api_base}
        response = await library.acompletion(
            model=request.model,
            messages=chat_messages(request.messages),
            timeout=httpx.Timeout(
                runner.total_timeout_s, connect=runner.connect_timeout_s, read=runner.idle_timeout_s
            ),
            max_retries=0,
            **credentials,
            **address,
            **request.parameters,
        )
        if request.parameters.get("stream"):
            return _short_ids(await _read_stream(response, StreamedReply(tools=offers_tools(request))))
        return _short_ids(
            read_completion(_native(_plain(response), _sent(heard)), tools=offers_tools(request))
        )

    async def _import(self) -> Any:
        async with self._importing:
            if self._library is None:
                # Importing takes seconds; the calls of other providers go on meanwhile.
                self._library = await asyncio.to_thread(_import_litellm)
        return self._library


def _hear_responses() -> None:
    """Let no request of a call of ours be redirected, and keep its response as the provider sent it.

    litellm opens clients of several kinds in many places; all of them send here.
    """
    import httpx

    send: Any = httpx.AsyncClient.send

    async def heard(client: httpx.AsyncClient, request: httpx.Request, **how: Any) -> httpx.Response:
        responses = _heard.get()
        if responses is None:  # someone else's request
            return await send(client, request, **how)
        response = await send(client, request, **{**how, "follow_redirects": False})
        responses.append(response)
        return response

    httpx.AsyncClient.send = heard  # pyright: ignore[reportAttributeAccessIssue]


def _sent(heard: Sequence[Any]) -> Mapping[str, Any]:
    """The body of the provider's reply; empty where there is none, or no object."""
    try:
        body = load_json(heard[-1].content)[0] if heard and heard[-1].status_code == _OK else None
    except (Fault, RuntimeError):  # no JSON, or not read to its end
        body = None
    return cast("Mapping[str, Any]", body) if isinstance(body, Mapping) else {}


def _import_litellm() -> Any:
    # Both are read at import: without them it fetches its price table and loads ./.env.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    # Its own types make pydantic warn, about nothing that a person could do.
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
    """A streamed reply.

    Its chunks' text is litellm's. Finish reason and usage are taken from what the provider sent: in
    the last chunks litellm puts its own where there are none.
    """
    failed = False
    try:
        async for chunk in cast("AsyncIterator[Any]", stream):
            body = _plain(chunk)
            body.pop("usage", None)
            for choice in _choices(body):
                choice.pop("finish_reason", None)
            reply.feed(body)
    except Fault:
        raise
    except Exception as error:
        # It raises at the end of a stream without a finish reason: what that is, is decided elsewhere. What
        # breaks after the reply's end, such as odd counts, costs no text.
        ended = any(isinstance(cause, StopAsyncIteration) for cause in _causes(error))
        failed = "finish_reason: error" in str(error)  # it raises at that word, too
        if not ended and not failed and not getattr(stream, "received_finish_reason", None):
            raise
        if not ended:
            reply.remark(f"what followed the reply's end could not be read: {type(error).__name__}")
    finish = getattr(stream, "received_finish_reason", None) or getattr(
        stream, "intermittent_finish_reason", None
    )
    finish = "error" if failed else finish
    usages = [usage for part in getattr(stream, "chunks", ()) if (usage := getattr(part, "usage", None))]
    reply.feed(
        {
            "choices": [{"index": 0, "finish_reason": finish}],
            "usage": _usage(_plain(usages[-1])) if usages else None,
        }
    )
    return reply.end()


def _plain(value: Any) -> dict[str, Any]:
    """A litellm object as plain JSON values."""
    return value.model_dump(warnings=False) if hasattr(value, "model_dump") else dict(value)


def _choices(body: dict[str, Any]) -> list[dict[str, Any]]:
    return body.get("choices") or []


def _native(body: dict[str, Any], sent: Mapping[str, Any]) -> Mapping[str, Any]:
    """A whole reply with the provider's words and counts, where litellm put its own.

    Args:
        body: litellm's.
        sent: the provider's, in whatever form; empty where unknown.
    """
    own = next((_first(sent, name) for name in ("choices", "candidates") if name in sent), sent)
    for choice in _choices(body):
        fields: dict[str, Any] = choice.get("provider_specific_fields") or {}
        native = fields.get("native_finish_reason")
        if choice.get("finish_reason") == "content_filter":
            continue  # its reading of the many words for a refusal is taken over
        # What it calls `stop` includes "error", "network_error" and "MALFORMED_RESPONSE".
        choice["finish_reason"] = native or choice.get("finish_reason")
        said = [own[name] for name in _FINISH if name in own]
        if not any(said) and (said or own is not sent):
            choice["finish_reason"] = None
        elif "choices" in sent:
            choice["finish_reason"] = own.get("finish_reason")
    if "choices" in sent:  # the same form, before litellm read it
        for choice in _choices(body)[:1]:
            own = {**own, "finish_reason": choice.get("finish_reason")}
        return {**sent, "choices": [own]}
    return {**body, "usage": _usage(body.get("usage") or {})}


def _first(sent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    items = sent[name]
    first = cast("list[object]", items)[0] if isinstance(items, list) and items else None
    return cast("Mapping[str, Any]", first) if isinstance(first, Mapping) else {}


def _short_ids(reply: Reply) -> Reply:
    """Tool calls without the signature that litellm appends to their ids: it is carried beside them."""
    calls = [replace(call, call_id=call.call_id.split(_SIGNATURE)[0]) for call in reply.tool_calls]
    return replace(reply, tool_calls=tuple(calls))


def _usage(usage: dict[str, Any]) -> dict[str, Any] | None:
    """The counts; None where all are 0, which is what litellm gives where the provider said nothing."""
    return usage if usage.get("total_tokens") else None


def _fault(library: Any, error: Exception, heard: Sequence[Any]) -> Fault:
    return _answered(heard, error) or _raised(library, error)


def _answered(heard: Sequence[Any], error: Exception) -> Fault | None:
    """The fault of an answer that litellm takes for another; None for any other."""
    answer = heard[-1] if heard else None
    if answer is not None and (answer.is_redirect or answer.status_code == _TIMED_OUT):
        moved = f"moved to {answer.headers['Location']}" if answer.is_redirect else str(error)
        return error_fault(answer.status_code, None, moved, retry_after_s(answer.headers))
    if answer is not None and answer.status_code == _OK and hasattr(answer, "_content"):  # it came whole
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
        # No response: litellm wraps what broke as a 500. What it refuses to build is a 400.
        refused = isinstance(error, library.BadRequestError)
        return Fault(FaultKind.parameter if refused else FaultKind.connection, detail)
    if isinstance(error, library.APIConnectionError):
        return Fault(FaultKind.reply, detail)  # a response that it could not read
    code = "content_filter" if isinstance(error, library.ContentPolicyViolationError) else _code(error)
    return error_fault(status, {"message": detail, "code": code}, detail, retry_after_s(dict(headers)))


def _code(error: Exception) -> str:
    """The endpoint's word for the fault."""
    body: object = getattr(error, "body", None)
    fields = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    return str(fields.get("code") or getattr(error, "code", None) or fields.get("type") or "")


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__
