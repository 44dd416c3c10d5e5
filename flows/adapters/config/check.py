"""Validate the composed configuration against `flows.schema.settings`.

pydantic rejects unknown keys, wrong types and most numbers out of range; names, shares and combinations are
checked here. Every error suggests the nearest valid value.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from flows.adapters.config.described import key_types
from flows.adapters.config.fitting import Unfit, unfit_agent, unfit_judge, unfit_protocol
from flows.adapters.config.messages import explained, nearest, nearest_key
from flows.adapters.config.secrets import check_address, instead_of_secret, is_credential, refuse_secrets
from flows.common.errors import ConfigError, Problems, StaffbenchError
from flows.schema.condition import as_asked
from flows.schema.settings import (
    ClusterKind,
    Effort,
    Engine,
    ModelSettings,
    RunnerSettings,
    ScoringSettings,
    Settings,
    Transport,
    Writer,
)

MEMBERS = "judge.members."  # key prefix of a panel's members

_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,59}")
_TAKEN = frozenset({"completions", "mlartifacts", "mlruns", "mlflow.db", "packets"})
"""Reserved names in the folder of results or data."""


def checked(container: Mapping[str, Any], overrides: Sequence[str]) -> Settings:
    """Validate types with pydantic, then ranges and combinations.

    Raises:
        ConfigError, Problems: all errors.
    """
    for section in ("model", "judge"):
        _refuse_unfit(section, container.get(section))
    judge: Any = container.get("judge")
    if isinstance(judge, dict):
        members: Any = cast("dict[str, Any]", judge).get("members")
        for name, member in cast("dict[str, Any]", members or {}).items():
            _refuse_unfit(f"{MEMBERS}{name}", member)
    try:
        settings = _adapter().validate_json(json.dumps(container), strict=True)
    except ValidationError as error:
        keys = sorted(_key_names())
        raise _together([explained(detail, keys) for detail in error.errors()], overrides) from None
    problems = [ConfigError(key, found, expected) for key, found, expected in _out_of_range(settings)]
    if problems:
        raise _together(problems, overrides)
    return settings


def _together(problems: Sequence[ConfigError], overrides: Sequence[str]) -> StaffbenchError:
    """Return one error for all; a single one stands by itself."""
    if len(problems) == 1:
        return problems[0]
    return Problems.of(" ".join(overrides) or "configuration", list[StaffbenchError](problems))


@cache
def _adapter() -> TypeAdapter[Settings]:
    return TypeAdapter(Settings)  # cached: 20 ms to build, used for every point of a sweep


def _refuse_unfit(section: str, settings: Any) -> None:
    if not isinstance(settings, dict):
        return  # pydantic says what is wrong with it
    settings = cast("dict[str, Any]", settings)
    refuse_secrets(section, settings)
    if settings.get("writer") != Writer.remote.value:
        return
    if not settings.get("name"):
        fit = "the provider's name of the model"
        raise ConfigError(f"{section}.name", "not set", fit, f"add {section}.name=...")
    transport, address, key = settings.get("transport"), settings.get("api_base"), f"{section}.api_base"
    if not address and transport == Transport.openai_http.value:
        raise ConfigError(key, "not set", "the endpoint's address", f"add {key}=http://.../v1")
    if not address and transport == Transport.gguf.value:
        raise ConfigError(key, "not set", "the path of a GGUF file", f"add {key}=FILE.gguf")
    if isinstance(address, str) and transport != Transport.gguf.value:
        check_address(key, address)


def _out_of_range(s: Settings) -> Iterator[Unfit]:
    judges = [("judge", s.judge), *((f"{MEMBERS}{name}", one) for name, one in s.judge.members.items())]
    for key, name in (("benchmark.name", s.benchmark.name), ("scoring.name", s.scoring.name)):
        if not _FOLDER.fullmatch(name) or name.lower() in _TAKEN:
            fit = "up to 60 of A-Z, a-z, 0-9, _ . + -, beginning with a letter or digit, free in results/"
            yield key, repr(name), fit
    if s.benchmark.scenarios is not None and not s.benchmark.scenarios:
        yield "benchmark.scenarios", "an empty list", "ids of scenarios, or null for all"
    yield from _unfit_shares(s.scoring)
    yield from _unfit_runner(s.runner)
    yield from unfit_protocol(s)
    efforts: list[tuple[str, Effort, ModelSettings]] = [("effort", s.effort.level, s.model)]
    efforts += [(f"{where}.effort", judge.effort, judge) for where, judge in judges]
    for where, level, model in efforts:
        if level.value not in model.efforts:
            fit = "one of " + ", ".join(model.efforts)
            yield f"{where}={level.value}", f"{model.label} does not take it", fit
    for where, judge in judges:
        yield from unfit_judge(where, judge)
        if judge.quotes and not s.judge_prompt.quotes:
            fit = "a prompt that asks for quotes, such as v1"
            yield f"judge_prompt={s.judge_prompt.version}", f"no quotes, for {where}.quotes=true", fit
        yield from unfit_agent(where, judge if where == "judge" else as_asked(s.judge, judge), s)


def _unfit_shares(scoring: ScoringSettings) -> Iterator[Unfit]:
    if not 0 < scoring.interval_level < 1:
        yield "scoring.interval_level", str(scoring.interval_level), "between 0 and 1"
    if not 0 < scoring.min_graded <= 1:
        yield "scoring.min_graded", str(scoring.min_graded), "more than 0, up to 1"
    if not 0 <= scoring.min_coverage <= 1:
        yield "scoring.min_coverage", str(scoring.min_coverage), "0 to 1"


def _has_port(pattern: str, address: str) -> bool:
    match = re.fullmatch(pattern, address)
    return match is not None and 0 < int(match[1]) < 65536  # noqa: PLR2004 -- the range of ports


def _unfit_runner(runner: RunnerSettings) -> Iterator[Unfit]:
    of_cluster = {
        "scheduler": runner.scheduler is not None,
        "cluster": runner.cluster is not ClusterKind.local,
        "workers": runner.workers is not None,
        "chains_per_worker": runner.chains_per_worker is not None,
        "contact": runner.contact is not None,
    }
    if runner.engine is not Engine.dask:
        for key in (key for key, given in of_cluster.items() if given):
            yield f"runner.{key}", "set, and there is no cluster", "runner=dask, or null"
        return
    if runner.batch:
        yield "runner.batch", "true, on a cluster", "runner=batch: one process collects batches"
    if runner.scheduler is not None:
        if not _has_port(r"(?:tcp|tls|ws|wss)://\S+:(\d+)", runner.scheduler):
            yield "runner.scheduler", repr(runner.scheduler), "tcp://HOST:PORT"
        for key in ("cluster", "workers", "chains_per_worker"):
            if of_cluster[key]:
                yield f"runner.{key}", "set, and runner.scheduler has its workers", "one of the two"
    if runner.contact is not None and not _has_port(r"[^\s:/]+:(\d+)", runner.contact):
        yield "runner.contact", repr(runner.contact), "HOST:PORT"


def refuse_unknown(overrides: Sequence[str], known: Mapping[str, list[str]]) -> None:
    """Reject unknown axes, options and keys, all of them, with a suggestion. Hydra only names the first one.

    Raises:
        ConfigError: one is unknown.
        Problems: several are.
    """
    found: list[StaffbenchError] = []
    for override in overrides:
        try:
            _refuse_unknown(override, known)
        except ConfigError as error:
            found.append(error)
    if found:
        raise Problems.one_or_all("command line", found)


def _refuse_unknown(override: str, known: Mapping[str, list[str]]) -> None:
    key, has_value, value = override.partition("=")
    name = key.lstrip("+~")
    if not name or not (has_value or key.startswith("~")):
        more = "a value with a space is written in quotes" if not has_value else ""
        raise ConfigError(override, "not an override", "key=value", more)
    if is_member(name):
        if value not in known["judge"] and not key.startswith("~"):
            raise ConfigError(override, f"no option {value!r}", nearest(value, known["judge"]))
        return
    if name.startswith(MEMBERS):  # members have the keys of a judge
        name = f"judge.{name.removeprefix(MEMBERS).partition('.')[2]}"
    if name in known:
        _refuse_option(override, key, value, known[name])
        return
    names = _key_names()
    if name not in names and not below_free_key(name) and not is_weight(name):
        section, _, last = name.rpartition(".")
        if section in ("model", "judge") and is_credential(last):  # its value is not shown
            raise ConfigError(name, "no such key: settings are stored", instead_of_secret(section))
        raise ConfigError(override, f"no key {name!r}", nearest_key(name, sorted({*names, *known})))


def _refuse_option(override: str, key: str, value: str, options: Sequence[str]) -> None:
    """Reject an unknown option of an axis; `word_cap` takes any number, too."""
    name = key.lstrip("+~")
    if key.startswith("~"):
        raise ConfigError(key, "an axis can't be removed", f"another of its options: staffbench list {name}")
    if name == "experiment" and not key.startswith("+"):
        raise ConfigError(override, "a grid is added to the configuration", f"+{override}")
    if value.strip("'\"") in options or (name == "word_cap" and value.isdigit()):
        return
    if name == "word_cap":
        raise ConfigError(override, f"no cap {value!r}", "a number of words, as in word_cap=1500, or none")
    make = f"to make one: staffbench new {value}" if name == "benchmark" else ""
    raise ConfigError(override, f"no option {value!r}", nearest(value, options), make)


def refuse_member(overrides: Sequence[str]) -> None:
    """Explain why Hydra rejected the choice of a panel's member."""
    for override in overrides:
        key = override.partition("=")[0]
        if key.startswith(MEMBERS):
            member = key.removeprefix(MEMBERS).partition(".")[0]
            fit = f"judge=panel and one of its members, or +{MEMBERS}{member}=... for a further one"
            raise ConfigError(override, "the judge has no such member", fit)


@cache
def _key_names() -> frozenset[str]:
    return frozenset(key_types())


def is_member(key: str) -> bool:
    """True for the key that chooses a member of a panel: `judge.members.first`, `+judge.members.new`."""
    name = key.lstrip("+~")
    return name.startswith(MEMBERS) and "." not in name.removeprefix(MEMBERS)


def below_free_key(name: str) -> bool:
    """True for a key below one that may hold whatever an endpoint takes: `model.parameters.top_p`."""
    return any(f".{free}." in name for free in ("parameters", "efforts", "headers", "cluster_options"))


def is_weight(name: str) -> bool:
    """True for the key of a single weight: `scoring.weights.important`. The option defines which exist."""
    return name.startswith("scoring.weights.")


def refuse_unweighted(overrides: Sequence[str], config: Mapping[str, Any]) -> None:
    """Reject single weights that the chosen option lacks, with a suggestion.

    Raises:
        ConfigError: a weight that the option does not have.
    """
    known = [str(name) for name in config["scoring"]["weights"]]
    for override in overrides:
        key = override.partition("=")[0].lstrip("+~")
        name = key.removeprefix("scoring.weights.")
        if is_weight(key) and name not in known:
            option = f"scoring={config['scoring']['name']}"
            fit = nearest(name, known) if known else "equal_points: here each criterion has its own points"
            raise ConfigError(override, f"no weight {name!r} in {option}", fit)
