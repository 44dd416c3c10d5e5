"""The DVC pipeline of a benchmark: `dvc.yaml` and `params.yaml` in its folder, both generated."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import yaml

from flows.adapters.config.compose import Point, compose_points
from flows.adapters.scenario_files import CONTROLS
from flows.adapters.tables import SCHEMA_VERSION
from flows.common.errors import ConfigError, StoreError
from flows.common.files import write_whole
from flows.pipeline.inputs.packets import packet_path
from flows.pipeline.inputs.submission_check import REPORT_WORDS_VERSION
from flows.pipeline.native.contract import NATIVE_VERSION
from flows.pipeline.work.evaluations import kind_of
from flows.pipeline.work.report_writers import LOCAL_VERSION
from flows.pipeline.work.reports import SUBMISSION_VERSION
from flows.readers import READER_VERSIONS
from flows.schema.condition import condition_of, judge_of
from flows.schema.settings import BenchmarkSettings, scoring_suffix
from flows.stages.aggregate import AGGREGATE_VERSION
from flows.stages.extractive import EXTRACTIVE_VERSION
from flows.stages.generate import GENERATE_VERSION
from flows.stages.judge import JUDGE_VERSION
from flows.stages.offline import OFFLINE_VERSION
from flows.stages.offline.reference import REFERENCE_VERSION
from flows.stages.packet import PACKET_VERSION
from flows.stages.score import SCORE_VERSION
from flows.stages.truncate import WORD_COUNTER

_STAGES = """\
# Written by staffbench new and staffbench track, which write it again: edit params.yaml beside it instead.
# In the project's folder: dvc repro {path}
"""
_PARAMS = """\
# The values of dvc.yaml beside it. Edit `models`, such as [extractive, empty], then run
# staffbench track benchmark={name}, which writes everything else again. null: the controls that all
# scenarios have and the baseline; without such controls the baseline and an empty brief.
"""
_VERSIONS = {
    "packets": {"readers": READER_VERSIONS, "packet": PACKET_VERSION},
    "evaluate": {
        "readers": READER_VERSIONS,
        "extractive": EXTRACTIVE_VERSION,
        "generate": GENERATE_VERSION,
        "word_counter": WORD_COUNTER,
        "native": NATIVE_VERSION,
        "local": LOCAL_VERSION,
        "submission": SUBMISSION_VERSION,
        "report_words": REPORT_WORDS_VERSION,
        "offline": OFFLINE_VERSION,
        "reference": REFERENCE_VERSION,
        "judge": JUDGE_VERSION,
        "score": SCORE_VERSION,
        "tables": SCHEMA_VERSION,
    },
    "report": {
        "offline": OFFLINE_VERSION,
        "reference": REFERENCE_VERSION,
        "score": SCORE_VERSION,
        "aggregate": AGGREGATE_VERSION,
    },
}
"""What a stage depends on besides files. An installed package has no source files beside the project that
DVC could read them from, as the `dvc.yaml` of a clone does."""
_PLOT = {"title": "Score by condition", "template": "bar_horizontal", "x": "score", "y": "condition"}
_AXES = ("effort", "word_cap", "harness", "prompt", "judge", "judge_prompt", "scoring")


def first_models(project: Path, benchmark: BenchmarkSettings) -> list[str]:
    """Return what to grade first: the controls that every scenario has; without one, an empty brief."""
    kind = kind_of(benchmark)
    if kind.has_tasks:
        return ["oracle", "extractive", "empty"]
    folders = [file.parent for file in (project / benchmark.data).glob("*/scenario.yaml")]
    if benchmark.scenarios is not None:
        folders = [folder for folder in folders if folder.name in benchmark.scenarios]
    both = [
        name
        for name in CONTROLS
        if folders and all((folder / "controls" / f"{name}.md").is_file() for folder in folders)
    ]
    return [*both, "extractive"] if both else ["extractive", "empty"]


def first_sweep(project: Path, overrides: Sequence[str]) -> list[str]:
    """Return `model=...` of a benchmark's first run, so that it has something to compare.

    Returns:
        Empty if the overrides name a model or an experiment, if results are there or no scenarios are, and
        for the benchmarks of the repository where none is named.
    """
    axes = [override.lstrip("+~").partition("=")[0].partition(".")[0] for override in overrides]
    if "model" in axes or "experiment" in axes:
        return []
    settings = compose_points(project, overrides, multirun=False)[0].settings
    if "benchmark" not in axes and not (stages_folder(project, settings.benchmark) / "dvc.yaml").is_file():
        return []
    is_graded = (project / settings.results / settings.benchmark.name / "verdicts").is_dir()
    if is_graded or not (project / settings.benchmark.data).is_dir():
        return []
    return [f"model={','.join(first_models(project, settings.benchmark))}"]


def write_stages(project: Path, name: str) -> list[Path]:
    """Write the pipeline of a benchmark, unless the project's own `dvc.yaml` has it.

    Returns:
        The files that have changed.

    Raises:
        ConfigError: an edited `params.yaml` lists no models.
        StoreError: a file can't be read or written.
    """
    point = compose_points(project, [f"benchmark={name}"], multirun=False)[0]
    benchmark = point.settings.benchmark
    folder = stages_folder(project, benchmark)
    root = project / "dvc.yaml"
    if not folder.is_relative_to(project.resolve()):
        return []
    own = (folder / "dvc.yaml").exists() or not root.is_file()
    if not own and f"- {packets_of(benchmark)}\n" in root.read_text(encoding="utf-8"):
        return []
    params = folder / "params.yaml"
    chosen = _models(params)
    models = chosen or first_models(project, benchmark)
    scenarios = kind_of(benchmark).scenario_ids(project, benchmark, benchmark.scenarios)
    each = f"model={','.join(models)}"
    points = compose_points(project, [f"benchmark={name}", each], multirun=True)
    values = {
        "models": chosen,
        "scenarios": list(scenarios),
        "conditions": {model: _label_start(one) for model, one in zip(models, points, strict=True)},
        "versions": _plain(_VERSIONS),
    }
    shown = folder.relative_to(project.resolve()).as_posix()
    stages = _stages(project, shown, point, scenarios, models)
    written: list[Path] = []
    for path, head, content in (
        (params, _PARAMS.format(name=name), values),
        (folder / "dvc.yaml", _STAGES.format(path=shlex.quote(f"{shown}/dvc.yaml")), stages),
    ):
        text = head + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_whole(path, text)
            written.append(path)
    return written


def stages_folder(project: Path, benchmark: BenchmarkSettings) -> Path:
    """Return the folder of a benchmark's `dvc.yaml`: that of its scenarios, or the one above `tasks/`."""
    data = (project / benchmark.data).resolve()
    return data.parent if data.name == "tasks" else data


def stale_stages(project: Path, benchmark: BenchmarkSettings) -> str:
    """Say what to do if the benchmark's own pipeline has other scenarios than its folder; else nothing."""
    folder = stages_folder(project, benchmark)
    if not (folder / "params.yaml").is_file():
        return ""
    listed = yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8", errors="replace"))
    found = cast("dict[str, Any]", listed).get("scenarios") if isinstance(listed, dict) else None
    has = set(map(str, cast("list[object]", found))) if isinstance(found, list) else set[str]()
    there = set(kind_of(benchmark).scenario_ids(project, benchmark, None))
    if has == there or (benchmark.scenarios is not None and has <= there):  # some of them were chosen
        return ""
    return f"{benchmark.name}'s dvc.yaml has other scenarios: staffbench track benchmark={benchmark.name}"


def packets_of(benchmark: BenchmarkSettings) -> str:
    """Return the folder of a benchmark's packets, relative to the project."""
    return packet_path(Path(benchmark.data), benchmark.name, "any").parent.as_posix()


def _models(params: Path) -> list[str] | None:
    """Return the models that somebody listed; None if nobody did."""
    if not params.is_file():
        return None
    try:
        values = yaml.safe_load(params.read_text(encoding="utf-8"))
        found = values.get("models")
    except (OSError, ValueError, AttributeError, yaml.YAMLError) as error:
        raise StoreError(params, "no YAML with a key `models`", remedy="correct it, or delete it") from error
    if found is not None and not (isinstance(found, list) and found):
        raise ConfigError(params, f"models: {found!r}", "a list such as [extractive, empty], or null")
    return None if found is None else [str(model) for model in cast("list[object]", found)]


def _label_start(point: Point) -> str:
    """Return the part of a condition's name before word cap and prompt, which DVC fills in."""
    condition = condition_of(point.settings, point.changed)
    cap = "none" if condition.word_cap is None else condition.word_cap
    return condition.label.removesuffix(f"-{cap}-{condition.prompt}")


def _stages(
    project: Path, shown: str, point: Point, scenarios: Sequence[str], models: Sequence[str]
) -> dict[str, Any]:
    """Return `dvc.yaml`. Its paths are relative to the project, except those of `vars`."""
    settings, choices = point.settings, point.choices
    name = choices["benchmark"]
    benchmark, has_tasks = settings.benchmark, kind_of(settings.benchmark).has_tasks
    up = "/".join([".."] * len(Path(shown).parts))
    conf = {axis: f"conf/{axis}/{choices[axis]}.yaml" for axis in _AXES}
    packets, results = packets_of(benchmark), f"{settings.results}/{benchmark.name}"
    words = "none" if settings.word_cap.words is None else "${words}"
    judge = judge_of(settings, point.changed).label
    rest = f"-{words}-${{version}}"  # of a condition's name: it follows dvc exp run -S
    rubrics = [path for one in scenarios for path in _sources(project, benchmark, one, has_tasks=has_tasks)]
    suffix = scoring_suffix(benchmark.name, settings.scoring.name)
    tables = [f"briefs/${{item}}{rest}", *([f"reports/${{item}}{rest}"] if has_tasks else [])]
    tables += [f"{kind}/${{item}}{rest}/{judge}" for kind in ("verdicts", "scores")]
    boards = [f"leaderboard{suffix}.json", f"leaderboard{suffix}.md", f"site{suffix}", f"figures{suffix}"]
    if has_tasks:
        boards.append(f"tasks{suffix}.md")

    def versions(stage: str) -> dict[str, list[str]]:
        return {f"{shown}/params.yaml": [f"versions.{stage}"]}

    stages = {
        "packets": {
            "foreach": "${scenarios}",
            "do": {
                "wdir": up,
                "cmd": f"staffbench packets benchmark={name} 'benchmark.scenarios=[${{item}}]'",
                "deps": [
                    f"{benchmark.data}/${{item}}{path}"
                    for path in ([""] if has_tasks else ["/scenario.yaml", "/documents"])
                ],
                "params": [versions("packets")],
                "outs": [f"{packets}/${{item}}.parquet"],
            },
        },
        "evaluate": {
            "foreach": "${conditions}",
            "do": {
                "wdir": up,
                "cmd": f"staffbench run benchmark={name} model=${{key}}",
                "deps": [*(f"{packets}/{scenario}.parquet" for scenario in scenarios), *rubrics],
                "params": [
                    {"conf/config.yaml": ["defaults", "seeds"]},
                    {f"conf/benchmark/{choices['benchmark']}.yaml": None},
                    {"conf/model/${key}.yaml": None},
                    *({path: None} for path in conf.values()),
                    versions("evaluate"),
                ],
                "outs": [f"{results}/{table}.parquet" for table in tables],
            },
        },
        "report": {
            "wdir": up,
            "cmd": f"staffbench report --versioned benchmark={name}",
            "deps": [
                # Pages of briefs show the documents.
                *(f"{packets}/{scenario}.parquet" for scenario in scenarios if not has_tasks),
                f"{results}/briefs",
                f"{results}/verdicts",
                *(f"{results}/verdicts/${{conditions.{model}}}{rest}/{judge}.parquet" for model in models),
                *rubrics,
            ],
            "params": [{conf["scoring"]: None}, versions("report")],
            "outs": [f"{results}/{board}" for board in boards],
            "metrics": [f"{results}/metrics{suffix}.json"],
            "plots": [{f"{results}/leaderboard{suffix}.csv": _PLOT}],
        },
    }
    given = [] if words == "none" else [f"{up}/{conf['word_cap']}:words"]
    return {"vars": [*given, f"{up}/{conf['prompt']}:version"], "stages": stages}


def _sources(project: Path, benchmark: BenchmarkSettings, scenario: str, *, has_tasks: bool) -> list[str]:
    if has_tasks:
        labelled = f"{benchmark.controls}/{scenario}"
        there = benchmark.controls is not None and (project / labelled).is_dir()
        return [f"{benchmark.data}/{scenario}", *([labelled] if there else [])]
    found = [f"{benchmark.data}/{scenario}/{name}" for name in ("rubric.yaml", "controls")]
    return [path for path in found if os.path.lexists(project / path)]


def _plain(value: Any) -> Any:
    return {key: _plain(one) for key, one in value.items()} if hasattr(value, "items") else value
