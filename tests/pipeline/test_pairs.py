"""A judge behind an endpoint, measured on the labelled pairs."""

import json
import shutil

import pytest

from flows.adapters.config.compose import compose_points
from flows.pipeline.commands.agreement import remote_pairs_agreement
from tests.support.bench import ITEM, remote
from tests.support.scripted_server import Say, ScriptedServer


@pytest.fixture
def folder(tmp_path, project):
    (tmp_path / "conf").symlink_to(project / "conf")
    shutil.copytree(project / "data" / "judge_pairs", tmp_path / "data" / "judge_pairs")
    return tmp_path


def measured(folder, server, *more):
    (point,) = compose_points(folder, remote(server, *more), multirun=False)
    return remote_pairs_agreement(folder, point.settings)


def test_a_judge_that_passes_everything_is_right_on_half_the_pairs_and_pays_once(folder):
    def passes_all(call):
        return Say(json.dumps({"items": len(ITEM.findall(call.prompt)), "failed": []}))

    with ScriptedServer(passes_all) as server:
        ((judge, found),) = measured(folder, server)
        assert (judge, found.n, found.n_ungraded) == ("judge-1", 30, 0)
        assert found.accuracy == 0.5  # half of the labels are passes
        assert found.kappa is None  # it never varies
        assert len(server.billed) == 3  # one call for each of the three briefs
        measured(folder, server)
        assert len(server.billed) == 3


def test_what_a_judge_leaves_without_a_verdict_is_counted_apart(folder):
    with ScriptedServer(lambda call: Say("no JSON")) as server:
        ((_, found),) = measured(folder, server, "judge.max_attempts=2")
        assert (found.n, found.n_ungraded, found.accuracy) == (0, 30, None)


def test_the_offline_judge_asks_nobody(folder):
    (point,) = compose_points(folder, [], multirun=False)
    assert remote_pairs_agreement(folder, point.settings) == []


def test_a_project_without_pairs_measures_the_controls_alone(bench):
    done = bench("agreement")
    assert (done.code, done.err) == (0, "")
    assert "offline against labelled controls" in done.out
    folder = bench.folder / "data" / "judge_pairs"
    folder.mkdir()
    done = bench("agreement")
    assert done.code == 1
    assert "split.yaml: can't be read (No such file or directory); expected labelled pairs" in done.err
