"""JSON that others wrote, read by the letter of the standard."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any


def strict_json(
    text: str, twice: Callable[[list[str]], Exception], no_number: Callable[[str], Exception]
) -> Any:
    """Parse JSON, refusing what the standard library would take: a key twice in an object, and NaN.

    `twice` makes the error for keys that one object has more than once, `no_number` that for such a word.

    Raises:
        ValueError, RecursionError: it is not JSON, or nested too deeply.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise twice([key for key, count in Counter(key for key, _ in pairs).items() if count > 1])
        return found

    def refuse(name: str) -> Any:
        raise no_number(name)

    return json.loads(text, object_pairs_hook=once, parse_constant=refuse)
