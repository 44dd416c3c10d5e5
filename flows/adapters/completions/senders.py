"""The sender of each transport, imported at its first call, so that replays import no HTTP library."""

from __future__ import annotations

from flows.adapters.completions.tries import Sender
from flows.schema.settings import RunnerSettings, Transport


def new_sender(transport: Transport, runner: RunnerSettings) -> Sender:
    """Create a sender, for use in one event loop."""
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
