"""Locks that parts of the project share which don't know of one another."""

from __future__ import annotations

import threading

PDFIUM = threading.Lock()
"""Held by whoever calls PDFium: it is not safe to call from several threads."""
