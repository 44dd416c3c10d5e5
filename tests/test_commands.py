"""What the command line says of itself, and what a shell completes."""

import argparse
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest

from flows import __main__ as command_line
from flows.__main__ import main
from flows.adapters.config.described import AXES, options, overrides_to_complete, sentence, weight_names
from flows.pipeline.commands import COMMANDS, FUNCTIONS
from flows.pipeline.commands.arguments import build_parser
from flows.pipeline.commands.listing import completion_script, conditions_completed
from flows.schema.settings import Retry


@pytest.fixture
def here(project, monkeypatch):
    monkeypatch.chdir(project)
    return project


def test_without_a_command_the_next_step_is_said(capsys):
    assert main([]) == 2
    assert "staffbench run " in capsys.readouterr().err


def test_help_has_every_command_and_examples(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    assert all(f"\n    {name}" in out for name in COMMANDS)
    assert "examples:" in out
    assert "\n    version" not in out  # the former name of track
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("command", ["run", "plan", "grade"])
def test_the_help_of_a_run_ends_with_the_axes(capsys, command):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    out = capsys.readouterr().out
    assert all(f"  {axis} " in out for axis in AXES)


def test_every_axis_of_conf_has_a_sentence(project):
    assert options(project).keys() == AXES.keys()


@pytest.mark.parametrize("word", ["models", "model"])
def test_a_list_has_a_sentence_on_each_option_and_no_bases(here, capsys, word):
    assert main(["list", word]) == 0
    out = capsys.readouterr().out
    assert "│ gpt_5_4 " in out
    assert "│ hosted " not in out
    assert "│ _" not in out
    assert sentence(here, "model", "gpt_5_4") == "GPT-5.4."
    assert sentence(here, "model", "hosted") == ""
    assert sentence(here, "word_cap", "500") == "words: 500"


@pytest.mark.parametrize("axis", AXES)
def test_every_axis_is_listed_under_its_plural_too(here, capsys, axis):
    assert main(["list", f"{axis}{'es' if axis.endswith('s') else 's'}"]) == 0
    assert AXES[axis].partition(" ")[0] in capsys.readouterr().out


def test_an_unknown_axis_is_named(here, capsys):
    assert main(["list", "modl"]) == 2
    assert "nothing named 'modl'; expected one of benchmark, " in capsys.readouterr().err
    assert main(["list", "model", "benchmark=smoke"]) == 2
    assert "list model: benchmark=smoke has no effect; expected nothing after" in capsys.readouterr().err


def test_scenarios_and_conditions_are_listed(here, capsys, tmp_path):
    assert main(["list", "scenarios", "benchmark=smoke"]) == 0
    assert "ferry_relief" in capsys.readouterr().out
    assert main(["list", "conditions", "benchmark=smoke", f"results={tmp_path}"]) == 0
    assert "Nothing is graded in smoke yet" in capsys.readouterr().out


def test_overrides_are_completed(project):
    known = options(project)
    assert {"model=", "judge=", "+experiment="} <= set(overrides_to_complete(known, ""))
    assert "model=strong" in overrides_to_complete(known, "model=st")
    assert "+experiment=smoke" in overrides_to_complete(known, "+experiment=")
    assert overrides_to_complete(known, "model.name=x") == []
    assert "retry=" in overrides_to_complete(known, "re")
    assert {"judge.effort=", "judge.price.taken="} <= set(overrides_to_complete(known, "judge."))
    assert overrides_to_complete(known, "retry=") == [f"retry={word.value}" for word in Retry]
    assert overrides_to_complete(known, "judge.quotes=") == ["judge.quotes=true", "judge.quotes=false"]
    assert "judge.members.first=offline" in overrides_to_complete(known, "judge.members.first=")
    assert "model=weak,strong" in overrides_to_complete(known, "model=weak,st", is_sweep=True)


def test_weights_are_completed_beside_options_that_inherit_theirs_or_are_no_mapping(tmp_path):
    texts = {
        "own": "weights: {vital: 4}",
        "heir": "defaults: [own]",
        "empty": "",
        "broken": "a: [",
        "list": "[a]",
    }
    (tmp_path / "conf" / "scoring").mkdir(parents=True)
    (tmp_path / "more" / "scoring").mkdir(parents=True)
    for name, text in texts.items():
        (tmp_path / "conf" / "scoring" / f"{name}.yaml").write_text(text)
    (tmp_path / "more" / "scoring" / "far.yaml").write_text("weights: {useful: 1}")
    assert weight_names(tmp_path, [*texts, "far"], [tmp_path / "more"]) == ["vital", "useful"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_completion_script(shell):
    assert "staffbench" in completion_script(shell)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("staffbench run model=extr", ["model=extractive"]),
        ("staffbench run model=hosted", []),  # a base, which nobody is to choose
        ("staffbench run --config-dir {own} model=min", ["model=mine"]),
        ("staffbench plan -m model=weak,ext", ["model=weak,extractive"]),
        ("staffbench run runner.batch=", ["runner.batch=true", "runner.batch=false"]),
        ("staffbench run scoring.weights.imp", ["scoring.weights.important="]),
        ("staffbench run --cfg hy", ["hydra"]),
        ("staffbench packets --show karsa", ["karsa_relief"]),
        ("staffbench grade a.md benchmark=smoke --scenario f", ["ferry_relief"]),
        ("staffbench list scenarios benchmark=smo", ["benchmark=smoke"]),
        ("staffbench ver", []),
    ],
)
def test_a_shell_is_answered(project, tmp_path, line, words):
    """What bash's script does: the line in the environment, the answer on file descriptor 8."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "mine.yaml").write_text("defaults: [extractive]\nlabel: mine\n")
    line = line.replace("{own}", str(tmp_path))
    script = (
        "exec 8>&1; exec 9>/dev/null; exec \"$0\" -c 'from flows.__main__ import main; main()' >/dev/null"
    )
    done = subprocess.run(
        ["bash", "-c", script, sys.executable],
        cwd=project,
        env={
            "_ARGCOMPLETE": "1",
            "_ARGCOMPLETE_IFS": "\n",
            "_ARGCOMPLETE_COMP_WORDBREAKS": " ",
            "COMP_LINE": line,
            "COMP_POINT": str(len(line)),
            "PATH": "/usr/bin:/bin",
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert sorted(word.strip() for word in done.stdout.splitlines()) == sorted(words), done.stderr


TYPED = {
    "zsh": ["zsh", "-f", "tests/support/typed.zsh"],
    "fish": ["fish", "--no-config", "-c", "staffbench completion fish | source; complete -C $argv[1]"],
}


@pytest.mark.parametrize(
    ("shell", "line", "shown"),
    [
        ("zsh", "staffbench rub", "staffbench rubric "),
        ("zsh", "staffbench run mod", "staffbench run model="),
        (
            "zsh",
            "cd .; A=é staffbench run -m model=weak,ext",
            "cd .; A=é staffbench run -m model=weak,extractive ",
        ),
        ("zsh", "staffbench run 'model=ext", "staffbench run 'model=extractive' "),
        (
            "fish",
            "staffbench rub",
            "rubric\twrite a scenario's rubric as a spreadsheet, CSV or JSON, and read it back",
        ),
        ("fish", "staffbench run mod", "model="),
        ("fish", "cd .; A=é staffbench run -m model=weak,ext", "model=weak,extractive"),
        ("fish", "staffbench run 'model=ext", "model=extractive"),
    ],
)
def test_tab_completes_in_a_real_shell(project, tmp_path, shell, line, shown):
    if not shutil.which(shell):
        pytest.skip(f"no {shell}")
    done = subprocess.run(
        [*TYPED[shell], line],
        cwd=project,
        env={
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "TERM": "dumb",
            "LC_ALL": "C.UTF-8",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.splitlines() == [shown], done.stderr


def test_the_former_name_of_track_takes_the_same_arguments():
    assert build_parser().parse_args(["version", "benchmark=smoke"]).overrides == ["benchmark=smoke"]


@pytest.mark.parametrize(
    ("word", "said"), [("rnu", "expected run. staffbench --help"), ("xyz", "no such command")]
)
def test_an_unknown_command_is_refused_in_a_line(capsys, word, said):
    assert main([word]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert "version" not in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--wach"], "--wach: no such option; expected --watch. See staffbench run --help"),
        (
            ["report", "--tabels=x"],
            "--tabels=x: no such option; expected --tables or --labels. See staffbench report --help",
        ),
        (["run", "--wid"], "--wid: no such option; expected --wide"),  # no beginning of one
        (["harbor", "import", "job", "--zzz"], "--zzz: no such option. See staffbench harbor import --help"),
    ],
)
def test_an_unknown_option_is_refused_with_the_nearest(capsys, words, said):
    assert main(words) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_graded_conditions_are_completed(project, tmp_path, monkeypatch):
    for judge in ("offline", "other"):
        path = tmp_path / "smoke" / "verdicts" / "strong-default-3000-v0" / f"{judge}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(project)
    parsed = argparse.Namespace(overrides=["benchmark=smoke", f"results={tmp_path}"])
    names = ["strong-default-3000-v0/offline", "strong-default-3000-v0/other"]
    assert conditions_completed(parsed) == names
    assert conditions_completed(argparse.Namespace(overrides=["benchmark=nosuch"])) == []


def test_what_export_lacks_is_named(capsys):
    assert main(["export"]) == 2
    assert "export: no folder; expected staffbench export BENCHMARK FOLDER, or -o FOLDER" in " ".join(
        capsys.readouterr().err.split()
    )


def test_a_benchmark_and_an_option_that_are_not_there_say_how_to_make_them(
    tmp_path, project, monkeypatch, capsys
):
    shutil.copytree(project / "conf", tmp_path / "conf")
    monkeypatch.chdir(tmp_path)
    assert main(["packets", "benchmark=hb"]) == 2
    assert "To make one: staffbench new hb" in capsys.readouterr().err
    own = tmp_path / "conf" / "benchmark" / "hb.yaml"
    own.write_text("# @package _global_\ndefaults: [override /scoring: severty]\nbenchmark: {name: hb}\n")
    assert main(["packets", "benchmark=hb"]) == 2
    assert "conf/scoring/severty.yaml: not there, and an option in use names it" in capsys.readouterr().err


GIVEN = {
    "new": "mine",
    "rubric export": "mine/one -o one.csv",
    "rubric import": "mine/one one.csv",
    "grade": "brief.md",
    "compare": "strong weak",
    "import": "logs",
    "harbor import": "job",
    "harbor summarize": "job",
    "harbor export": "folder",
    "harbor verify": "report.docx --task tests",
    "remove": "strong",
    "store copy": "here there",
    "completion": "bash",
}


@pytest.mark.parametrize("command", FUNCTIONS)
def test_a_commands_function_takes_what_is_parsed(monkeypatch, project, command):
    given = {}
    monkeypatch.setattr(command_line, "resolve_name", lambda _: lambda **own: given.update(own))
    monkeypatch.chdir(project)
    main([*command.split(), *GIVEN.get(command, "").split()])
    inspect.signature(resolve_name(f"flows.pipeline.{FUNCTIONS[command]}")).bind(**given)


def test_only_what_runs_imports_prefect():
    """It takes a second of every command, and has analytics of its own."""
    script = """
import sys
from pkgutil import resolve_name
from flows.pipeline.commands import FUNCTIONS
for function in FUNCTIONS.values():
    resolve_name(f"flows.pipeline.{function}")
print([name for name in ("prefect", "mlflow", "litellm", "pandas", "distributed") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=600, check=True
    )
    assert done.stdout == "[]\n"
