"""What a wheel of this project holds, as its build backend lists it; nothing is built."""

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
