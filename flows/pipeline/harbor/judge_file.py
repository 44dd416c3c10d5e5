"""The judge of a MissionReport task, as `tests/agent_judge.py` asks it in a sandbox without staffbench."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from flows.adapters.config.compose import Point
from flows.adapters.config.described import options
from flows.adapters.task_trees.write import TreeFile
from flows.adapters.task_trees.write_text import json_text
from flows.common.digests import sha256_bytes
from flows.common.errors import ConfigError
from flows.common.version import __version__
from flows.schema.condition import judge_of
from flows.schema.scenario import Scenario
from flows.schema.settings import JudgeHarness, JudgeKind, JudgeMode, JudgeSettings, Settings, Transport
from flows.stages.judge import build_requests

JUDGE_FILE = "fixtures/judge.json"
"""Path in `tests/` of what the script reads."""

SCRIPTS = ("agent_judge.py", "report_text.py")
_HERE = "REPORT-STANDS-HERE"
_ADDRESSES = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_LABEL = "agent_judge.py, text only"


def named_judge(project: Path, judge: Mapping[str, Any]) -> list[str]:
    """Return overrides that choose the judge which a task names, with its effort and mode.

    Args:
        project: folder that holds `conf/`.
        judge: the task's judge settings, as found; without a model there are no overrides.

    Raises:
        ConfigError: the model is none of our judges.
    """
    model = next((str(judge[key]) for key in ("model", "judge_model", "name") if judge.get(key)), None)
    if model is None:
        return []
    known = {_plain(name): name for name in _judges(project)}
    preset = known.get(_plain(model.rpartition("/")[2]))
    if preset is None:
        raise ConfigError(
            f"judge {model!r}",
            "the task names it, and no option of judge is called so",
            remedy="set judge=...",
        )
    words = [f"judge={preset}"]
    if preset == JudgeKind.offline.value:
        return words
    effort = judge.get("effort") or judge.get("reasoning_effort")
    words += [f"judge.effort={effort}"] if effort else []
    mode = judge.get("mode")
    return [*words, *([f"judge.mode={mode}"] if mode in [each.value for each in JudgeMode] else [])]


def model_names(judge: JudgeSettings) -> list[str]:
    """Return the providers' names of the models that grade, sorted; none for the stand-in."""
    judges = (judge, *judge.members.values())
    return sorted({each.name for each in judges if each.kind is JudgeKind.remote and each.name})


def judge_files(
    point: Point, scenario: Scenario, rubric: bytes, rubric_path: str, golden: str
) -> dict[str, TreeFile]:
    """Return the script and its settings, by path in `tests/`.

    `rubric` is the content of the task's rubric file; its path and that of `golden`, the expert's report, are
    in `tests/`.

    Raises:
        ConfigError: the judge is of a kind that the script can't ask: a panel, repeats, another mode or API.
    """
    judge = replace(point.settings.judge, harness=JudgeHarness.single_call)  # the script makes one call
    settings = replace(point.settings, judge=judge)
    offline = judge.kind is JudgeKind.offline
    _check(judge)
    content: dict[str, Any] = {
        "name": f"{judge_of(settings, point.changed).label} ({_LABEL})",
        "api": "offline",
        "about": {
            "staffbench": __version__,
            "benchmark": settings.benchmark.name,
            "protocol": settings.benchmark.protocol.value,
            "scenario_id": scenario.scenario_id,
            "stand_in": offline,
            "scoring": settings.scoring.name,
        },
        "rubric": rubric_path,
        "rubric_sha256": sha256_bytes(rubric),
        "golden": golden,
        "criteria": [
            {
                "criterion_id": item.item_id,
                "points": item.points,
                "polarity": "negative" if item.is_error else "positive",
                "criterion": item.requirement,
            }
            for item in scenario.items
        ],
        "body": {},
    }
    if not offline:
        content |= _asked(settings, scenario)
    scripts = Path(__file__).parents[2] / "adapters" / "task_trees" / "verifier"
    files = {name: TreeFile((scripts / name).read_bytes()) for name in SCRIPTS}
    return {**files, JUDGE_FILE: TreeFile(json_text(content).encode())}


def _asked(settings: Settings, scenario: Scenario) -> dict[str, Any]:
    """Return how the judge is asked: the same prompt and parameters as in a run."""
    judge, prompt = settings.judge, settings.judge_prompt
    (call,) = build_requests(scenario.items, _HERE, judge, prompt, 1, reference=scenario.reference)
    system, user = (message.content for message in call.request.messages)
    before, _, after = user.rpartition(_HERE)
    fields = {key: value for key, value in call.request.parameters.items() if not key.startswith("stream")}
    maker, model = "", call.request.model
    if judge.transport is Transport.litellm:
        maker, _, model = model.partition("/")
    base = (judge.api_base or _ADDRESSES.get(maker, "")).rstrip("/")
    if maker == "anthropic":
        effort = fields.pop("reasoning_effort", None)
        fields.pop("response_format", None)  # replies are checked, and asked for again
        thinking = {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}} if effort else {}
        body, api, url = {"model": model, **fields, **thinking}, "anthropic", f"{base}/v1/messages"
    else:
        body, api, url = {"model": model, **fields}, "openai", f"{base}/chat/completions"
    return {
        "api": api,
        "url": url,
        "key": judge.api_key_env,
        "body": body,
        "max_attempts": judge.max_attempts,
        "system": system,
        "prompt": [before, after],
        "rejected": prompt.rejected,
    }


def _check(judge: JudgeSettings) -> None:
    if judge.kind is JudgeKind.offline:
        return
    reason = ""
    if judge.kind is JudgeKind.panel or judge.repeat != 1 or judge.canaries:
        reason = "a panel, repeats or canaries"
    elif judge.mode is not JudgeMode.all_items:
        reason = f"judge.mode={judge.mode.value}"
    elif judge.headers:
        reason = "judge.headers"
    elif judge.transport is Transport.litellm and (judge.name or "").partition("/")[0] not in _ADDRESSES:
        reason = f"the API of {judge.provider}"
    elif judge.transport not in (Transport.litellm, Transport.openai_http):
        reason = f"judge.transport={judge.transport.value}"
    if reason:
        raise ConfigError(
            f"judge={judge.label}",
            f"{reason} can't be asked by tests/agent_judge.py",
            "judge.mode=all_items, and one judge of Anthropic, OpenAI or an endpoint with OpenAI's protocol",
            "or install staffbench in the sandbox: --install WHEEL",
        )


@cache
def _judges(project: Path) -> tuple[str, ...]:
    return tuple(options(project)["judge"])


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())
