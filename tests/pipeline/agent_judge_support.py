"""Reports handed in, and a judge that grades them by a table, in one call or by tools."""

import json

from tests.support.report_bench import a_report
from tests.support.report_endpoint import (
    decided,
    decides,
    judged,
    verdicts,
)

TEXT = "Route Amber is closed until 21 May. A flood is the cause."
MINE = [
    "benchmark=mission_report",
    "model=files",
    "model.folder=mine",
    "benchmark.scenarios=[memo-01]",
    "seeds=1",
]
AGENT = "judge.harness=agent"
TABLE = {
    TEXT: ("C2", "P1"),
    "Route Amber is closed until 21 May.": ("C2",),
    "Route Amber and Route Birch are closed until 21 May.": ("C2", "P2"),
    "Nothing at all is known of any of the routes.": ("C1",),
}
"""What fails in which report, whoever asks in whatever form."""


KINDS = {"C1": "requirement", "C2": "requirement", "P1": "error", "P2": "error"}
GOOD = decided(KINDS, ["C2"])


def hand_in(bench, text, number=1):
    folder = bench.folder / "mine" / "memo-01"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{number}.docx").write_bytes(a_report(text))


def judge(server, *more):
    """The overrides of a judge that is an agent; later ones take precedence."""
    return [*(word for word in judged(server) if not word.startswith("judge.harness")), AGENT, *more]


def by_table(call):
    """A judge's next turn, single or with tools, by what the report says."""
    sent = json.dumps(call.body["messages"])
    failed = max((text for text in TABLE if text in sent), key=len, default=None)
    if "tools" not in call.body:
        return verdicts(call, *TABLE[failed])
    return decides(call, *TABLE.get(failed, ()))


def found(bench, judge_id=""):
    return {row["item_id"]: (row["status"], row["passed"]) for row in bench.rows("verdicts", judge_id)}
