"""Word reports, written place by place: fill an organisation's template, or write one from nothing.

Reading a report as text is the readers' work; this package only lists what can be set.
"""

from flows.adapters.report_docx.document import ReportDocument
from flows.adapters.report_docx.model import Block, EditError, Piece, Place

__all__ = ["Block", "EditError", "Piece", "Place", "ReportDocument"]
