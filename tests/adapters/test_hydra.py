"""What of Hydra works, row by row of docs/reference/hydra.md."""

import os
import subprocess
import sys

import pytest
from omegaconf import OmegaConf

from flows.__main__ import main
from flows.adapters.config.compose import compose_points
from flows.adapters.config.sources import as_overrides
from flows.common.errors import Problems, StaffbenchError


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Options of one's own, outside the project, in a folder and in a package."""
    folder = tmp_path / "own options"
    texts = {
        "own options/model/quick.yaml": "# Mine.\ndefaults: [extractive]\nlabel: quick\n",
        "own options/experiment/mine/a.yaml": "# @package _global_\nseeds: 2\n",
        "own options/experiment/b.yaml": "# @package _global_\ndefaults: [{override /model: quick}]\n",
        "own options/experiment/unread.yaml": "# @package _global_\nhydra: {run: {dir: x}}\n",
        "own options/mine.yaml": (
            "defaults: [config, {optional absent: x}, {override model: quick}, _self_]\n"
            "model: {note: mine}\n"
            "hydra: {searchpath: ['pkg://own_options.conf'], sweeper: {params: {word_cap: '500,1000'}}}\n"
        ),
        "own_options/__init__.py": "",
        "own_options/conf/__init__.py": "",
        "own_options/conf/model/packed.yaml": "defaults: [extractive]\nlabel: packed\n",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def labels(project, *overrides, multirun=False):
    points = compose_points(project, overrides, multirun=multirun)
    return [
        (point.settings.model.label, point.settings.word_cap.words, point.settings.seeds) for point in points
    ]


def refusal(project, *overrides, multirun=False):
    with pytest.raises(StaffbenchError) as raised:
        compose_points(project, overrides, multirun=multirun)
    return str(raised.value)


@pytest.mark.parametrize(
    ("flags", "shown"),
    [
        (["--cfg", "job", "word_cap=500"], "word_cap:\n  words: 500\n"),
        (["-c", "hydra"], "hydra:\n  run:\n"),
        (["--cfg", "all"], "harness:\n  name: single_prompt\n"),
        (["--cfg", "job", "-p", "word_cap"], "# @package word_cap\nwords: 3000\n"),
        (["--cfg", "job", "-p", "effort"], "level: ${model.benchmark_effort}\n"),
        (["--cfg", "job", "-p", "effort", "--resolve"], "level: default\n"),
        (["--cfg", "job", "-p", "benchmark", "benchmark.data=/tmp/of_mine"], "name: of_mine\n"),
    ],
)
def test_a_configuration_is_shown_by_hydra(project, monkeypatch, capsys, flags, shown):
    monkeypatch.chdir(project)
    assert main(["run", *flags]) == 0
    assert shown in capsys.readouterr().out


def test_how_it_was_composed_is_shown_by_hydra(project):
    # In a process of its own, since Hydra sets up logging to write it.
    shown = {
        "--info searchpath": "| main ",
        "--info defaults": "| model/extractive ",
        "--info defaults-tree": "  model: extractive",
        "-i": "BasicSweeper",
        "--hydra-help": "hydra/launcher: basic\n",
    }
    lines = [f"print(main(['run', *{flags!r}.split()]), '====')" for flags in shown]
    code = "\n".join(["from flows.__main__ import main", *lines])
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=300, check=False)
    parts = done.stdout.split("0 ====")
    for flags, part in zip(shown, parts, strict=False):
        assert shown[flags] in part, flags + done.stderr
    assert len(parts) == len(shown) + 1


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--resolve"], "--resolve: has no effect; expected --cfg job beside it"),
        (["--cfg", "job", "-p", "nothing"], "package 'nothing' not found in config"),
        (["--cfg", "job", "-m"], "--cfg: can't be combined with --multirun"),
        (["--config-dir", "/nowhere"], "--config-dir /nowhere: no such folder"),
        (["--config-name", "nowhere"], "--config-name nowhere: not there; expected a file in conf/"),
        (["--cfg", "job", "model=extractve"], "no option 'extractve'; expected extractive"),
    ],
)
def test_flags_that_do_not_fit_are_refused(project, monkeypatch, capsys, flags, said):
    monkeypatch.chdir(project)
    assert main(["run", *flags]) == 2
    assert said in capsys.readouterr().err


def test_options_of_ones_own_are_chosen_from_a_folder_and_a_package(project, own):
    path = as_overrides([str(own)], None)
    assert labels(project, *path, "model=quick") == [("quick", 3000, 3)]
    assert labels(project, *path, "+experiment=mine/a") == [("extractive", 3000, 2)]
    assert labels(project, "hydra.searchpath=[pkg://own_options.conf]", "model=packed")[0][0] == "packed"
    assert labels(project, f'hydra.searchpath=["file://{own}",pkg://own_options.conf]', "model=packed")[0]
    assert "no option 'quick'" in refusal(project, "model=quick")


def test_a_primary_configuration_of_ones_own_is_a_condition_of_its_own(project, own):
    named = as_overrides([str(own)], "mine.yaml")
    assert labels(project, *named, multirun=True) == [("quick", 500, 3), ("quick", 1000, 3)]
    assert labels(project, *named, "hydra.mode=RUN") == [("quick", 3000, 3)]
    assert labels(project, *named, "model=packed", "hydra.mode=RUN") == [("packed", 3000, 3)]
    (point,) = compose_points(project, [*named, "hydra.mode=RUN"], multirun=False)
    assert "model.note" in point.changed


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["hydra.searchpath=[file:///nowhere]"], "file:///nowhere: not there; expected a folder"),
        (
            ["hydra.searchpath=[pkg://nowhere]"],
            "pkg://nowhere: not there; expected a package with __init__.py",
        ),
        (["hydra.searchpath=file:///nowhere"], "no list of folders"),
        (["hydra/launcher=joblib"], "has no effect: a sweep runs in this process"),
        (["hydra.run.dir=x"], "expected hydra.mode=MULTIRUN or hydra.searchpath=[...]"),
        (["+experiment=unread"], "hydra.run.dir: has no effect"),
        (["seeds=${oc.env:UNSET_HERE}"], "${oc.env:UNSET_HERE}: not set in the environment"),
        (["model.note=${oc.env:SOME_API_KEY}"], "looks like a secret"),
        (['model.note="${oc.decode:${oc.env:SOME_API_KEY}}"'], "looks like a secret"),
        (["model.note=${oc.env:INNOCENT}"], "looks like a secret"),
        (["~model"], "an axis can't be removed"),
    ],
)
def test_what_would_change_nothing_or_store_a_secret_is_refused(project, own, monkeypatch, overrides, said):
    monkeypatch.setenv("SOME_API_KEY", "abc")
    monkeypatch.setenv("INNOCENT", "abcdefghij0123456789abcdefghij0123456789")
    text = refusal(project, *as_overrides([str(own)], None), *overrides)
    assert said in text
    assert "abcdefghij" not in text


def test_every_unknown_option_and_key_of_a_command_is_named(project):
    with pytest.raises(Problems) as caught:
        compose_points(project, ["model=strnog", "seeds=1", "sedes=2", "~judge"], multirun=False)
    assert [line.partition(":")[0] for line in caught.value.lines] == ["model=strnog", "sedes=2", "~judge"]
    assert caught.value.exit_code == 2


def test_an_option_that_is_hidden_by_one_of_conf_is_refused(project, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "extractive.yaml").write_text("defaults: [empty]\n")
    assert "extractive.yaml: has no effect" in refusal(project, *as_overrides([str(tmp_path)], None))


def test_the_environment_is_read_and_omegaconfs_own_resolver_is_left_as_it_was(project, monkeypatch):
    monkeypatch.setenv("REPEATS", "2")
    monkeypatch.setenv("SOME_API_KEY", "abc")
    assert labels(project, 'seeds="${oc.decode:${oc.env:REPEATS}}"')[0][2] == 2
    assert labels(project, "results=${oc.env:UNSET_HERE,elsewhere}")
    assert OmegaConf.create({"key": "${oc.env:SOME_API_KEY}"}).key == os.environ["SOME_API_KEY"]


@pytest.mark.parametrize(
    ("overrides", "multirun", "found"),
    [
        (["model=weak,strong"], True, ["weak", "strong"]),
        (["model=choice(weak,strong)"], True, ["weak", "strong"]),
        (["hydra.mode=MULTIRUN", "model=weak,strong"], False, ["weak", "strong"]),
        (
            ["model=glob(*,exclude=[a*,b*,c*,d*,e*,f*,g*,h*,l*,m*,o*,q*,v*,x*])"],
            True,
            ["SmolLM2-135M", "strong", "weak"],
        ),
        (["+experiment=baselines"], False, ["strong", "extractive", "weak", "empty"]),
        (["+experiment=baselines", "model=weak"], False, ["weak"]),
        (["+experiment=baselines", "hydra.mode=RUN"], False, ["extractive"]),
        (["word_cap=range(500,1001,500)"], True, ["extractive", "extractive"]),
    ],
)
def test_a_sweep_is_written_as_hydra_takes_it(project, overrides, multirun, found):
    assert [label for label, *_ in labels(project, *overrides, multirun=multirun)] == found


@pytest.mark.parametrize(
    ("overrides", "multirun", "said"),
    [
        (["model=weak,strong"], False, "a list of values without -m"),
        (["model=glob(none*)"], True, "no option is named like that"),
        (["seeds=interval(0,1)"], True, "does not support sweep type"),
        (["+experiment=baselines,effort"], True, "a grid in a list of experiments"),
    ],
)
def test_a_sweep_that_can_not_be_is_refused(project, overrides, multirun, said):
    assert said in refusal(project, *overrides, multirun=multirun)


def test_experiments_of_ones_own_are_swept_over(project, own):
    path = as_overrides([str(own)], None)
    assert labels(project, *path, "+experiment=mine/a,b", multirun=True) == [
        ("extractive", 3000, 2),
        ("quick", 3000, 3),
    ]
