"""Text files of a written task tree: settings, sandbox, verifier, oracle."""

import base64
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from flows.common.errors import ConfigError

STEP = "answer"  # name of the only step of a written tree, from the specification

AGENT_SECONDS, VERIFIER_SECONDS = 3600.0, 5100.0

_TEMPLATES = Path(__file__).parent / "templates"
_ADDED = """\

# Added by `staffbench harbor export`: the verifier calls `staffbench`. What pip installs is given here.
ARG STAFFBENCH=""
RUN if [ -n "$STAFFBENCH" ]; then PIP_BREAK_SYSTEM_PACKAGES=1 pip install --no-cache-dir "$STAFFBENCH"; fi
"""

_VERIFIER_ENV = re.compile(r"^[ \t]*\[verifier\.env\][ \t]*(?:#.*)?$", re.MULTILINE)
_ARGUMENT = re.compile(r"^ARG STAFFBENCH(?:=.*)?$", re.MULTILINE)
_STAGE = re.compile(r"^\s*FROM\s", re.IGNORECASE | re.MULTILINE)
_USER = re.compile(r"^\s*USER\s+(\S+)\s*$", re.IGNORECASE | re.MULTILINE)
_REQUIREMENT = re.compile(r"[\w.+\-~=<>!\[\],:/@#%&?;() ]{1,500}")
_PACKED = (".whl", ".tar.gz")
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Install:
    """How the sandbox installs staffbench."""

    requirement: str = ""  # pip requirement in the sandbox; may be empty
    file: Path | None = None  # a wheel or an archive to put next to the Dockerfile; None if there is none


def install_of(spec: str | None) -> Install:
    """Parse the `--install` option: a local wheel or .tar.gz, a pip requirement or a URL; None for nothing.

    Raises:
        ConfigError: the file is missing, or it has characters with a meaning in a Dockerfile.
    """
    if not spec:
        return Install()
    path = Path(spec) if "://" not in spec and spec.endswith(_PACKED) else None
    if path is not None:
        if not path.is_file():
            raise ConfigError("--install", f"{spec} is not there", "a wheel or .tar.gz", "build it first")
        spec = f"/opt/staffbench/{path.name}"
    if not _REQUIREMENT.fullmatch(spec):
        raise ConfigError(
            "--install", f"{spec!r} has signs that a Dockerfile takes for its own", "what pip installs"
        )
    return Install(spec, path)


def dockerfile(install: Install) -> str:
    """Return the Dockerfile of our own tasks."""
    return with_staffbench(_filled("Dockerfile"), install)


def with_staffbench(text: str, install: Install) -> str:
    """Make a Dockerfile install staffbench.

    Harbor passes no build arguments, so the requirement is the argument's default. If missing, the argument
    is added to the last stage, as root.
    """
    if not _ARGUMENT.search(text):
        last = text[[match.start() for match in _STAGE.finditer(text)][-1] :] if _STAGE.search(text) else text
        users = _USER.findall(last)
        added = f"\nUSER root\n{_ADDED}USER {users[-1]}\n" if users else _ADDED
        text = text.rstrip("\n") + "\n" + added
    if not install.requirement:
        return text
    lines = [] if install.file is None else [f"COPY {install.file.name} /opt/staffbench/"]
    lines.append(f'ARG STAFFBENCH="{install.requirement}"')
    return _ARGUMENT.sub(lambda _: "\n".join(lines), text)


def test_script(output: str, *, with_script: bool) -> str:
    """Return the verifier script for a report at the sandbox path `output`.

    With `with_script`, `agent_judge.py` stands beside it, for a sandbox without staffbench.
    """
    return _filled("test_of_report.sh" if with_script else "test.sh", output=output)


def oracle_script(output: str, what: str, report: bytes) -> str:
    """Return a script that submits `report`; `what` describes it briefly."""
    text = base64.b64encode(report).decode()
    wrapped = "\n".join(text[at : at + _WIDTH] for at in range(0, len(text), _WIDTH))
    return _filled("solve.sh", output=output, what=what, text=wrapped)


def _filled(name: str, **values: str) -> str:
    """Return a template with `{name}` replaced; other braces belong to the shell."""
    text = (_TEMPLATES / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", value)
    return text


def task_toml(
    metadata: Mapping[str, str | bool],
    judge: Mapping[str, str],
    variables: Sequence[str],
    artifacts: Sequence[str] = (),
) -> str:
    """Return Harbor's settings of a task with one step.

    Times are those of the published run of MissionReport, assumed for other tasks. The verifier gets the
    environment variables, empty where they are not set. Harbor keeps the artifacts, files of the sandbox.
    """
    head: dict[str, str | Sequence[str]] = {"schema_version": "1.4", "multi_step_reward_strategy": "final"}
    if artifacts:
        head["artifacts"] = artifacts
    sections: dict[str, Mapping[str, str | float | bool]] = {
        "metadata": metadata,
        "metadata.judge": judge,
        "agent": {"timeout_sec": AGENT_SECONDS},
        "verifier": {"timeout_sec": VERIFIER_SECONDS},
        "verifier.env": {name: f"${{{name}:-}}" for name in variables},
        "environment": {"build_timeout_sec": 1800.0, "cpus": 2, "memory_mb": 4096, "storage_mb": 10240},
    }
    lines = [f"{key} = {_toml(value)}" for key, value in head.items()]
    for name, entries in sections.items():
        lines += ["", f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in entries.items())]
    lines += ["", "[[steps]]", f'name = "{STEP}"']
    return "\n".join(lines) + "\n"


def with_artifact(text: str, path: str) -> tuple[str, bool]:
    """Let Harbor keep a file of the sandbox, and leave the rest of a `task.toml` that others wrote as it is.

    Returns:
        The text, and whether the file is among its artifacts now: a list of others is not touched.
    """
    kept = tomllib.loads(text).get("artifacts")
    if kept is not None:
        return text, isinstance(kept, list) and path in kept
    return f'artifacts = ["{path}"]\n{text}', True


def with_variables(text: str, names: Sequence[str]) -> tuple[str, list[str]]:
    """Pass environment variables to the verifier, empty where they are not set; the rest stays as it is.

    Returns:
        The text, and the names that it still does not pass.
    """
    verifier: Any = tomllib.loads(text).get("verifier", {})
    env = cast("dict[str, Any]", verifier).get("env") if isinstance(verifier, dict) else None
    passed = cast("dict[str, Any]", env) if isinstance(env, dict) else {}
    missing = [name for name in names if name not in passed]
    if not missing:
        return text, []
    lines = "".join(f'\n{name} = "${{{name}:-}}"' for name in missing)
    header = _VERIFIER_ENV.search(text)
    if header is not None:
        changed = text[: header.end()] + lines + text[header.end() :]
    else:
        changed = f"{text.rstrip()}\n\n[verifier.env]{lines}\n"
    try:
        tomllib.loads(changed)
    except tomllib.TOMLDecodeError:  # such as an inline table
        return text, missing
    return changed, []


def json_text(value: object) -> str:
    """Serialize JSON in the format of the other fixtures."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _toml(value: str | float | bool | Sequence[str]) -> str:
    # JSON and TOML agree on texts, numbers, booleans and lists of them, except for one control character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
