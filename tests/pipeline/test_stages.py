"""The DVC pipeline of a benchmark of one's own, held to its scenarios."""

import shutil

import pytest
import yaml
from dvc.repo import Repo

from flows.adapters.screen import Screen
from flows.common.errors import StaffbenchError
from flows.pipeline.commands.own.new import new
from flows.pipeline.commands.own.stages import first_sweep, write_stages
from flows.schema.settings import ProtocolName
from flows.stages.packet import PACKET_VERSION


@pytest.fixture
def made(tmp_path):
    new("mybench", Screen(), here=tmp_path)
    return tmp_path


def stages(folder):
    """Dependencies and outputs by stage, as DVC resolves them."""
    repo = Repo.init(str(folder), no_scm=True, force=True)
    with repo:
        return {
            stage.addressing.rpartition(":")[2]: (
                {str(dep) for dep in stage.deps},
                {str(out.fs_path).removeprefix(f"{folder}/") for out in stage.outs},
            )
            for stage in repo.index.stages
        }


def add_scenario(folder, name):
    source, target = folder / "data" / "mybench" / "example", folder / "data" / "mybench" / name
    shutil.copytree(source, target)
    shutil.rmtree(target / "controls")
    head = (target / "scenario.yaml").read_text().replace("scenario_id: example", f"scenario_id: {name}")
    (target / "scenario.yaml").write_text(head)


def test_dvc_resolves_what_new_writes(made):
    found = stages(made)
    assert set(found) == {
        "packets@example",
        "evaluate@strong",
        "evaluate@weak",
        "evaluate@extractive",
        "report",
    }
    deps, outs = found["evaluate@weak"]
    assert {path for path in outs if "verdicts" in path} == {
        "results/mybench/verdicts/weak-default-3000-v0/offline.parquet"
    }
    assert any(path.endswith("data/packets/mybench/example.parquet") for path in deps)
    deps, outs = found["report"]
    assert "results/mybench/leaderboard.csv" in outs
    assert "results/mybench/metrics.json" in outs
    assert any(path.endswith("data/packets/mybench/example.parquet") for path in deps)  # pages show documents


def test_each_scenario_has_a_packet_of_its_own(made):
    add_scenario(made, "second")
    folder = made / "data" / "mybench"
    assert write_stages(made, "mybench") == [folder / "params.yaml", folder / "dvc.yaml"]
    found = stages(made)
    # The second scenario has no controls, so there is a baseline and an empty brief.
    assert {"packets@example", "packets@second", "evaluate@extractive", "evaluate@empty"} < set(found)
    deps, outs = found["packets@second"]
    assert outs == {"data/packets/mybench/second.parquet"}
    assert not any("/example/" in path for path in deps)
    assert write_stages(made, "mybench") == []


def test_a_list_of_models_is_kept_and_the_rest_is_written_again(made):
    path = made / "data" / "mybench" / "params.yaml"
    values = yaml.safe_load(path.read_text())
    assert values["versions"]["packets"]["packet"] == PACKET_VERSION
    values["versions"]["packets"]["packet"] = "0"
    path.write_text(yaml.safe_dump(values | {"models": ["middle", "gpt_6_luna"]}))
    write_stages(made, "mybench")
    values = yaml.safe_load(path.read_text())
    assert values["models"] == ["middle", "gpt_6_luna"]
    assert values["versions"]["packets"]["packet"] == PACKET_VERSION
    assert list(values["conditions"]) == ["middle", "gpt_6_luna"]
    assert values["conditions"]["middle"] == "middle-default"
    assert not values["conditions"]["gpt_6_luna"].endswith("3000-v0")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models: strong\n", "models: 'strong'; expected a list"),
        ("[]\n", "no YAML with a key"),
        ("a: [\n", "YAML"),
    ],
)
def test_a_damaged_params_file_is_named(made, text, said):
    path = made / "data" / "mybench" / "params.yaml"
    path.write_text(text)
    with pytest.raises(StaffbenchError) as caught:
        write_stages(made, "mybench")
    assert f"{path}: " in str(caught.value)
    assert said in str(caught.value)


def test_a_benchmark_of_reports_has_stages_too(tmp_path):
    new("reports", Screen(), here=tmp_path, protocol=ProtocolName.mission_report)
    _, outs = stages(tmp_path)["evaluate@oracle"]
    assert "results/reports/reports/oracle-default-none-report_v1.parquet" in outs


def test_the_benchmarks_of_the_repository_keep_their_pipeline(project):
    assert write_stages(project, "ma_bench") == []
    assert write_stages(project, "mission_report") == []


def test_the_first_run_of_a_benchmark_has_something_to_compare(made):
    assert first_sweep(made, []) == ["model=strong,weak,extractive"]
    assert first_sweep(made, ["benchmark=mybench", "seeds=1"]) == ["model=strong,weak,extractive"]
    assert first_sweep(made, ["model=weak"]) == []
    assert first_sweep(made, ["benchmark=mybench", "benchmark.data=nowhere"]) == []
    assert first_sweep(made, ["model.label=x"]) == []
    assert first_sweep(made, ["+experiment=smoke"]) == []
    add_scenario(made, "second")
    assert first_sweep(made, []) == ["model=extractive,empty"]
    assert first_sweep(made, ["benchmark.scenarios=[example]"]) == ["model=strong,weak,extractive"]
    (made / "results" / "mybench" / "verdicts").mkdir(parents=True)
    assert first_sweep(made, []) == []


def test_a_run_of_our_benchmark_keeps_its_default_model(project):
    assert first_sweep(project, []) == []
