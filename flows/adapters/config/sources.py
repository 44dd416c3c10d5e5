"""Where options come from, and what of Hydra's own configuration a run uses."""

import os
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from hydra._internal.hydra import Hydra
from hydra._internal.utils import create_config_search_path
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, MissingConfigException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.resolvers import oc

from flows.adapters.config.effect import changed_keys
from flows.adapters.config.secrets import is_random
from flows.common.errors import ConfigError

_NAME = "hydra.job.config_name"  # what --config-name becomes among the overrides
_PATH = "hydra.searchpath"  # what --config-dir becomes
_MODE = "hydra.mode"
_USED = f"{_MODE}=MULTIRUN or {_PATH}=[...]"
_UNREAD = (
    "run", "sweep", "launcher", "sweeper", "callbacks", "job_logging", "hydra_logging", "env", "verbose",
)  # fmt: skip
"""Sections of Hydra's configuration that its own launcher reads, and nothing here."""
_WHY = "a sweep runs in this process, without Hydra's launcher and folders"
_SECRET = re.compile(
    r"(^|_)(api)?(key|token|secret|passw(or)?d|pwd|auth|authorization|bearer|credentials?|pat)s?(_|$)",
    re.IGNORECASE,
)
_UNSET: Any = object()


@dataclass(frozen=True)
class Source:
    """Where a configuration is composed from."""

    config_name: str = "config"  # the primary configuration (`--config-name`)
    paths: tuple[str, ...] = ()  # folders and packages beside `conf/` (`--config-dir`, `hydra.searchpath`)

    @property
    def overrides(self) -> list[str]:
        """What `split_hydra` reads it from."""
        quoted = ",".join('"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"' for path in self.paths)
        paths = [f"{_PATH}=[{quoted}]"] if self.paths else []
        return [*paths, *([f"{_NAME}={self.config_name}"] if self.config_name != "config" else [])]


NO_SOURCE = Source()


def as_overrides(config_dirs: Sequence[str], config_name: str | None) -> list[str]:
    """Return `--config-dir` and `--config-name` as overrides, which every command passes on.

    Raises:
        ConfigError: a folder is not there.
    """
    for folder in config_dirs:
        if not Path(folder).is_dir():
            raise ConfigError(f"--config-dir {folder}", "no such folder")
    paths = tuple(f"file://{Path(folder).resolve()}" for folder in config_dirs)
    return Source((config_name or "config").removesuffix(".yaml"), paths).overrides


def split_hydra(overrides: Sequence[str]) -> tuple[Source, list[str], list[str]]:
    """Split overrides into where to compose from, Hydra's mode, and all others.

    Raises:
        ConfigError: an override of Hydra's configuration that nothing here reads.
    """
    name, paths, mode, own = "config", list[str](), list[str](), list[str]()
    for override in overrides:
        key, _, value = override.partition("=")
        plain = key.lstrip("+~")
        if plain == _NAME:
            name = value
        elif plain == _PATH:
            paths += _paths(override)
        elif plain == _MODE:
            mode.append(override)
        elif plain.startswith(("hydra.", "hydra/")):
            raise ConfigError(override, f"has no effect: {_WHY}", _USED)
        else:
            own.append(override)
    return Source(name, tuple(dict.fromkeys(paths))), mode, own


def _paths(override: str) -> list[str]:
    try:
        value: Any = OverridesParser.create().parse_override(override).value()
    except HydraException:
        value = None
    if not isinstance(value, list) or not all(isinstance(path, str) for path in cast("list[Any]", value)):
        raise ConfigError(override, "no list of folders", f"{_PATH}=[file:///FOLDER,pkg://PACKAGE]")
    return cast("list[str]", value)


@cache
def hydra_of(project: Path, source: Source = NO_SOURCE) -> Hydra:
    """Return Hydra with the project's `conf/`, then the further folders, as its search path.

    Raises:
        ConfigError: a folder or package is not there.
    """
    path = create_config_search_path(str((project / "conf").resolve()))
    for one in source.paths:
        path.prepend("command-line", one, SearchPathQuery(provider="schema"))
    GlobalHydra.instance().clear()
    hydra = Hydra.create_main_hydra2("staffbench", path)
    for one in hydra.config_loader.get_sources():
        if not one.available():
            fit = "a package with __init__.py beside its options" if one.scheme() == "pkg" else "a folder"
            raise ConfigError(f"{one.scheme()}://{one.path}", "not there", fit)
    return hydra


def compose_from(project: Path, source: Source, overrides: Sequence[str]) -> DictConfig:
    """Compose, with Hydra's own configuration under `hydra`.

    Raises:
        ConfigError: no primary configuration of that name, or a setting of Hydra without effect.
        HydraException, UserWarning: Hydra can't compose it.
    """
    try:
        config = hydra_of(project, source).compose_config(
            source.config_name, list(overrides), RunMode.RUN, from_shell=False
        )
    except MissingConfigException as error:
        if error.missing_cfg_file != source.config_name:
            raise
        where = " or a folder of --config-dir"
        raise ConfigError(
            f"--config-name {source.config_name}", "not there", f"a file in conf/{where}"
        ) from None
    _refuse_unused(project, config)
    return config


@cache
def folders_beside(project: Path, source: Source) -> tuple[Path, ...]:
    """Return the folders with options outside the project, from Hydra's search path.

    Raises:
        ConfigError: they can't be found.
    """
    text = (project / "conf" / "config.yaml").read_text(encoding="utf-8", errors="replace")
    if source == NO_SOURCE and "searchpath" not in text:
        return ()
    try:
        sources = compose_from(project, source, []).hydra.runtime.config_sources
    except (HydraException, UserWarning) as error:
        raise ConfigError("the configuration", str(error).split("\n")[0]) from error
    found = [
        Path(str(files(one.path.replace("/", ".")))) if one.schema == "pkg" else Path(one.path).resolve()
        for one in sources
        if one.provider not in ("hydra", "main", "schema")
    ]
    own = (project / "conf").resolve()
    return tuple(dict.fromkeys(folder for folder in found if folder != own))


def _refuse_unused(project: Path, config: DictConfig) -> None:
    """Reject settings of Hydra's own configuration that only its launcher would read."""
    ours, plain = _hydra(config), _bare(project)
    for section in _UNREAD:
        for key in changed_keys({section: ours[section]}, {section: plain[section]}):
            if not key.startswith("sweeper.params"):
                raise ConfigError(f"hydra.{key}", f"has no effect: {_WHY}", _USED)


@cache
def _bare(project: Path) -> dict[str, Any]:
    return _hydra(hydra_of(project).compose_config(None, [], RunMode.RUN, from_shell=False))


def _hydra(config: DictConfig) -> dict[str, Any]:
    return cast("dict[str, Any]", OmegaConf.to_container(config.hydra, resolve=False))


@contextmanager
def own_resolvers() -> Generator[None]:
    """Register `with_key`, and for the block an `oc.env` that reads no secret, as settings are stored."""
    # Of the option of a judge in conf/benchmark/mission_report.yaml.
    OmegaConf.register_new_resolver("with_key", _with_key, replace=True)
    OmegaConf.register_new_resolver("oc.env", _env, replace=True)
    try:
        yield
    finally:
        OmegaConf.register_new_resolver("oc.env", oc.env, replace=True)


def _with_key(variable: str, option: str, otherwise: str) -> str:
    """Return `option` if an environment variable has a value: `${with_key:VARIABLE,option,otherwise}`."""
    return option if os.environ.get(variable) else otherwise


def _env(variable: str, otherwise: Any = _UNSET) -> Any:
    value, where = os.environ.get(variable), f"${{oc.env:{variable}}}"
    is_used = value is not None or otherwise is _UNSET
    if is_used and (_SECRET.search(variable) or is_random(value or "")):
        fit = "model.api_key_env or judge.api_key_env with the variable's name"
        raise ConfigError(where, "looks like a secret, and settings are written with results", fit)
    if value is None and otherwise is _UNSET:
        raise ConfigError(where, "not set in the environment", f"${{oc.env:{variable},OTHERWISE}}")
    return value if value is not None else otherwise if otherwise is None else str(otherwise)
