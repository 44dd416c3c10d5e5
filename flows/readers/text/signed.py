"""What a signed S/MIME message holds (CMS, RFC 5652), read without checking the signature."""

from __future__ import annotations

import importlib
from typing import Any

ENCRYPTED = "the message is encrypted and can't be read here; get it decrypted"


def content(data: bytes) -> bytes | None:
    """The message inside a signed one; None where it is encrypted, holds none, or is damaged."""
    decoder: Any = importlib.import_module("pyasn1.codec.ber.decoder")
    cms: Any = importlib.import_module("pyasn1_modules.rfc5652")
    error: Any = importlib.import_module("pyasn1.error").PyAsn1Error
    try:
        outer, _ = decoder.decode(data, asn1Spec=cms.ContentInfo())
        if outer["contentType"] != cms.id_signedData:
            return None
        inner, _ = decoder.decode(outer["content"], asn1Spec=cms.SignedData())
        found = inner["encapContentInfo"]["eContent"]
        return bytes(found) if found.hasValue() else None
    except (error, ValueError):
        return None
