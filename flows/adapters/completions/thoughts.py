"""Reasoning that an endpoint sends in the text, in tags, where it belongs in a field of its own."""

from __future__ import annotations

import re

_BLOCK = re.compile(r"\s*<(think|thinking|thought|reasoning)>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
_UNCLOSED = re.compile(r"\s*<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_UNOPENED = re.compile(r"(?:(?!<think>).)*?</think>\s*", re.DOTALL | re.IGNORECASE)


def split_thoughts(text: str) -> tuple[str, str]:
    """What a model thought before its reply, tags included, and the reply.

    Only blocks at the beginning are taken off. One may lack its end, where the output limit came first, and
    its opening tag, which chat templates of DeepSeek and Qwen put into the prompt. JSON has no such block.
    """
    end = 0
    while block := _BLOCK.match(text, end):
        end = block.end()
    if _UNCLOSED.match(text, end):
        end = len(text)
    elif "</think>" in text[end:].lower() and not text[end:].lstrip().startswith(("{", "[", "```")):
        rest = _UNOPENED.match(text, end)
        end = rest.end() if rest else end
    return text[:end], text[end:]
