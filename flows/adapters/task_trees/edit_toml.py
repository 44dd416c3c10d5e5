"""Add what a verifier needs to a `task.toml` that others wrote, and leave the rest of its text as it is."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any, cast

_SECTION = re.compile(r"^[ \t]*\[verifier\.env\][ \t]*(?:#.*)?$", re.MULTILINE)


def with_artifact(text: str, path: str) -> tuple[str, bool]:
    """Let Harbor keep a file of the sandbox.

    Returns:
        The text, and whether the file is among its artifacts now: a list of others is not touched.
    """
    kept = _parsed(text).get("artifacts")
    if kept is not None:
        return text, isinstance(kept, list) and path in kept
    return f'artifacts = ["{path}"]\n{text}', True


def with_variables(text: str, names: Sequence[str]) -> tuple[str, list[str]]:
    """Pass environment variables to the verifier, empty where they are not set.

    Returns:
        The text, and the names that it still does not pass.
    """
    verifier: Any = _parsed(text).get("verifier", {})
    env = cast("dict[str, Any]", verifier).get("env") if isinstance(verifier, dict) else None
    passed = cast("dict[str, Any]", env) if isinstance(env, dict) else {}
    missing = [name for name in names if name not in passed]
    if not missing:
        return text, []
    lines = "".join(f'\n{name} = "${{{name}:-}}"' for name in missing)
    header = _SECTION.search(text)
    if header is not None:
        changed = text[: header.end()] + lines + text[header.end() :]
    else:
        changed = f"{text.rstrip()}\n\n[verifier.env]{lines}\n"
    try:
        tomllib.loads(changed)
    except tomllib.TOMLDecodeError:  # such as an inline table
        return text, missing
    return changed, []


def _parsed(text: str) -> dict[str, Any]:
    return tomllib.loads(text)
