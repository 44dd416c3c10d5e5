"""Every value that can be set changes what results go by, or is refused, or is listed here with a reason."""

import copy
import enum
import re
import types
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Union, get_args, get_origin, get_type_hints

import pytest

from flows.adapters.config.check import checked
from flows.adapters.config.compose import compose, compose_points, opened
from flows.adapters.config.described import options
from flows.adapters.config.effect import refuse_without_effect, rename_if_overridden
from flows.common.errors import StaffbenchError
from flows.schema.condition import as_asked, condition_of, judge_of
from flows.schema.settings import JudgeSettings, Settings

MODEL = ("model.name=any", "model.api_base=http://127.0.0.1/v1")
JUDGE = ("judge.name=any", "judge.api_base=http://127.0.0.1/v1")
REPORTS = "benchmark=mission_report"
MEMBER = "judge.members."


@dataclass(frozen=True)
class Place:
    """Where a leaf stands: what was composed, and what it is in words of the settings."""

    settings: Settings
    leaf: str

    @property
    def reports(self):
        return self.settings.benchmark.protocol.value == "mission_report"

    @property
    def judge(self):
        """The judge that the leaf is of: the point's, or a member of its panel."""
        judge = self.settings.judge
        return judge.members[self.leaf.split(".")[2]] if self.leaf.startswith(MEMBER) else judge

    @property
    def key(self):
        """Of a member of a panel as of a judge."""
        return f"judge.{self.leaf.split('.', 3)[3]}" if self.leaf.startswith(MEMBER) else self.leaf


def always(_):
    return True


# Leaves that change no identity: their beginning, where that is so, and why it is meant so.
BY_DESIGN = [
    ("runner.", always, "how fast, how long, how often a call is tried: never what is sent"),
    ("budget.", always, "where a run stops; the same command resumes it"),
    ("tracking.", always, "where runs are logged beside the results"),
    ("retry", always, "which failed calls are asked again; counts say what is missing"),
    ("store", always, "where replies are kept, which are the same everywhere"),
    ("model.note", always, "printed under the table"),
    ("judge.note", always, "printed under the table"),
    ("model.price.", always, "what a call costs"),
    ("judge.price.", always, "what a call costs"),
    ("model.api_key_env", always, "who pays"),
    ("judge.api_key_env", always, "who pays"),
    ("model.context_tokens", always, "a limit: what does not fit is refused, never cut"),
    ("judge.context_tokens", always, "a limit: what does not fit is refused, never cut"),
    ("model.benchmark_effort", always, "what effort=benchmark reads: effort.level is the identity"),
    ("model.takes_tools", always, "a fact about the model; where tools are needed, false is refused"),
    ("judge.takes_tools", lambda at: not at.reports, "a fact about the model; none are offered for briefs"),
    ("model.takes_images", lambda at: not at.reports, "a fact about the model; packets are text"),
    ("judge.takes_images", lambda at: not at.reports, "a fact about the model; briefs are text"),
    ("judge.allow_self", always, "leave to run at all; rows that use it are marked"),
    ("harness.assumed", always, "which limits are ours, printed under the table"),
    ("benchmark.controls", always, "where labelled reports lie: what they say is known by its digest"),
    ("judge_prompt.quotes", lambda at: not at.settings.judge.quotes, "read with judge.quotes=true"),
    ("judge_prompt.agent", lambda at: at.settings.judge.harness.value != "agent", "read by an agent judge"),
    ("prompt.additions", always, "printed under the table"),
    ("judge_prompt.", lambda at: at.settings.judge.kind.value == "offline",
     "the stand-in reads none and says so"),
]  # fmt: skip


def reason(place):
    """Why a leaf changes nothing by design; None where it should."""
    found = [why for begin, where, why in BY_DESIGN if place.key.startswith(begin) and where(place)]
    return found[0] if found else None


def leaves(section, kind, prefix=""):
    """Dotted key, type and value of everything that can be set in a section."""
    hints = get_type_hints(kind, include_extras=False)
    for field in fields(kind):
        key, hint, value = f"{prefix}{field.name}", hints[field.name], section.get(field.name)
        if is_dataclass(hint):
            yield from leaves(value, hint, f"{key}.")
        elif field.name == "members":
            for name, member in (value or {}).items():
                yield from leaves(member, JudgeSettings, f"{key}.{name}.")
        elif field.name in section:
            yield from below(key, hint, value)


def below(key, hint, value):
    if get_origin(hint) is not dict:
        yield key, hint, value
        return
    free = "weights" not in key
    inner = get_args(hint)[1]
    if free and get_origin(inner) is not dict:
        yield f"{key}.any_further", str, None
    for name, one in value.items():
        yield from below(f"{key}.{name}", inner if get_origin(inner) else type(one), one)


def others(hint, value):
    """Values of the same type that differ."""
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(one for one in get_args(hint) if one is not type(None))
    if get_origin(hint) is Annotated:  # with its range
        hint = get_args(hint)[0]
    if get_origin(hint) in (list, tuple):
        return [[], ["page_chars"], ["important"], ["alder"]]
    if isinstance(hint, enum.EnumMeta):
        return [one.value for one in hint if one.value != value]
    changed = {
        bool: lambda: not value,
        int: lambda: 1 if value is None else value + 1,
        float: lambda: 0.5 if value is None else value + 0.01,
    }
    # Where there is none an address, or the name of a variable, which no address is.
    return [changed[hint]()] if hint in changed else [f"{value}x"] if value else ["http:x", "ANY_x"]


def identity(container, named):
    """What results go by: names and digests of condition and judge, of the scoring, and where they lie."""
    settings = checked(container, ())
    members = named["judge"].get("members", {})
    refuse_without_effect(container, named, members)
    every = {*container, *(f"{MEMBER}{name}" for name in members)}  # labels with their digests
    scoring = rename_if_overridden(settings.scoring, named["scoring"])
    return (
        condition_of(settings, every),
        judge_of(settings, every),
        (scoring.name, tuple(scoring.assumed)),
        (settings.results, settings.seeds),
    )


def set_in(container, leaf, value):
    """A copy with the leaf set; only what is on the way to it is copied."""
    changed = dict(container)
    at = changed
    *way, last = leaf.split(".")
    for part in way:
        at[part] = dict(at[part])
        at = at[part]
    if at.get(last) == value and last in at:
        return None
    at[last] = value
    return changed


def faults(container, sections):
    """Leaves that change nothing and are not listed, and those that are listed and change something."""
    settings = checked(container, ())
    before = identity(container, container)
    found = []
    for leaf, hint, value in leaves(container, Settings):
        if leaf.split(".")[0] not in sections:
            continue
        meant = reason(Place(settings, leaf))
        tried = [one for other in others(hint, value) if (one := (other, set_in(container, leaf, other)))[1]]
        if not tried:
            found.append(f"{leaf}: no other value was tried")
        for other, changed in tried:
            if leaf.startswith(MEMBER) and leaf.endswith(".mode"):
                asked_in = as_asked(settings.judge, Place(settings, leaf).judge).mode.value
                if other == asked_in:
                    continue  # the panel's mode already has the member asked so
            try:
                same = identity(changed, container) == before
            except StaffbenchError:
                continue
            if same != (meant is not None):
                found.append(f"{leaf}={other}: {'changes nothing' if same else f'is listed: {meant}'}")
    return found


def asked(axis, name):
    needed = {"model": MODEL, "judge": JUDGE, "effort": MODEL}.get(axis, ())
    first = ("model=openai_compatible",) if axis == "effort" else ()
    return [*first, f"{axis}='{name}'", *needed]


def composed(project, overrides):
    """The container of a point that can be run; None where these do not go together."""
    try:
        container = compose(project, overrides)[0]
        checked(container, ())
    except StaffbenchError:
        return None
    return copy.deepcopy(container)


def test_every_leaf_of_every_option_changes_an_identity_or_is_refused_or_listed(project):
    every = [
        (axis, name) for axis, names in options(project).items() if axis != "experiment" for name in names
    ]
    found = {}
    with opened(project):
        for axis, name in every:
            # Where an option of benchmark is chosen, all that it chooses; else the option's own section.
            sections = set(Settings.__dataclass_fields__) if axis == "benchmark" else {axis}
            words = asked(axis, name)
            point = composed(project, words) or composed(project, [REPORTS, *words])
            assert point is not None, (axis, name)
            for fault in faults(point, sections):
                found.setdefault(fault, f"{axis}={name}")
    assert found == {}


@pytest.mark.parametrize("judge", ["offline", "openai_compatible", "panel"])
@pytest.mark.parametrize(
    "model", ["openai_compatible", "extractive", "files", "strong", "empty", "local_gguf"]
)
@pytest.mark.parametrize("base", [[], [REPORTS]])
def test_every_leaf_beside_every_kind_of_writer_and_judge(project, base, model, judge):
    needed = [*(MODEL if model in ("openai_compatible", "local_gguf") else ())]
    needed += [*(JUDGE if judge == "openai_compatible" else ())]
    tools = ["model.takes_tools=true"] if model == "local_gguf" else []
    with opened(project):
        point = composed(project, [*base, f"model={model}", f"judge={judge}", *needed, *tools])
        assert point is not None
        assert faults(point, set(Settings.__dataclass_fields__)) == []


@pytest.mark.slow
def test_every_entry_of_the_list_is_needed(project, monkeypatch):
    listed, remote = list(BY_DESIGN), ["model=openai_compatible", *MODEL]
    with opened(project):
        points = [
            composed(project, [*remote, "judge=offline"]),
            composed(project, [*remote, "judge=openai_compatible", *JUDGE]),
            composed(project, [REPORTS, *remote]),
            composed(
                project, [REPORTS, *remote, "judge=openai_compatible", *JUDGE, "judge.harness=single_call"]
            ),
            composed(project, [*remote, "judge=panel"]),
        ]
    for entry in listed:
        monkeypatch.setitem(globals(), "BY_DESIGN", [other for other in listed if other is not entry])
        section = {entry[0].split(".")[0]}
        found = [fault for point in points for fault in faults(point, section)]
        keys = {re.sub(rf"^{MEMBER}[^.]+", "judge", fault) for fault in found}
        assert any(key.startswith(entry[0]) for key in keys), entry[0]


def test_an_effort_that_effort_benchmark_reads_changes_the_condition(project):
    def digest(*more):
        overrides = ["model=openai_compatible", *MODEL, *more]
        (point,) = compose_points(project, overrides, multirun=False)
        return condition_of(point.settings, point.changed).digest

    assert digest("model.benchmark_effort=high") == digest("effort=high") != digest()
