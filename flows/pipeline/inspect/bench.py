"""Settings of a task from Inspect's arguments: what is written, and who judges."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import Model, get_model, model_roles

from flows.adapters.config.compose import compose_points
from flows.adapters.scenario_files import find_project
from flows.common.errors import ConfigError, StaffbenchError
from flows.common.telemetry import turn_off_telemetry
from flows.pipeline.inspect.models import InspectClient
from flows.pipeline.inspect.record import ConditionRecord
from flows.pipeline.results.settings_file import settings_of
from flows.pipeline.work.digests import judge_versions, rubric_digests, written_from
from flows.pipeline.work.evaluations import build_evaluations
from flows.pipeline.work.run_context import Evaluation, RunContext
from flows.pipeline.work.stores import context_of
from flows.schema.scenario import Scenario
from flows.schema.settings import JudgeKind

SCORER = "staffbench_judge"
_OWN = {"transport": "litellm", "provider": "inspect", "stream": "false", "note": "'called by Inspect'"}
"""Fields of a model that Inspect calls; litellm's transport needs no address, and is not used."""


@dataclass(frozen=True)
class Bench:
    """What the samples of one task share."""

    evaluation: Evaluation  # condition, judge and scenarios
    context: RunContext  # without a client, as each sample has its own
    models: Mapping[str, Model]  # by name: the one that is evaluated, and those that judge

    def scenario(self, sample_id: object) -> Scenario:
        """Return the scenario of a sample."""
        return next(each for each in self.evaluation.scenarios if each.scenario_id == str(sample_id))

    def with_client(self, *, raises: bool) -> tuple[RunContext, InspectClient]:
        """Return a context whose calls go to Inspect's models, and its client."""
        client = InspectClient(self.models, raises=raises)
        return replace(self.context, client=cast("Any", client)), client

    @property
    def record(self) -> ConditionRecord:
        """What the log's metadata says of the condition."""
        found = self.evaluation
        about = {
            "condition": asdict(found.condition),
            "judge": asdict(found.judge),
            "rubrics": dict(rubric_digests(found.scenarios)),
            "judge_versions": judge_versions(found),
            "written_from": written_from(found, self.context.packets.values()),
        }
        return ConditionRecord(SCORER, settings_of(found), sorted(found.changed), about)


def open_bench(
    benchmark: str,
    *,
    judge: str = "role",
    scenarios: str | Sequence[str] | None = None,
    overrides: str | Sequence[str] = "",
    project: str | None = None,
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
    chosen = [f"{axis}={value}" for axis, value in axes.items() if value is not None]
    chosen += [] if names is None else [f"benchmark.scenarios=[{','.join(map(str, names))}]"]
    chosen += overrides.split() if isinstance(overrides, str) else map(str, overrides)
    roles = {role: one[0] if isinstance(one, list) else one for role, one in model_roles().items()}
    try:
        folder = find_project(Path(project).resolve() if project else Path.cwd())
        return _bench(folder, (benchmark, judge, *chosen), get_model(), tuple(sorted(roles.items())))
    except StaffbenchError as error:
        raise PrerequisiteError(str(error)) from error


@lru_cache(maxsize=8)
def _bench(
    project: Path, arguments: tuple[str, ...], writer: Model, roles: tuple[tuple[str, Model], ...]
) -> Bench:
    turn_off_telemetry()
    # mockllm counts tokens by a file that tiktoken would fetch from the network, and litellm ships.
    if (litellm := find_spec("litellm")) is not None and litellm.origin is not None:
        shipped = Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(shipped))
    benchmark, judge, *chosen = arguments
    given, models = dict(roles), {str(writer): writer}
    given |= {"judge": get_model(judge)} if "/" in judge else {}
    preset = "openai_compatible" if judge == "role" or "/" in judge else judge
    fixed = [f"benchmark={benchmark}", "model=openai_compatible", *_named("model", writer)]
    fixed += [f"judge={preset}", "tracking=none"]
    to_be_named = _named("judge", writer) if preset == "openai_compatible" else []
    for role, key in _judging(project, [*fixed, *to_be_named]).items():
        if role not in given:
            add = f"add --model-role {role}=PROVIDER/MODEL, or -T judge=offline for the stand-in"
            raise ConfigError(f"judge={judge}", f"no model has the role {role}", "a model that judges", add)
        fixed += _named(key, given[role])
        models[str(given[role])] = given[role]
    point = compose_points(project, [*fixed, *chosen], multirun=False)[0]
    evaluation = build_evaluations(project, [point])[-1]
    results = project / point.settings.results / ".cache" / "inspect"
    return Bench(evaluation, context_of(project, results, [evaluation]), models)


def _judging(project: Path, fixed: Sequence[str]) -> dict[str, str]:
    """Return the roles whose models judge, each with its key in the settings."""
    judge = compose_points(project, fixed, multirun=False)[0].settings.judge
    members = {name: (f"judge.members.{name}", one) for name, one in (judge.members or {}).items()}
    found = members or {"judge": ("judge", judge)}
    return {name: key for name, (key, one) in found.items() if one.kind is not JudgeKind.offline}


def _named(key: str, model: Model) -> list[str]:
    name = "'" + str(model).replace("\\", "\\\\").replace("'", "\\'") + "'"
    return [f"{key}.{field}={value}" for field, value in {"name": name, "label": name, **_OWN}.items()]
