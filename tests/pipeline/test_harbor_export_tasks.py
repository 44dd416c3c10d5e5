"""Report tasks as they are exported for Harbor: their verifier, judge, wheel and Dockerfile."""

import json
import shutil
import tomllib

import pytest

from flows.adapters.screen import Screen
from flows.adapters.task_trees.tree import read_task
from flows.common.errors import ConfigError
from flows.pipeline.harbor.export import export
from tests.pipeline.test_harbor_export import contents
from tests.pipeline.test_harbor_export import data as _data
from tests.pipeline.test_harbor_export import exported as _exported

data, exported = _data, _exported


@pytest.fixture
def tasks(project, tmp_path):
    """A copy of one of our own tasks, to be changed first."""
    folder = tmp_path / "tasks"
    shutil.copytree(project / "data/mission_report/tasks/sb-war-02", folder / "sb-war-02")
    return folder


def export_task(project, tasks, target, install=None):
    words = ["benchmark=mission_report", "benchmark.name=mission_report", f"benchmark.data={tasks}"]
    assert export(project, words, target, install=install, screen=Screen()) == 0
    return target / "sb-war-02"


def test_a_task_is_exported_as_it_is_but_for_what_grades_it(project, tasks, tmp_path):
    tree = export_task(project, tasks, tmp_path / "out")
    grading = json.loads((tree / "tests/fixtures/staffbench.json").read_text())["overrides"]
    assert {"judge=claude_opus_5_5", "judge.effort=medium", "judge.mode=all_items"} <= set(grading)
    before, after = contents(tasks / "sb-war-02"), contents(tree)
    assert after.pop("tests/fixtures/staffbench.json")[0].startswith(b'{\n  "format": "1"')
    assert after == before
    assert read_task(tree) == read_task(tasks / "sb-war-02")


def test_a_releases_own_verifier_gives_way_and_is_named(project, tasks, tmp_path, capsys):
    own = tasks / "sb-war-02/tests/test.sh"
    ours = own.read_bytes()
    own.write_text("#!/bin/bash\npython agent_judge.py\n")
    own.with_name("agent_judge.py").write_text("print('judged')\n")
    tree = export_task(project, tasks, tmp_path / "out")
    assert (tree / "tests/test.sh").read_bytes() == ours
    script = (project / "data/mission_report/tasks/sb-war-02/tests/agent_judge.py").read_bytes()
    assert (tree / "tests/agent_judge.py").read_bytes() == script
    said = capsys.readouterr().out
    assert "sb-war-02: tests/test.sh: ours takes the place of the task's own." in said
    assert "sb-war-02: tests/agent_judge.py: ours takes the place of the task's own." in said


def test_a_releases_own_verifier_is_kept_where_that_is_asked_for(project, tasks, tmp_path, capsys):
    own = tasks / "sb-war-02/tests/test.sh"
    own.write_text("#!/bin/bash\npython agent_judge.py\n")
    toml = tasks / "sb-war-02/task.toml"
    toml.write_text(toml.read_text().replace('artifacts = ["/app/outputs/report.docx"]\n', ""))
    words = ["benchmark=mission_report", f"benchmark.data={tasks}"]
    export(project, words, tmp_path / "out", install=None, screen=Screen(), keep_verifier=True)
    before, after = contents(tasks / "sb-war-02"), contents(tmp_path / "out/sb-war-02")
    changed = {name for name in after if after[name] != before.get(name)}
    assert (changed, before.keys() - after.keys()) == ({"task.toml"}, set())
    assert tomllib.loads((tmp_path / "out/sb-war-02/task.toml").read_text())["artifacts"] == [
        "/app/outputs/report.docx"
    ]
    assert "its own verifier is kept" in capsys.readouterr().out
    for more, install in ((["judge=offline"], None), ([], "staffbench==0.1.0")):
        with pytest.raises(ConfigError, match="no effect with --keep-verifier"):
            export(
                project, [*words, *more], tmp_path / "x", install=install, screen=Screen(), keep_verifier=True
            )
    with pytest.raises(ConfigError, match="briefs have no verifier of their own"):
        export(project, [], tmp_path / "x", install=None, screen=Screen(), keep_verifier=True)


def test_a_judge_that_the_script_can_not_ask_needs_staffbench(project, tasks, tmp_path, capsys):
    words = ["benchmark=mission_report", f"benchmark.data={tasks}", "judge=panel"]
    assert export(project, words, tmp_path / "out", install=None, screen=Screen()) == 0
    tests = tmp_path / "out/sb-war-02/tests"
    assert "needs staffbench in the sandbox" in " ".join(capsys.readouterr().out.split())
    assert not (tests / "agent_judge.py").exists()
    assert not (tests / "fixtures/judge.json").exists()
    assert "agent_judge" not in (tests / "test.sh").read_text()


def test_the_verifier_of_a_last_step_is_the_one_that_gives_way(project, tasks, tmp_path):
    step = tasks / "sb-war-02/steps/answer/tests"
    step.mkdir()
    (step / "test.sh").write_text("#!/bin/bash\nexit 1\n")
    tree = export_task(project, tasks, tmp_path / "out")
    assert b"staffbench harbor verify" in (tree / "steps/answer/tests/test.sh").read_bytes()
    assert (tree / "steps/answer/tests/fixtures/staffbench.json").is_file()
    assert not (tree / "tests/fixtures/staffbench.json").exists()


def test_a_wheel_is_laid_beside_the_dockerfile(project, tasks, tmp_path, capsys):
    wheel = tmp_path / "staffbench-1.0-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    tree = export_task(project, tasks, tmp_path / "out", install=str(wheel))
    text = (tree / "environment/Dockerfile").read_text()
    assert (
        f'COPY {wheel.name} /opt/staffbench/\nARG STAFFBENCH="/opt/staffbench/{wheel.name}"\nRUN if' in text
    )
    assert (tree / "environment" / wheel.name).read_bytes() == b"wheel"
    assert [each.name for each in read_task(tree).attachments] == [
        each.name for each in read_task(tasks / "sb-war-02").attachments
    ]
    assert "leaves no reward" not in capsys.readouterr().out


def test_another_dockerfile_installs_as_root_in_its_last_stage(project, tasks, tmp_path):
    file = tasks / "sb-war-02/environment/Dockerfile"
    file.write_text("FROM a AS build\nUSER builder\nFROM b\nUSER agent\nWORKDIR /app\n")
    tree = export_task(project, tasks, tmp_path / "out", install="staffbench==0.1.0")
    lines = [line for line in (tree / "environment/Dockerfile").read_text().splitlines() if line]
    assert lines[:5] == ["FROM a AS build", "USER builder", "FROM b", "USER agent", "WORKDIR /app"]
    assert lines[5] == "USER root"
    assert 'ARG STAFFBENCH="staffbench==0.1.0"' in lines
    assert lines[-1] == "USER agent"


@pytest.mark.parametrize("spec", ['x"; RUN evil', "a$HOME", "a\nRUN b", "x`id`", "not/there.whl"])
def test_what_a_dockerfile_would_take_for_its_own_is_refused(exported, spec):
    with pytest.raises(ConfigError, match="--install"):
        exported(install=spec)


def test_without_an_install_the_missing_reward_is_announced(exported, capsys):
    exported()
    assert "install no staffbench, without which their verifier leaves no reward" in capsys.readouterr().out


def test_a_key_that_a_task_does_not_pass_is_added_or_named(project, tasks, tmp_path, capsys):
    words = ["benchmark=mission_report", f"benchmark.data={tasks}", "judge=gpt_6_luna"]
    assert export(project, words, tmp_path / "out", install=None, screen=Screen()) == 0
    text = (tmp_path / "out/sb-war-02/task.toml").read_text()
    assert tomllib.loads(text)["verifier"]["env"]["OPENAI_API_KEY"] == "${OPENAI_API_KEY:-}"
    toml = tasks / "sb-war-02/task.toml"
    head, _, rest = toml.read_text().partition("[verifier.env]")
    inline = head.replace("[verifier]", '[verifier]\nenv = {A = "1"}') + rest[rest.index("[environment]") :]
    toml.write_text(inline)
    capsys.readouterr()
    assert export(project, words, tmp_path / "again", install=None, screen=Screen()) == 0
    assert "sb-war-02: task.toml passes no OPENAI_API_KEY" in capsys.readouterr().out
