"""Time and memory of the tables of many verdicts, in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paper_scale import OVERLOOKED, TIER_RATES

ROOT = Path(__file__).parents[3]


def made(*sizes):
    command = [sys.executable, "-m", "tests.support.paper_scale", *map(str, sizes)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def check(found):
    for tier, rate in TIER_RATES.items():
        assert found["tiers"][str(tier)] == pytest.approx(rate, abs=0.01)
    # The lenient judge passes a fifth of what the other fails; wrong moves fail with the rate of their tier.
    mean = sum(TIER_RATES.values()) / 3
    assert found["agreement"] == pytest.approx(1 - OVERLOOKED * (1 - mean), abs=0.01)
    assert found["first"] == "model-00-medium-3000-v0"
    assert found["lost"] == pytest.approx(1 - found["score"])
    assert {"items", "comparisons", "variance", "weights-grid", "table-12-scores-by-judge"} <= set(
        found["tables"]
    )


def test_a_tenth_of_a_million_verdicts_take_seconds():
    found = made(10, 10, 5)
    assert found["rows"] == 10 * 10 * 5 * 126 * 2
    check(found)
    assert found["seconds"] < 60  # some 4 s of CPU here
    assert found["peak"] < 1e9


@pytest.mark.slow
def test_seven_and_a_half_million_take_less_than_a_minute_and_bounded_memory():
    small, large = made(10, 10, 5), made(40, 50, 15)
    assert large["rows"] == 7_560_000
    check(large)
    assert large["peak"] < 4e9
    # A machine may be slower than a minute allows, but no table may be quadratic.
    assert large["seconds"] < 60 * max(1.0, small["seconds"] / 4)
