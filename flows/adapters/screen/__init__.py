"""Terminal output of a run: progress, tables and notes."""

from flows.adapters.screen.layout import fitting_widths, wrapped
from flows.adapters.screen.progress import CallCounts, Progress, calls_text, clock
from flows.adapters.screen.terminal import Screen, literal

__all__ = ["CallCounts", "Progress", "Screen", "calls_text", "clock", "fitting_widths", "literal", "wrapped"]
