"""Separate reasoning in tags from the text of a reply."""

from __future__ import annotations

import re

_BLOCK = re.compile(r"\s*<(think|thinking|thought|reasoning)>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
_UNCLOSED = re.compile(r"\s*<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_UNOPENED = re.compile(r"(?:(?!<think>).)*?</think>\s*", re.DOTALL | re.IGNORECASE)


def split_thoughts(text: str) -> tuple[str, str]:
    """Split a text into the reasoning before the reply, tags included, and the reply.

    Only blocks at the beginning are split off. One may lack its end, if the output limit was reached, or its
    opening tag, which chat templates of DeepSeek and Qwen put into the prompt. JSON has no such block.
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
