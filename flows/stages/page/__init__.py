"""Self-contained HTML pages: no requests, no libraries, readable without scripts.

Text by models, judges and rubric authors is untrusted: it is escaped, invisible characters are made
visible, and every page has a Content-Security-Policy as a second line of defence.
"""

from flows.stages.page.attempt import attempt_page, attempt_path
from flows.stages.page.brief import brief_page
from flows.stages.page.condition import Group, brief_file, condition_page
from flows.stages.page.index import index_page
from flows.stages.page.markup import address
from flows.stages.page.matrix import MatrixColumn, matrix_page
from flows.stages.page.rubric import rubric_page
from flows.stages.page.wording import Wording, wording

__all__ = [
    "Group",
    "MatrixColumn",
    "Wording",
    "address",
    "attempt_page",
    "attempt_path",
    "brief_file",
    "brief_page",
    "condition_page",
    "index_page",
    "matrix_page",
    "rubric_page",
    "wording",
]
