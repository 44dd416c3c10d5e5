"""Answer chat requests from one GGUF file: `python -m ... FILE`, FILE as in `find_file`.

Each line of standard input is a request of the OpenAI chat protocol, each line of standard output its reply
or an error, in order. The first line says that it is ready, `{"model": ..., "context_tokens": ...}`, or why
not, `{"error": ...}`. It ends when its standard input is closed, so it never outlives its parent.

Unlike other servers it rejects unknown fields, and prompts that do not fit with their reply.
"""

import os
import sys
import threading
from collections.abc import Mapping
from queue import SimpleQueue
from typing import Any, TextIO

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from flows.adapters.local_server.engine import Engine, Sampling
from flows.adapters.local_server.find import EngineError, find_file


class _Turn(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    role: str
    content: str


class ChatRequest(BaseModel):
    """A chat request with the protocol's defaults.

    Attributes:
        model: ignored, as there is only one.
        messages: the turns.
        max_tokens: maximum tokens of the reply; None for as many as fit.
        temperature, top_p, seed: as in `Sampling`.
        stream, stream_options: ignored: a reply is one line.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    model: str = ""
    messages: list[_Turn] = Field(min_length=1)
    max_tokens: int | None = Field(default=None, gt=0)
    temperature: float = Field(default=1, ge=0, le=2)
    top_p: float = Field(default=1, gt=0, le=1)
    seed: int = Field(default=0, ge=0)
    stream: bool = False
    stream_options: dict[str, bool] = Field(default_factory=dict[str, bool])


def read_request(body: bytes) -> ChatRequest:
    """Parse and validate a request.

    Raises:
        EngineError: it is malformed, or has an unknown or invalid field.
    """
    try:
        return ChatRequest.model_validate_json(body)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        unknown = any(fault["type"] == "extra_forbidden" for fault in faults)
        message = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)
        raise EngineError(message, "unsupported_parameter" if unknown else "invalid_request_error") from error


def answer(engine: Engine, body: bytes) -> dict[str, Any]:
    """Return the reply to a request, or its error, in the protocol's format."""
    try:
        asked = read_request(body)
        prompt = engine.read_messages([(turn.role, turn.content) for turn in asked.messages])
        limit = asked.max_tokens or max(1, engine.context_tokens - len(prompt))
        sampling = Sampling(asked.temperature, asked.top_p, asked.seed)
        text, tokens, ended = engine.write(prompt, limit, sampling)
    except EngineError as error:
        return {"error": {"message": str(error), "code": error.code}}
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop" if ended else "length",
    }
    usage = {"prompt_tokens": len(prompt), "completion_tokens": tokens, "total_tokens": len(prompt) + tokens}
    return {"object": "chat.completion", "model": engine.name, "choices": [choice], "usage": usage}


def _read_lines() -> SimpleQueue[bytes]:
    """Read lines of standard input from now on; its end ends the process."""
    lines = SimpleQueue[bytes]()

    def read() -> None:
        for line in sys.stdin.buffer:
            lines.put(line)
        os._exit(0)  # llama.cpp may be computing a token and can't be stopped

    threading.Thread(target=read, daemon=True).start()
    return lines


def _tell(out: TextIO, value: Mapping[str, Any]) -> None:
    print(orjson.dumps(value).decode(), file=out, flush=True)


def main(place: str) -> int:
    """Serve the file at `place` until standard input ends.

    Returns:
        1 if it can't be served; the printed line says why.
    """
    # Redirect llama.cpp's output to standard error, so that standard output has only our lines.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lines = _read_lines()
    try:
        engine = Engine(find_file(place))
    except EngineError as error:
        _tell(out, {"error": str(error)})
        return 1
    _tell(out, {"model": engine.name, "context_tokens": engine.context_tokens})
    while True:
        _tell(out, answer(engine, lines.get()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
