"""Judges that fail chosen items, and the verdicts that a run keeps of them."""

import json

import pyarrow.parquet as pq

from tests.support.bench import ITEM
from tests.support.scripted_server import Say

MODES = {"cholera": "committed"}
"""How an item fails, by its id; every other one by omission."""


def failing(call, *items):
    """A judge's reply that fails `items`."""
    listed = [
        {"id": i, "mode": MODES.get(i, "omission"), "reason": f"{call.body['model']} on {i}"} for i in items
    ]
    return Say(json.dumps({"items": len(ITEM.findall(call.prompt)), "failed": listed}))


def verdicts(project, judge):
    """Item to passed, and item to reason, of one judge's file."""
    (path,) = [
        p for p in (project.results / "ma_bench" / "verdicts").rglob("*.parquet") if p.name.startswith(judge)
    ]
    rows = pq.read_table(path).to_pylist()
    return {row["item_id"]: row["passed"] for row in rows}, {row["item_id"]: row["reason"] for row in rows}
