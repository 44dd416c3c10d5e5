"""Locks shared by otherwise unrelated parts of the project."""

from __future__ import annotations

import threading

PDFIUM = threading.Lock()
"""Hold it while calling PDFium, which is not thread-safe."""
