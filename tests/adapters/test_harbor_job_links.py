"""Links and paths that lead out of a job tree."""

import shutil

import pytest

from tests.support.harbor_trees import FIXTURES, GOOD, IN_STEPS, REPORT, copy_job, edit, trial


@pytest.fixture
def job(tmp_path):
    return copy_job("0.25.0", tmp_path)


def secret(tmp_path):
    """A report outside the job that must never be read."""
    path = tmp_path / "secret" / "report.docx"
    path.parent.mkdir()
    shutil.copy(FIXTURES / "scripted-0.25.0" / GOOD / REPORT, path)
    return path


@pytest.mark.parametrize(
    "destination",
    [
        "../../secret/report.docx",
        "{outside}",
        "artifacts/../../../secret/report.docx",
        "..\\secret\\report.docx",
    ],
)
def test_an_artifact_that_leads_out_of_the_tree_is_not_opened(job, tmp_path, destination):
    outside = secret(tmp_path)
    shutil.rmtree(job / GOOD / "artifacts" / "app")
    destination = destination.format(outside=outside)

    def lead_out(manifest):
        manifest[1]["destination"] = destination

    edit(job / GOOD / "artifacts" / "manifest.json", lead_out)
    found, damage = trial(job, GOOD)
    assert found.report is None
    assert f"{GOOD}: the path {destination!r} leads out of the tree" in damage


@pytest.mark.parametrize("name", ["../../secret", "/etc", "..", "a/b", "a\\b", "a\0b", "a" * 300])
def test_a_step_name_that_is_no_name_is_not_followed(job, name):
    def rename(result):
        result["step_results"][0]["step_name"] = name

    edit(job / IN_STEPS / "result.json", rename)
    found, damage = trial(job, IN_STEPS)
    assert (found.reward, found.criteria, found.report) == (1.0, (), None)
    assert IN_STEPS in damage


def test_links_are_not_followed(job, tmp_path):
    outside = secret(tmp_path)
    (outside.parent / "judgment.json").write_text(
        '{"criteria": [{"criterion_id": "x", "points": 1, "met": true}]}'
    )
    report = job / GOOD / REPORT
    report.unlink()
    report.symlink_to(outside)
    judgment = job / GOOD / "verifier" / "judgment.json"
    judgment.unlink()
    judgment.symlink_to(outside.parent / "judgment.json")
    shutil.move(job / IN_STEPS / "steps", tmp_path / "secret" / "steps")
    (job / IN_STEPS / "steps").symlink_to(tmp_path / "secret" / "steps")
    (job / "memo-03__linked").symlink_to(job / GOOD)
    found, damage = trial(job, GOOD)
    assert (found.report, found.criteria) == (None, ())
    for where in (
        f"{GOOD}/{REPORT}",
        f"{GOOD}/verifier/judgment.json",
        f"{IN_STEPS}/steps",
        "memo-03__linked",
    ):
        assert f"{where}: a link; not followed" in damage
    linked, _ = trial(job, IN_STEPS)
    assert (linked.report, linked.criteria) == (None, ())


def test_a_verifiers_folder_that_is_a_link_is_not_followed(job, tmp_path):
    shutil.move(job / GOOD / "verifier", tmp_path / "verifier")
    (job / GOOD / "verifier").symlink_to(tmp_path / "verifier")
    found, damage = trial(job, GOOD)
    assert (found.criteria, found.reward_source) == ((), "result.json")
    assert f"{GOOD}/verifier: a link; not followed" in damage
