"""The tables and figures of a paper, made from one table of verdicts and one of briefs.

`Results` holds the tables. `TABLES` and `FIGURES` are pure functions of it, by file name; `render` and
`draw` turn what they return into files.
"""

from flows.stages.paper.figures import FIGURES
from flows.stages.paper.figures.figure import FIGURE_ENDINGS, Figure, draw
from flows.stages.paper.results import (
    BRIEF_COLUMNS,
    LABEL_COLUMNS,
    REPEAT_COLUMNS,
    SOURCE_COLUMNS,
    TASK_COLUMNS,
    VERDICT_COLUMNS,
    NotEnoughError,
    Results,
)
from flows.stages.paper.table import TABLE_ENDINGS, Column, Table, cells, render
from flows.stages.paper.tables import LABEL_TABLES, TABLES

__all__ = [
    "BRIEF_COLUMNS",
    "FIGURES",
    "FIGURE_ENDINGS",
    "LABEL_COLUMNS",
    "LABEL_TABLES",
    "REPEAT_COLUMNS",
    "SOURCE_COLUMNS",
    "TABLES",
    "TABLE_ENDINGS",
    "TASK_COLUMNS",
    "VERDICT_COLUMNS",
    "Column",
    "Figure",
    "NotEnoughError",
    "Results",
    "Table",
    "cells",
    "draw",
    "render",
]
