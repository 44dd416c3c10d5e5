"""What tables show of their rows: the settings that differ, and the few columns that fit a terminal."""

from flows.stages.shown.board import ShownTable, screen_table
from flows.stages.shown.differing import RowSettings, changed_values, differing

__all__ = ["RowSettings", "ShownTable", "changed_values", "differing", "screen_table"]
