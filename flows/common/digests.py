"""SHA-256 digests and canonical JSON."""

import hashlib
import json
from pathlib import Path


def canonical_json(value: object) -> str:
    """Return JSON with sorted keys and no spaces: equal values give equal text. NaN is refused."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def sha256_text(text: str) -> str:
    """Return the SHA-256 of the text's UTF-8 bytes, in hex."""
    return sha256_bytes(text.encode("utf-8"))


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hex. The file is read in chunks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
