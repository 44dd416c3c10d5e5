"""Results for Every Eval Ever and for model cards: what is in them, and what their own validators say."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from flows.common.errors import ConfigError, StaffbenchError
from flows.pipeline.commands.export import FORMATS, exporter
from flows.pipeline.publish.export import Publication
from tests.pipeline.test_export import Heard
from tests.support.bench import ITEM, Project, remote
from tests.support.plain_flow import run_here, without_prefect
from tests.support.scripted_server import Say, ScriptedServer

HUB = "https://huggingface.co/datasets/your-institute/planning"


def answer(call):
    """The writer refuses seed 2 of alder; the judge fails one requirement and passes the rest."""
    if call.body["model"].startswith("judge"):
        items = ITEM.findall(call.prompt)
        failed = [{"id": "bridge", "mode": "omission", "reason": "no word of the bridge"}]
        return Say(json.dumps({"items": len(items), "failed": failed}))
    if "412" in call.prompt and call.body["seed"] == 2:
        return Say(None, finish="content_filter")
    return Say("The relief column is \u202estrong\u202c. <script>alert(1)</script>")


@pytest.fixture(scope="module")
def graded(tmp_path_factory, project):
    """A project with a remote writer under a remote judge, and a control under the stand-in."""
    patch = pytest.MonkeyPatch()
    without_prefect(patch)
    here = Project(tmp_path_factory.mktemp("graded"), project / "conf", {})
    try:
        with ScriptedServer(answer) as server:
            words = [*remote(server), "model.name=maker/writer-1", "model.label=writer", "judge.label=grader"]
            assert run_here(here.folder, *words, "seeds=2", "+model.parameters.temperature=0.2") == 4
        assert run_here(here.folder, "model=strong", "seeds=1", "tracking=none") == 0
    finally:
        patch.undo()
    return here


def exported(graded, kind, folder, **options):
    heard = Heard()
    publication = Publication(options.pop("creator", "Your institute"), options.pop("url", HUB))
    write = exporter(kind)
    code = write(
        graded.folder,
        ["benchmark=ma_bench"],
        folder,
        heard,
        allow=options.pop("allow", False),
        publication=publication,
    )
    assert not options
    return code, heard


def records(folder):
    found = {}
    for path in folder.rglob("*.json"):
        samples = path.with_name(f"{path.stem}_samples.jsonl").read_text(encoding="utf-8")
        found[path.parts[-2]] = json.loads(path.read_text()), [json.loads(x) for x in samples.splitlines()]
    return found


def test_missing_verdicts_and_scores_have_no_row_and_are_counted(graded, tmp_path):
    code, heard = exported(graded, "every-eval-ever", tmp_path / "out")
    assert code == 0, heard.text
    record, rows = records(tmp_path / "out")["writer-1"]
    briefs = [row for row in rows if row["evaluation_result_id"].endswith("#score")]
    items = [row for row in rows if row["evaluation_result_id"].endswith("#correct")]
    assert [row["sample_id"] for row in briefs] == ["alder/1", "birch/1", "birch/2"]
    assert len(items) == 9
    assert {(row["sample_id"].split("/")[2], row["evaluation"]["score"]) for row in items} == {
        ("strength", 1.0),
        ("bridge", 0.0),
        ("cholera", 1.0),
    }
    detail = record["detailed_evaluation_results"]
    assert detail["total_rows"] == len(rows) == 12
    assert detail["additional_details"]["n_briefs_without_a_row"] == "1"
    assert detail["additional_details"]["n_items_without_a_row"] == "3"
    assert briefs[0]["output"]["raw"] == [
        "The relief column is \u202estrong\u202c. <script>alert(1)</script>"
    ]
    score = record["evaluation_results"][0]
    assert score["score_details"]["details"]["n_refused"] == "1"
    assert score["score_details"]["score"] == pytest.approx(9 / 14.5)
    assert score["score_details"]["uncertainty"]["standard_error"]["value"] == pytest.approx(0)


def test_a_record_says_who_wrote_and_judged_and_how(graded, tmp_path):
    exported(graded, "every-eval-ever", tmp_path / "out")
    record, _ = records(tmp_path / "out")["writer-1"]
    assert record["schema_version"] == "0.3.0"
    assert record["model_info"]["id"] == "maker/writer-1"
    result = record["evaluation_results"][0]
    assert result["generation_config"]["generation_args"]["temperature"] == 0.2
    assert "{{packet}}" in result["generation_config"]["generation_args"]["prompt_template"]
    judge = result["metric_config"]["llm_scoring"]
    assert judge["judges"][0]["model_info"]["name"] == "grader"
    assert "{{items}}" in judge["input_prompt"]
    assert result["source_data"]["url"] == [HUB]
    assert set(json.loads(result["source_data"]["additional_details"]["rubrics_sha256"])) == {
        "alder",
        "birch",
    }
    # The address of the endpoint is of this machine.
    assert "127.0.0.1" not in json.dumps(record)
    control, _ = records(tmp_path / "out")["strong"]
    metric = control["evaluation_results"][0]["metric_config"]
    assert "llm_scoring" not in metric
    assert metric["additional_details"]["is_stand_in"] == "true"


def test_the_validator_of_every_eval_ever_passes_all(graded, tmp_path, project):
    found = os.environ.get("STAFFBENCH_EEE") or str(project / ".eee" / "bin" / "every_eval_ever")
    if not Path(found).is_file():
        pytest.skip("no validator: make eee")
    exported(graded, "every-eval-ever", tmp_path / "out")
    command = [found, "validate", "--format", "json", f"{tmp_path}/out/data/*/*/*/*.json*"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(json.loads(done.stdout)) == 4


def test_the_same_results_have_the_same_file_names(graded, tmp_path):
    for name in ("one", "two"):
        exported(graded, "every-eval-ever", tmp_path / name)
    names = [
        sorted(str(p.relative_to(tmp_path / n)) for p in (tmp_path / n).rglob("*.*")) for n in ("one", "two")
    ]
    assert names[0] == names[1]


def test_a_card_is_what_the_hub_reads(graded, tmp_path):
    from huggingface_hub.repocard_data import ModelCardData, model_index_to_eval_results

    code, heard = exported(graded, "model-card", tmp_path / "card")
    assert code == 0, heard.text
    folder = tmp_path / "card" / "writer"
    index = yaml.safe_load((folder / "model-index.yaml").read_text())["model-index"]
    name, results = model_index_to_eval_results(index)
    assert (name, results[0].metric_type) == ("writer", "score")
    assert results[0].metric_value == pytest.approx(9 / 14.5)
    assert ModelCardData(model_name=name, eval_results=results).to_dict()["model-index"]
    [entry] = [yaml.safe_load(path.read_text()) for path in (folder / ".eval_results").iterdir()]
    assert entry[0]["dataset"] == {"id": "your-institute/planning", "task_id": "ma_bench"}
    assert "judge grader" in entry[0]["notes"]
    section = (folder / "section.md").read_text()
    assert section.startswith("## ma_bench: leaderboard")
    assert "| writer |" in section
    assert "strong" not in section
    cited = (folder / "citation.bib").read_text()
    assert "2610.19138" in cited
    assert "version = {0.1.0}" in cited


def test_a_card_cites_what_the_citation_file_cites(graded, tmp_path, project):
    exported(graded, "model-card", tmp_path / "card", url=None)
    cited = (tmp_path / "card" / "strong" / "citation.bib").read_text()
    known = yaml.safe_load((project / "CITATION.cff").read_text())
    paper = known["references"][0]
    assert all(f"{one['family-names']}, {one['given-names']}" in cited for one in paper["authors"])
    assert paper["title"].split(": ")[1] in cited
    assert not (tmp_path / "card" / "strong" / ".eval_results").exists()


@pytest.mark.parametrize("kind", ["every-eval-ever", "model-card"])
def test_a_folder_of_something_else_is_never_touched(graded, tmp_path, kind):
    exported(graded, kind, tmp_path / "out")
    exported(graded, kind, tmp_path / "out")
    other = next(name for name in FORMATS if name not in (kind, "parquet", "inspect"))
    with pytest.raises(ConfigError, match="no earlier export"):
        exported(graded, other, tmp_path / "out")
    with pytest.raises(ConfigError, match="which is no log of Inspect"):
        exported(graded, "inspect", tmp_path / "out", creator=None, url=None)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match="no earlier export"):
        exported(graded, kind, tmp_path / "mine")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "out"]


def test_what_nobody_means_to_publish_is_refused(graded, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_TOKEN", "no word of the bridge")
    with pytest.raises(StaffbenchError, match="1 finding; nothing was written"):
        exported(graded, "every-eval-ever", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    heard = Heard()
    with pytest.raises(StaffbenchError):
        exporter("every-eval-ever")(
            graded.folder,
            ["benchmark=ma_bench"],
            tmp_path / "out",
            heard,
            allow=False,
            publication=Publication("Your institute", HUB),
        )
    assert "Finding(" not in heard.text
    assert "key" in heard.text
    assert exported(graded, "every-eval-ever", tmp_path / "out", allow=True)[0] == 0


def test_a_kill_between_the_two_renames_loses_nothing_and_leaves_nothing(graded, tmp_path):
    out = tmp_path / "out"
    exported(graded, "model-card", out)
    before = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    out.rename(tmp_path / ".out.0123.old")  # killed before the new one took its place
    exported(graded, "model-card", out)
    assert {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("option", "given"),
    [("--allow", {"allow": True}), ("--creator", {"creator": "me"}), ("--url", {"url": HUB})],
)
def test_an_option_that_logs_have_no_use_for_is_refused(graded, tmp_path, option, given):
    with pytest.raises(ConfigError, match=f"{option}: has no effect on logs"):
        exported(graded, "inspect", tmp_path / "logs", **{"creator": None, "url": None, **given})


def test_nothing_graded_is_said(tmp_path, project):
    (tmp_path / "empty").mkdir()
    here = Project(tmp_path / "empty", project / "conf", {})
    with pytest.raises(StaffbenchError, match="nothing graded here"):
        exported(here, "model-card", tmp_path / "out")
