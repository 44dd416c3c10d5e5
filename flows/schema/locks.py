"""Locks shared by otherwise unrelated parts of the project."""

import threading

PDFIUM = threading.Lock()
"""Hold it while calling PDFium, which is not thread-safe."""
