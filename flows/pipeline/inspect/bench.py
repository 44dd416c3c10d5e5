"""Settings of a task from Inspect's arguments: what is written, and who judges."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import yaml
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import Model, get_model, model_roles

from flows.adapters.completions.threaded_client import ThreadedClient
from flows.adapters.config.compose import composed_yaml, compose_points
from flows.adapters.scenario_files import find_project
from flows.common.errors import ConfigError, StaffbenchError
from flows.common.telemetry import turn_off_telemetry
from flows.pipeline.inspect.models import InspectClient
from flows.pipeline.inspect.record import FORMAT, ConditionRecord
from flows.pipeline.results.settings_file import settings_of
from flows.pipeline.work.digests import judge_versions, rubric_digests
from flows.pipeline.work.evaluations import build_evaluations
from flows.pipeline.work.grade_one import context_of
from flows.pipeline.work.run_context import Evaluation, RunContext
from flows.schema.scenario import Scenario
from flows.schema.settings import JudgeKind

SCORER = "staffbench_judge"
"""Name of our scorer in logs."""
_OWN = {"transport": "litellm", "provider": "inspect", "stream": "false", "note": "'called by Inspect'"}
"""Fields of a model that Inspect calls; litellm's transport needs no address, and is not used."""


@dataclass(frozen=True)
class Bench:
    """What the samples of one task share.

    Attributes:
        evaluation: condition, judge and scenarios.
        context: without a client, which each sample has its own of.
        writer: name and model that are evaluated.
        judges: models that judge, by name; empty for the offline judge.
    """

    evaluation: Evaluation
    context: RunContext
    writer: tuple[str, Model]
    judges: Mapping[str, Model]

    def scenario(self, sample_id: object) -> Scenario:
        """Return the scenario of a sample."""
        return next(each for each in self.evaluation.scenarios if each.scenario_id == str(sample_id))

    def judging(self) -> tuple[RunContext, InspectClient]:
        """Return a context whose calls go to the judge's models."""
        return self._with(InspectClient(self.judges, raises=False))

    def writing(self) -> tuple[RunContext, InspectClient]:
        """Return a context whose calls go to the model that is evaluated."""
        return self._with(InspectClient(dict([self.writer]), raises=True))

    def _with(self, client: InspectClient) -> tuple[RunContext, InspectClient]:
        return replace(self.context, client=cast("ThreadedClient", client)), client

    @property
    def record(self) -> ConditionRecord:
        """What the log's metadata says of the condition."""
        found, condition, judge = self.evaluation, self.evaluation.condition, self.evaluation.judge
        return ConditionRecord(
            scorer=SCORER,
            format=FORMAT,
            settings=settings_of(found),
            changed=sorted(found.changed),
            condition=condition.label,
            judge=judge.label,
            digests=[condition.digest, judge.digest],
            rubrics=dict(rubric_digests(found.scenarios)),
            judge_versions=judge_versions(found),
        )


def open_bench(
    benchmark: str,
    *,
    judge: str,
    scenarios: str | Sequence[str] | None,
    overrides: str | Sequence[str],
    project: str | None,
    **axes: object,
) -> Bench:
    """Compose the settings of a task; the same arguments under the same models are composed once.

    Args:
        benchmark: an option of `conf/benchmark`.
        judge: `role` for the model of the role `judge`; a model's name, with its provider; or an option of
            `conf/judge`, whose models are those of the role `judge`, for a panel of roles named like its
            members.
        scenarios: ids; None for all.
        overrides: for anything else, in Hydra's syntax.
        project: folder of the project; None for the current folder or one above it.
        **axes: `word_cap`, `effort` and others; None for the benchmark's own.

    Raises:
        PrerequisiteError: the settings are invalid, or a role has no model.
    """
    names = scenarios.split(",") if isinstance(scenarios, str) else scenarios
    chosen = [
        f"{axis}={'none' if value == 'none' else value}" for axis, value in axes.items() if value is not None
    ]
    chosen += [] if names is None else [f"benchmark.scenarios=[{','.join(map(str, names))}]"]
    chosen += overrides.split() if isinstance(overrides, str) else map(str, overrides)
    given = {role: found[0] if isinstance(found, list) else found for role, found in model_roles().items()}
    try:
        folder = find_project(Path(project).resolve() if project else Path.cwd())
        writer = get_model()
        return _bench(folder, benchmark, judge, tuple(chosen), writer, tuple(sorted(given.items())))
    except StaffbenchError as error:
        raise PrerequisiteError(str(error)) from error


@lru_cache(maxsize=8)
def _bench(
    project: Path,
    benchmark: str,
    judge: str,
    chosen: tuple[str, ...],
    writer: Model,
    roles: tuple[tuple[str, Model], ...],
) -> Bench:
    turn_off_telemetry()
    # mockllm counts tokens by a file that tiktoken would fetch from the network, and litellm ships.
    if (litellm := find_spec("litellm")) is not None and litellm.origin is not None:
        shipped = Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(shipped))
    preset, given = judge, dict(roles)
    if judge == "role" or "/" in judge:
        preset = "openai_compatible"
        given |= {"judge": get_model(judge)} if "/" in judge else {}
    model = ["model=openai_compatible", *_named("model", writer)]
    fixed = [f"benchmark={benchmark}", *model, f"judge={preset}", "tracking=none"]
    judges: dict[str, Model] = {}
    for role, key in _roles(project, fixed).items():
        if role not in given:
            offline = "or -T judge=offline for the stand-in"
            add = f"add --model-role {role}=PROVIDER/MODEL, {offline}"
            raise ConfigError(f"judge={judge}", f"no model has the role {role}", "a model that judges", add)
        fixed += _named(key, given[role])
        judges[str(given[role])] = given[role]
    point = compose_points(project, [*fixed, *chosen], multirun=False)[0]
    evaluation = build_evaluations(project, [point])[-1]
    results = project / point.settings.results / ".cache" / "inspect"
    return Bench(evaluation, context_of(project, results, [evaluation]), (str(writer), writer), judges)


def _roles(project: Path, fixed: Sequence[str]) -> dict[str, str]:
    """Return the roles whose models judge, each with its key in the settings."""
    judge = yaml.safe_load(composed_yaml(project, fixed))["judge"]
    match judge["kind"]:
        case JudgeKind.offline.value:
            return {}
        case JudgeKind.panel.value:
            members = judge["members"].items()
            return {
                name: f"judge.members.{name}"
                for name, one in members
                if one["kind"] == JudgeKind.remote.value
            }
        case _:
            return {"judge": "judge"}


def _named(key: str, model: Model) -> list[str]:
    escaped = str(model).replace("\\", "\\\\").replace("'", "\\'")
    fields = {"name": f"'{escaped}'", "label": f"'{escaped}'", **_OWN}
    return [f"{key}.{name}={value}" for name, value in fields.items()]
