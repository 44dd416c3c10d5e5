"""The report as HTML pages, each whole in itself: no request, no library, readable without script.

Everything that a model, a judge or an author of a rubric wrote is hostile: it is escaped, what can't
be seen in it is shown, and a policy in every page forbids what would slip through.
"""

from flows.stages.page.attempt import attempt_page, attempt_path
from flows.stages.page.brief import brief_page
from flows.stages.page.condition import Group, brief_file, condition_page
from flows.stages.page.index import index_page
from flows.stages.page.markup import address
from flows.stages.page.rubric import rubric_page
from flows.stages.page.wording import Wording, wording

__all__ = [
    "Group",
    "Wording",
    "address",
    "attempt_page",
    "attempt_path",
    "brief_file",
    "brief_page",
    "condition_page",
    "index_page",
    "rubric_page",
    "wording",
]
