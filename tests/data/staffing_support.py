"""Files and reports of the tasks sb-aar-04 and sb-psr-01."""

import openpyxl

from tests.support.report_tasks import golden, text, tree

AAR, PSR = "sb-aar-04", "sb-psr-01"


def attachments(task_id):
    return tree(task_id) / "steps" / "answer" / "workdir" / "attachments"


def book(task_id, name, sheet, first_row):
    path = attachments(task_id) / name
    rows = openpyxl.load_workbook(path, data_only=True)[sheet].iter_rows(first_row, values_only=True)
    return [row for row in rows if row[1] is not None]


def report(task_id):
    return text(golden(task_id))
