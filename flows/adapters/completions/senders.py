"""The sender of each transport, imported with its first call: whoever only replays waits for no library."""

from __future__ import annotations

from flows.adapters.completions.tries import Sender
from flows.schema.settings import RunnerSettings, Transport


def new_sender(transport: Transport, runner: RunnerSettings) -> Sender:
    """A sender; it belongs to the event loop that first uses it."""
    match transport:
        case Transport.litellm:
            from flows.adapters.completions.send_litellm import LiteLLMSender

            return LiteLLMSender(runner)
        case Transport.gguf:
            from flows.adapters.completions.send_gguf import GGUFSender

            return GGUFSender(runner)
        case Transport.openai_http:
            from flows.adapters.completions.send_openai import OpenAISender

            return OpenAISender(runner)
