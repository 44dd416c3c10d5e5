"""Office packages with fixed times and a fixed author."""

# Basic: the libraries behind the builders ship no complete types.
# pyright: basic
from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from datetime import datetime

STAMP = datetime(2031, 1, 1)  # noqa: DTZ001 -- Office properties have no time zone
AUTHOR = "staffbench (synthetic)"


def repack(package: bytes, edits: Mapping[str, Callable[[bytes], bytes]] | None = None) -> bytes:
    """The same package with fixed times, and each member named in `edits` passed through its edit.

    Members are not deflated: builds of zlib differ in their output, and git deflates anyway.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            blob = old.read(name)
            if name == "docProps/core.xml":  # openpyxl writes the time of saving, whatever is set
                stamp = rf"\g<1>{STAMP:%Y-%m-%dT%H:%M:%SZ}".encode()
                blob = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", stamp, blob)
            if edits and name in edits:
                blob = edits[name](blob)
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.create_system = 3  # else Windows writes its own
            new.writestr(member, blob)
    return buffer.getvalue()
