"""What litellm sends for a preset: an endpoint that keeps it, and what is read of it."""

import asyncio
import http.server
import json
import threading
from dataclasses import replace

import pytest

from flows.adapters.completions.faults import Fault
from flows.adapters.completions.senders.send_litellm import LiteLLMSender
from flows.schema.call import build_call
from flows.schema.completion import Message
from flows.schema.settings import RunnerSettings

RUNNER = RunnerSettings(
    concurrency=4,
    requests_per_minute=None,
    tokens_per_minute=None,
    max_attempts=1,
    connect_timeout_s=5,
    idle_timeout_s=20,
    total_timeout_s=30,
    backoff_s=1,
    backoff_max_s=1,
)


class Endpoint:
    """Refuses everything with a 400, and keeps what was sent."""

    def __init__(self):
        bodies = self.bodies = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                reply = b'{"error": {"message": "scripted", "type": "invalid_request_error"}}'
                self.send_response(400)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.base = f"http://127.0.0.1:{self._server.server_port}"

    def arrived(self, request):
        """The body that arrives for a request; a Fault where litellm sends none."""
        self.bodies.clear()
        with pytest.raises(Fault) as fault:
            asyncio.run(_send(replace(request, api_base=self.base)))
        return self.bodies[0] if self.bodies else fault.value

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


async def _send(request):
    sender = LiteLLMSender(RUNNER)
    try:
        await sender.send(request, "a-key-of-nobody")
    finally:
        await sender.aclose()


def effort_in(body):
    """The effort in a request, wherever its provider has it; None where there is none."""
    further = body.get("additionalModelRequestFields", {})
    thinking = body.get("generationConfig", {}).get("thinkingConfig", {})
    found = [
        body.get("reasoning_effort"),
        body.get("output_config", {}).get("effort"),
        thinking.get("thinkingLevel"),
        further.get("reasoningConfig", {}).get("maxReasoningEffort"),
        "none" if body.get("thinking") == {"type": "disabled"} else None,
    ]
    given = [value for value in found if value is not None]
    assert len(given) < 2
    return given[0] if given else None


def limit_in(body):
    """The output limit in a request."""
    found = [
        body.get("max_tokens"),
        body.get("max_completion_tokens"),
        body.get("generationConfig", {}).get("max_output_tokens"),
        body.get("inferenceConfig", {}).get("maxTokens"),
    ]
    return [value for value in found if value is not None]


def request_of(model, effort, **further):
    model = replace(model, parameters={**model.parameters, **further})
    return build_call(model, effort, [Message("user", "hello")], 1, output_tokens=5000)
