"""Edit Word reports place by place: fill a template or write a new document.

Reading a report as text is done by `flows.readers`; this package lists what can be edited.
"""

from flows.adapters.report_docx.document import ReportDocument
from flows.adapters.report_docx.model import Block, EditError, Piece, Place

__all__ = ["Block", "EditError", "Piece", "Place", "ReportDocument"]
