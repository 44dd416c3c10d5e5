"""What a wheel of this project holds, as its build backend lists it, and what it does in an empty folder."""

import os
import subprocess
import sys
import zipfile

import pytest
from hatchling.builders.wheel import WheelBuilder


@pytest.fixture(scope="module")
def listed(project):
    """Path in the clone by path in the wheel."""
    files = WheelBuilder(str(project)).recurse_included_files()
    return {file.distribution_path: file.relative_path for file in files}


def test_the_options_ship_inside_the_package(listed, project):
    assert listed["flows/conf/config.yaml"] == "conf/config.yaml"
    options = {path.relative_to(project).as_posix() for path in (project / "conf").rglob("*.yaml")}
    assert {path for path in listed.values() if path.startswith("conf/")} == options
    assert len(options) > 50


def test_nothing_but_the_package_and_its_options_ships(listed):
    assert {name.split("/")[0] for name in listed} == {"flows"}
    assert listed["flows/pipeline/harbor/verify.py"] == "flows/pipeline/harbor/verify.py"


def test_a_clone_is_installed_editable_by_its_folder(project):
    assert WheelBuilder(str(project)).config.dev_mode_dirs == ["."]


def test_the_examples_ship(listed):
    assert listed["flows/example/documents/03-mail.eml"] == "flows/example/documents/03-mail.eml"
    assert "flows/example_task/report.docx" in listed
    assert {
        "flows/new/benchmark.yaml",
        "flows/new/README_of_reports.md",
        "flows/new/gitignore",
        "flows/adapters/task_trees/templates/Dockerfile",
        "flows/pipeline/harbor/templates/brief_README.md",
    } <= listed.keys()


@pytest.mark.slow
def test_in_an_empty_folder_a_wheel_makes_a_benchmark_that_validates(project, tmp_path):
    (wheel,) = WheelBuilder(str(project)).build(directory=str(tmp_path / "dist"), versions=["standard"])
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    folder = tmp_path / "empty"
    folder.mkdir()
    # Ahead of the editable install on the path.
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "installed")}

    def staffbench(*words):
        command = [sys.executable, "-m", "flows", *words]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    code, said = staffbench("validate")
    assert code == 2
    assert "no project here or above" in said
    assert "make one here with staffbench new NAME" in said
    code, said = staffbench("new", "mybench")
    assert code == 0, said
    assert (folder / "conf" / "model" / "extractive.yaml").is_file()
    code, said = staffbench("new", "reports", "--protocol", "mission_report")
    assert code == 0, said
    for benchmark in ("mybench", "reports"):
        code, said = staffbench("validate", f"benchmark={benchmark}")
        assert code == 0, said
        assert "No problems found." in said
    code, said = staffbench("rubric", "export", "mybench/example", "-o", "rubric.xlsx")
    assert code == 0, said
    code, said = staffbench("rubric", "import", "mybench/example", "rubric.xlsx")
    assert code == 0, said
    assert (folder / "data/mybench/example/rubric.yaml").read_text() == (
        project / "flows/example/rubric.yaml"
    ).read_text()
