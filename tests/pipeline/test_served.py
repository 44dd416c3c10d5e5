"""What a table says of who answered."""

import pytest

from flows.pipeline.results.served import is_other_model


@pytest.mark.parametrize(
    ("asked", "served", "other"),
    [
        ("openai/gpt-4o", "gpt-4o-2024-08-06", False),
        ("gpt-4-0613", "gpt-4", False),
        ("gpt-4", "gpt-4.1", True),
        ("gpt-4o", "gpt-4o-mini", True),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06", True),
        ("claude-opus-5", "claude-opus-5-5", True),
        ("claude-sonnet-5", "claude-sonnet-5-20260101", False),
        ("bedrock/us.anthropic.claude-x-v1:0", "claude-x", False),
        ("mistral-small-latest", "mistral-small-2603", False),
        ("mistral-small-2506", "mistral-small-2603", True),
        ("openrouter/anthropic/claude-x", "Anthropic/Claude-X", False),
        ("deepseek-r1", "deepseek-r1:free", False),
        ("gemini-3", "models/gemini-3-preview-05-20", False),
        ("qwen-7b", "qwen-72b", True),
        ("m", "/models/M.gguf", False),
        ("SmolLM2.Q4_1", "SmolLM2.Q4_1.gguf@sha256:b179c9523d0e", False),
        ("SmolLM2.Q4_1", "SmolLM2.Q8_0.gguf@sha256:b179c9523d0e", True),
        ("mockllm/model", "mockllm", False),
    ],
)
def test_a_date_or_a_provider_makes_no_other_model(asked, served, other):
    assert is_other_model(asked, served) is other
