"""Reject overridden values that have no effect, and give an overridden scoring a name of its own.

Values of options are not checked: a judge's preset has a whole model, of which a judge uses a part.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, replace
from typing import Any, cast

from flows.common.digests import canonical_json, sha256_text
from flows.common.errors import ConfigError, Problems, StaffbenchError
from flows.schema.settings import Harness, JudgeHarness, JudgeKind, ProtocolName, ScoringSettings

_NO_JUDGE = {
    "writer": ("a judge writes no briefs", "model.writer, or judge=... for another judge"),
    "folder": ("a judge reads no folder", "model.folder, or staffbench grade DIR"),
    "benchmark_effort": ("effort=benchmark is of writers", "judge.effort"),
}
"""Keys of a model that judges don't use: why, and what to set instead."""
_OF_STAND_IN = frozenset(
    {"kind", "label", "note", "repeat", "canaries"}
)  # the last two are rejected by value
_OF_PANEL = frozenset(
    {"kind", "label", "note", "mode", "harness", "allow_self", "repeat", "canaries", "quorum", "members"}
)


def refuse_without_effect(
    container: Mapping[str, Any], named: Mapping[str, Any], members: Mapping[str, Mapping[str, Any]]
) -> None:
    """Check every value of a validated point that differs from `named`, the point of its named options alone.

    For a panel, `members` has each member's section from its preset alone.

    Raises:
        ConfigError, Problems: values without effect, each with an alternative.
    """
    found = [
        *_of_harness(container, named),
        *_of_benchmark(container, named),
        *_of_judge("judge", container["judge"], named["judge"]),
        *_of_agent("judge", container["judge"], named["judge"], container["judge"]["harness"]),
    ]
    for name, preset in members.items():
        where, member = f"judge.members.{name}", container["judge"]["members"][name]
        found += _of_judge(where, member, preset)
        found += _of_agent(where, member, preset, container["judge"]["harness"])
        if member["kind"] == JudgeKind.remote.value and "harness" in changed_keys(member, preset):
            why = "has no effect on a member of a panel, whose form of call counts for all"
            found.append(ConfigError(f"{where}.harness", why, "judge.harness"))
    if len(found) == 1:
        raise found[0]
    if found:
        raise Problems.of("configuration", list[StaffbenchError](found))


def _of_harness(container: Mapping[str, Any], named: Mapping[str, Any]) -> Iterator[ConfigError]:
    if container["harness"]["name"] != Harness.single_prompt.value:
        return
    why = "has no effect under harness=single_prompt, which is one prompt and one reply"
    instead = "benchmark=mission_report, whose harness has limits; a reply is limited by model.output_tokens"
    for key in changed_keys(container["harness"], named["harness"]):
        if key != "name":
            yield ConfigError(f"harness.{key}", why, instead)


def _of_benchmark(container: Mapping[str, Any], named: Mapping[str, Any]) -> Iterator[ConfigError]:
    if container["benchmark"]["protocol"] != ProtocolName.ma_bench.value:
        return
    if "controls" in changed_keys(container["benchmark"], named["benchmark"]):
        why = "has no effect under the protocol ma_bench, whose controls lie beside each scenario"
        yield ConfigError("benchmark.controls", why, "benchmark.data, whose scenarios hold them")


def _of_judge(where: str, judge: Mapping[str, Any], named: Mapping[str, Any]) -> Iterator[ConfigError]:
    kind = judge["kind"]
    for key in changed_keys(judge, named):
        top = key.partition(".")[0]
        if top in _NO_JUDGE:
            why, instead = _NO_JUDGE[top]
            yield ConfigError(f"{where}.{key}", f"has no effect: {why}", instead)
        elif kind == JudgeKind.offline.value and top not in _OF_STAND_IN:
            why = f"has no effect with {where}=offline, which is asked nothing"
            instead = f"a judge that is, such as {where}=openai_compatible"
            yield ConfigError(f"{where}.{key}", why, instead)
        elif kind == JudgeKind.panel.value and top not in _OF_PANEL:
            why = "has no effect on a panel, which is asked nothing itself"
            yield ConfigError(f"{where}.{key}", why, f"{where}.members.NAME.{key}")


def _of_agent(
    where: str, judge: Mapping[str, Any], named: Mapping[str, Any], harness: str
) -> Iterator[ConfigError]:
    if judge["kind"] != JudgeKind.remote.value or harness == JudgeHarness.agent.value:
        return
    if "max_steps" in changed_keys(judge, named):
        why = f"has no effect under judge.harness={harness}, which is one call"
        yield ConfigError(f"{where}.max_steps", why, "judge.harness=agent")


def changed_keys(values: Mapping[str, Any], named: Mapping[str, Any]) -> list[str]:
    """Return the dotted keys whose values differ, or which only one of the two has."""
    found: list[str] = []
    for key in [*values, *(key for key in named if key not in values)]:
        ours, theirs = values.get(key), named.get(key)
        if key in values and key in named and ours == theirs:
            continue
        if isinstance(ours, dict) and isinstance(theirs, dict) and key != "members":
            below = changed_keys(cast("dict[str, Any]", ours), cast("dict[str, Any]", theirs))
            found += [f"{key}.{name}" for name in below]
        else:
            found.append(key)
    return found


def rename_if_overridden(scoring: ScoringSettings, named: Mapping[str, Any]) -> ScoringSettings:
    """Rename the scoring if a value differs from its named option.

    As for conditions, the name ends in a digest, so its leaderboard, scores and MLflow runs don't replace
    those of the named option. Changed points are marked as assumed.
    """
    values = {key: value for key, value in asdict(scoring).items() if key not in ("name", "assumed")}
    defaults = {field.name: field.default for field in fields(scoring)}
    if all(named.get(key, defaults[key]) == value for key, value in values.items()):
        return scoring
    published: Mapping[str, Any] = named.get("weights") or {}
    own = [name for name, points in scoring.weights.items() if published.get(name) != points]
    return replace(
        scoring,
        name=f"{scoring.name}-{sha256_text(canonical_json(values))[:8]}",
        assumed=[*scoring.assumed, *(name for name in own if name not in scoring.assumed)],
    )
