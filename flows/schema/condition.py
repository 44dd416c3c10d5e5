"""Names of what was varied: a condition and a judge, as results are filed under them."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from typing import Any

from flows.schema.completion import canonical_json, sha256_text
from flows.schema.settings import JudgeKind, JudgePromptSettings, JudgeSettings, ModelSettings, Settings

HARNESS = "single_prompt"
"""How MA-Bench briefs are asked for: one prompt, the whole packet."""

_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9._+-]+")
_UNSENT = ("label", "note", "price", "api_key_env", "context_tokens", "benchmark_effort")
"""Fields of a model that change no reply."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What a leaderboard row is about, the judge aside.

    Attributes:
        label: readable and fit for a file name. A condition that differs from its named options
            ends in the first eight digits of its digest, so that it never passes for them.
        digest: sha256 over everything that changes a brief.
        benchmark, model, effort, word_cap, prompt, harness: as printed; no cap is None.
    """

    label: str
    digest: str
    benchmark: str
    model: str
    effort: str
    word_cap: int | None
    prompt: str
    harness: str


@dataclass(frozen=True, slots=True)
class Judge:
    """Who graded.

    Attributes:
        label: as in `Condition`.
        digest: sha256 over everything that changes a verdict.
        name: the judge's label as configured.
        effort, mode, prompt: as printed; None for the offline judge, which has none.
        is_stand_in: True for the offline judge: every table says so.
    """

    label: str
    digest: str
    name: str
    effort: str | None
    mode: str | None
    prompt: str | None
    is_stand_in: bool


def condition_of(settings: Settings, changed: AbstractSet[str]) -> Condition:
    """The condition that `settings` describe; `changed` are the sections with overridden values."""
    digest = _digest(
        {
            "benchmark": settings.benchmark.name,
            "data": settings.benchmark.data,
            "scenarios": settings.benchmark.scenarios,
            "model": sent_fields(settings.model),
            "effort": settings.effort.level.value,
            "word_cap": settings.word_cap.words,
            "prompt": asdict(settings.prompt),
            "harness": HARNESS,
        }
    )
    cap = settings.word_cap.words
    parts = [
        settings.model.label,
        settings.effort.level.value,
        "none" if cap is None else str(cap),
        settings.prompt.version,
    ]
    return Condition(
        label=_label(parts, digest, changed & {"benchmark", "model", "prompt"}),
        digest=digest,
        benchmark=settings.benchmark.name,
        model=settings.model.label,
        effort=settings.effort.level.value,
        word_cap=cap,
        prompt=settings.prompt.version,
        harness=HARNESS,
    )


def judge_of(settings: Settings, changed: AbstractSet[str]) -> Judge:
    """The judge that `settings` describe."""
    judge, prompt = settings.judge, settings.judge_prompt
    digest = _digest(judge_fields(judge, prompt))
    offline = judge.kind is JudgeKind.offline
    parts = [judge.label] if offline else [judge.label, judge.effort.value, judge.mode.value, prompt.version]
    return Judge(
        label=_label(parts, digest, changed & ({"judge"} if offline else {"judge", "judge_prompt"})),
        digest=digest,
        name=judge.label,
        effort=None if offline else judge.effort.value,
        mode=None if offline else judge.mode.value,
        prompt=None if offline else prompt.version,
        is_stand_in=offline,
    )


def sent_fields(model: ModelSettings) -> dict[str, Any]:
    """The fields of a model that can change a reply."""
    return {key: value for key, value in asdict(model).items() if key not in _UNSENT}


def judge_fields(judge: JudgeSettings, prompt: JudgePromptSettings) -> dict[str, Any]:
    """The fields of a judge that can change a verdict."""
    if judge.kind is JudgeKind.offline:
        return {"kind": judge.kind.value}
    return {"judge": sent_fields(judge), "prompt": asdict(prompt)}


def _label(parts: list[str], digest: str, changed: AbstractSet[str]) -> str:
    if changed:
        parts = [*parts, digest[:8]]
    return "-".join(_NOT_IN_FILE_NAMES.sub("_", part) for part in parts)


def _digest(value: object) -> str:
    return sha256_text(canonical_json(value))
