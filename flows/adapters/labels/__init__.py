"""Experts' labels of items of briefs: CSV files, and the workbooks that experts fill in."""

from flows.adapters.labels.files import labels_csv, read_labels
from flows.adapters.labels.sheets import SheetBrief, write_sheet

__all__ = ["SheetBrief", "labels_csv", "read_labels", "write_sheet"]
