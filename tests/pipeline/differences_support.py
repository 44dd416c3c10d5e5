"""Made-up rows of a leaderboard, and what a note says of several versions."""

from flows.pipeline.results.graded import Graded


def versions(what, scenarios, rows):
    """The sentence on rows that were written from different versions of an input."""
    again = "(run the old ones again to compare them)"
    return f"Rows were written from different versions of the {what} of {scenarios} {again}: {rows}"


def row(name, documents=None, assignments=None, prompt=None, *, judge="j", judge_digest="d", **more):
    """A row of one condition; by default on two scenarios, three seeds, and nothing that it was made from."""
    asked = more.pop("completion", None)
    about = {
        "condition": {"label": name, "prompt": "v0"},
        "judge": {"label": judge, "digest": judge_digest},
        "scenarios": ["alder", "birch"],
        "seeds": 3,
        "written_from": {
            "documents": documents or {},
            "assignments": assignments or {},
            "prompt": prompt,
        },
        **more,
    }
    return Graded(about, [{"completion": asked}], [])
