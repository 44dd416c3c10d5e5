"""Our scenarios as Harbor tasks: what the agent gets, what the verifier gets, and nothing half written."""

import base64
import os
import re
import shutil
import stat
import tomllib

import pytest

from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, Problems, StoreError
from flows.pipeline.harbor.export import export
from tests.support.bench import write_scenario

DOCUMENT = "01-order.txt"


@pytest.fixture
def data(tmp_path):
    """One MA-Bench scenario, whose strong control is labelled to commit the wrong move."""
    folder = tmp_path / "data"
    write_scenario(folder, "alder", 412)
    labels = "item_id,strong,weak\nstrength,pass,fail\nbridge,pass,fail\ncholera,fail,fail\n"
    (folder / "alder" / "controls" / "labels.csv").write_text(labels)
    return folder


@pytest.fixture
def exported(project, tmp_path, data):
    def run(*overrides, target="out", install=None):
        words = ["benchmark.name=ma_bench", f"benchmark.data={data}", *overrides]
        assert export(project, words, tmp_path / target, install=install, screen=Screen()) == 0
        return tmp_path / target

    return run


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_scenario_becomes_a_tree_with_the_packet_apart_from_the_rubric(exported, data):
    files = contents(exported() / "alder")
    assert sorted(files) == [
        "README.md",
        "environment/Dockerfile",
        "instruction.md",
        "solution/solve.sh",
        "steps/answer/instruction.md",
        f"steps/answer/workdir/attachments/{DOCUMENT}",
        "task.toml",
        f"tests/fixtures/alder/documents/{DOCUMENT}",
        "tests/fixtures/alder/rubric.yaml",
        "tests/fixtures/alder/scenario.yaml",
        "tests/fixtures/staffbench.json",
        "tests/test.sh",
    ]
    order = (data / "alder" / "documents" / DOCUMENT).read_bytes()
    assert files[f"steps/answer/workdir/attachments/{DOCUMENT}"] == (order, 0o644)
    rubric = (data / "alder" / "rubric.yaml").read_bytes()
    assert files["tests/fixtures/alder/rubric.yaml"] == (rubric, 0o644)
    assert {name for name, (_, mode) in files.items() if mode == 0o755} == {
        "tests/test.sh",
        "solution/solve.sh",
    }
    seen = b"".join(
        content
        for name, (content, _) in files.items()
        if name.startswith(("steps/", "environment/", "instr"))
    )
    assert b"States the strength of the relief column" not in seen
    assert b"critically_important" not in seen


def test_the_instruction_holds_assignment_files_rules_and_limit(exported):
    tree = exported() / "alder"
    text = (tree / "steps/answer/instruction.md").read_text()
    assert text == (tree / "instruction.md").read_text()
    assert "Write the mission analysis of the relief column." in text
    assert f"- `/app/attachments/{DOCUMENT}`" in text
    assert "`/app/outputs/brief.md`" in text
    assert "12. Mission statement" in text
    assert "must not exceed 3,000 words" in text
    assert "{" not in text
    assert "has 412 soldiers" not in text  # the packet is in its files


def test_an_instruction_without_a_limit_names_none(exported):
    text = (exported("prompt=v0_no_limit", "word_cap=none") / "alder/instruction.md").read_text()
    assert "must not exceed" not in text


def test_verifier_and_sandbox_are_those_of_our_own_tasks(exported, project):
    tree, ours = exported() / "alder", project / "data/mission_report/tasks/sb-war-02"
    assert "staffbench harbor verify /app/outputs/brief.md" in (tree / "tests/test.sh").read_text()
    assert (tree / "environment/Dockerfile").read_text() == (ours / "environment/Dockerfile").read_text()


def test_settings_name_the_brief_the_judge_and_its_key(exported):
    tree = exported("judge=gpt_6_luna")
    settings = tomllib.loads((tree / "alder/task.toml").read_text())
    assert settings["schema_version"] == "1.4"
    assert settings["artifacts"] == ["/app/outputs/brief.md"]
    assert settings["steps"] == [{"name": "answer"}]
    assert settings["agent"] == {"timeout_sec": 3600.0}
    assert settings["metadata"]["task_id"] == "alder"
    assert settings["metadata"]["notice"] == "Invented."
    assert settings["metadata"]["synthetic"] is True
    assert settings["verifier"]["env"] == {
        "OPENAI_API_KEY": "${OPENAI_API_KEY:-}",
        "STAFFBENCH_JUDGE": "${STAFFBENCH_JUDGE:-}",
    }


def test_the_oracle_is_the_strong_control_and_what_it_scores_is_said(exported, data, capsys):
    tree = exported() / "alder"
    script = (tree / "solution/solve.sh").read_text()
    carried = re.search(r"<< 'REPORT'\n(.*)\nREPORT\n", script, re.DOTALL)
    assert base64.b64decode(carried[1]) == (data / "alder/controls/strong.md").read_bytes()
    assert "> /app/outputs/brief.md <<" in script
    # 9 for the strength and 5.5 for the bridge, less 9 for the wrong move, of 14.5: 0.379.
    said = "the labels of its author give 0.379, not 1."
    assert said in " ".join((tree / "README.md").read_text().split())
    assert "which its author's labels give 0.379, not 1" in capsys.readouterr().out


def test_a_scenario_without_controls_has_no_oracle(exported, data, capsys):
    shutil.rmtree(data / "alder" / "controls")
    tree = exported() / "alder"
    assert not (tree / "solution").exists()
    assert "There is no oracle" in (tree / "README.md").read_text()
    assert "alder: no control `strong`: it has no oracle." in capsys.readouterr().out


def test_equal_scenarios_give_equal_bytes_whatever_the_umask(exported):
    before = os.umask(0o077)
    try:
        first = contents(exported(target="first"))
    finally:
        os.umask(before)
    assert contents(exported(target="second")) == first


def test_an_empty_folder_is_taken_and_one_with_a_file_is_not(exported, project, tmp_path):
    (tmp_path / "out").mkdir()
    assert (exported() / "alder" / "task.toml").is_file()
    before = contents(tmp_path / "out")
    with pytest.raises(ConfigError, match="a folder with something in it"):
        exported()
    assert contents(tmp_path / "out") == before


def test_a_link_is_no_target(exported, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "real")
    with pytest.raises(ConfigError, match="a link"):
        exported()
    assert not list((tmp_path / "real").iterdir())


def test_a_link_in_a_scenario_leaves_nothing_written(exported, data, tmp_path):
    write_scenario(data, "birch", 730)
    (data / "birch/documents" / DOCUMENT).unlink()
    (data / "birch/documents" / DOCUMENT).symlink_to(data / "alder/documents" / DOCUMENT)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(Problems, match=r"birch.*a link"):
        exported()
    assert sorted(tmp_path.iterdir()) == before


def test_a_fault_half_way_leaves_nothing_written(exported, data, tmp_path, monkeypatch):
    before = sorted(tmp_path.iterdir())

    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(StoreError, match="No space left on device"):
        exported()
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("override", ["model=strong", "effort=high", "model.name=x"])
def test_what_harbor_decides_is_refused(exported, override):
    with pytest.raises(ConfigError, match="decided by Harbor's own arguments"):
        exported(override)
