"""Text files of a written task tree: settings, sandbox, verifier, oracle."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flows.common.errors import ConfigError

STEP = "answer"
"""Name of the only step of a written tree, from the specification."""

_DOCKERFILE = """\
# The sandbox of one attempt: document libraries, converters, and the agent of the published run.
FROM python:3.12-slim-bookworm

RUN apt-get update \\
 && apt-get install -y --no-install-recommends \\
      fonts-dejavu-core fonts-liberation git nodejs npm \\
      libreoffice-calc libreoffice-writer pandoc poppler-utils \\
 && rm -rf /var/lib/apt/lists/*

RUN pip install --no-cache-dir lxml openpyxl pdfplumber pypdf python-docx

RUN npm install --global opencode-ai@1.18.31

# The verifier calls `staffbench` where it is installed. Harbor passes no build arguments: what pip should
# install is written here, by `staffbench harbor export FOLDER --install WHEEL` or by hand. Without it the
# verifier of a report is tests/agent_judge.py; that of a brief says what is missing.
ARG STAFFBENCH=""
RUN if [ -n "$STAFFBENCH" ]; then pip install --no-cache-dir "$STAFFBENCH"; fi

RUN mkdir -p /app/attachments /app/outputs
WORKDIR /app
"""

_ADDED = """\

# Added by `staffbench harbor export`: the verifier calls `staffbench`. What pip installs is given here.
ARG STAFFBENCH=""
RUN if [ -n "$STAFFBENCH" ]; then PIP_BREAK_SYSTEM_PACKAGES=1 pip install --no-cache-dir "$STAFFBENCH"; fi
"""

_TEST = """\
#!/bin/bash
# Verifier: format check, judge and reward by the rubric in fixtures/. Writes no reward where judging fails.
set -euo pipefail

here="$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)"

if ! command -v staffbench > /dev/null; then
  echo "staffbench is not installed in this sandbox, so the report can't be judged. Export the task with" \\
    "--install, or say in environment/Dockerfile what pip should install." >&2
  exit 1
fi

exec staffbench harbor verify {output} --task "$here"
"""

_TEST_OF_REPORT = """\
#!/bin/bash
# Verifier: format check, judge and reward by the rubric in fixtures/. Writes no reward where judging fails.
# Where staffbench is installed it judges, pages included; else agent_judge.py does, by the text alone.
set -euo pipefail

here="$(cd "$(dirname "${{BASH_SOURCE[0]}}")" && pwd)"

if command -v staffbench > /dev/null; then
  exec staffbench harbor verify {output} --task "$here"
fi
# Nothing that an agent left in its environment (-E) or home (-s) is imported; nothing is compiled (-B).
exec python3 -B -E -s "$here/agent_judge.py" {output}
"""

_SOLVE = """\
#!/bin/bash
# Oracle: {what}. Harbor copies only this folder into the sandbox before the verifier
# starts, so the text is carried here, in base64.
set -euo pipefail

mkdir -p "$(dirname {output})"
base64 --decode > {output} << 'REPORT'
{text}
REPORT
"""

_ARGUMENT = re.compile(r"^ARG STAFFBENCH(?:=.*)?$", re.MULTILINE)
_STAGE = re.compile(r"^\s*FROM\s", re.IGNORECASE | re.MULTILINE)
_USER = re.compile(r"^\s*USER\s+(\S+)\s*$", re.IGNORECASE | re.MULTILINE)
_REQUIREMENT = re.compile(r"[\w.+\-~=<>!\[\],:/@#%&?;() ]{1,500}")
_PACKED = (".whl", ".tar.gz")
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Install:
    """How the sandbox installs staffbench.

    Attributes:
        requirement: pip requirement in the sandbox; may be empty.
        file: a wheel or an archive to put next to the Dockerfile; None if there is none.
    """

    requirement: str = ""
    file: Path | None = None


def install_of(spec: str | None) -> Install:
    """Parse the `--install` option: a local file or a pip requirement.

    Args:
        spec: path of a local wheel or .tar.gz, a requirement, or a URL; None for nothing.

    Raises:
        ConfigError: the file is missing, or it has characters with a meaning in a Dockerfile.
    """
    if not spec:
        return Install()
    is_address = "://" in spec
    if not is_address and spec.endswith(_PACKED):
        path = Path(spec)
        if not path.is_file():
            raise ConfigError("--install", f"{spec} is not there", "a wheel or .tar.gz", "build it first")
        spec = f"/opt/staffbench/{path.name}"
        found = Install(spec, path)
    else:
        found = Install(spec)
    if not _REQUIREMENT.fullmatch(spec):
        raise ConfigError(
            "--install", f"{spec!r} has signs that a Dockerfile takes for its own", "what pip installs"
        )
    return found


def dockerfile(install: Install) -> str:
    """Return the Dockerfile of our own tasks."""
    return with_staffbench(_DOCKERFILE, install)


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

    Args:
        output: the report.
        with_script: True if `agent_judge.py` lies beside it, for a sandbox without staffbench.
    """
    return (_TEST_OF_REPORT if with_script else _TEST).format(output=output)


def oracle_script(output: str, what: str, report: bytes) -> str:
    """Return a script that submits `report`; `what` describes it briefly."""
    text = base64.b64encode(report).decode()
    wrapped = "\n".join(text[at : at + _WIDTH] for at in range(0, len(text), _WIDTH))
    return _SOLVE.format(output=output, what=what, text=wrapped)


def task_toml(
    head: Mapping[str, str | list[str]], sections: Mapping[str, Mapping[str, str | float | bool]]
) -> str:
    """Return Harbor's settings of a task with one step.

    Args:
        head: top-level keys.
        sections: sections by name.
    """
    lines = [f"{key} = {_toml(value)}" for key, value in head.items()]
    for name, entries in sections.items():
        lines += ["", f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in entries.items())]
    lines += ["", "[[steps]]", f'name = "{STEP}"']
    return "\n".join(lines) + "\n"


def json_text(value: object) -> str:
    """Serialize JSON in the format of the other fixtures."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _toml(value: str | float | bool | Sequence[str]) -> str:
    # JSON and TOML agree on texts, numbers, booleans and lists of them, except for one control character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
