"""Faults that reading a tree names."""

import pytest

from flows.adapters.task_trees.tree import read_task
from flows.common.errors import Problems


def faults(tree):
    with pytest.raises(Problems) as caught:
        read_task(tree.root)
    return caught.value.lines


def one_fault(tree, *words):
    lines = faults(tree)
    assert len(lines) == 1, lines
    for word in words:
        assert word in lines[0], lines[0]
