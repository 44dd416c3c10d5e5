"""HTML pages that need nothing but the files beside them.

Text by models, judges and rubric authors is untrusted: it is escaped, invisible characters are made
visible, and every page has a Content-Security-Policy as a second line of defence. The libraries that sort
and filter tables and draw charts are `adapters/browser_libraries.py`'s.
"""

from flows.stages.page.attempt import attempt_page, attempt_path
from flows.stages.page.brief import brief_page
from flows.stages.page.compare import (
    briefs_data,
    briefs_page,
    compare_data,
    compare_page,
    items_data,
)
from flows.stages.page.condition import Group, brief_file, compare_fragment, condition_page
from flows.stages.page.document import document_addresses, document_page
from flows.stages.page.index import index_page, paper_page
from flows.stages.page.markup import address
from flows.stages.page.render import Chart, assets
from flows.stages.page.rubric import rubric_data, rubric_page, rubric_script
from flows.stages.page.scenario import MatrixColumn, scenario_page
from flows.stages.page.wording import Wording, wording

__all__ = [
    "Chart",
    "Group",
    "MatrixColumn",
    "Wording",
    "address",
    "assets",
    "attempt_page",
    "attempt_path",
    "brief_file",
    "brief_page",
    "briefs_data",
    "briefs_page",
    "compare_data",
    "compare_fragment",
    "compare_page",
    "condition_page",
    "document_addresses",
    "document_page",
    "index_page",
    "items_data",
    "paper_page",
    "rubric_data",
    "rubric_page",
    "rubric_script",
    "scenario_page",
    "wording",
]
