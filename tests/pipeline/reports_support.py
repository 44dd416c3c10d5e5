"""The option that asks for report tasks, and the cells of a table that a command printed."""

REPORTS = ["benchmark=mission_report"]


def cells(text):
    """Rows of the tables on the screen, cell by cell."""
    return [
        [cell.strip() for cell in line.strip("│\n ").split("│")] for line in text.splitlines() if "│" in line
    ]
