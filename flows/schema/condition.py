"""Conditions and judges, and the labels that results are stored under."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from typing import Any

from flows.common.digests import canonical_json, sha256_text
from flows.schema.settings import (
    Harness,
    JudgeHarness,
    JudgeKind,
    JudgeMode,
    JudgePromptSettings,
    JudgeSettings,
    ModelSettings,
    ProtocolName,
    Settings,
)

_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9._+-]+")
_LONGEST_NAME = 110  # of 255 or fewer bytes: a suffix and a temporary file's marks follow
_UNSENT = (
    "label",
    "note",
    "price",
    "api_key_env",
    "headers",
    "context_tokens",
    "benchmark_effort",
    "takes_images",
    "takes_tools",
)
"""Model fields that don't change a reply, or only through the request."""
_UNASKED = ("allow_self", "members", "quorum")
"""Fields of a remote judge that don't change its verdicts."""
_OF_AGENT = ("harness", "max_steps")
"""Fields of a remote judge that change its verdicts only if it is an agent."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What a leaderboard row describes, except the judge."""

    # Readable and valid as a file name. A condition that differs from its named options ends in the first
    # eight digits of its digest.
    label: str
    digest: str  # sha256 over all settings that change a brief
    # As printed; no cap is None.
    benchmark: str
    model: str
    effort: str
    word_cap: int | None
    prompt: str
    harness: str


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge."""

    label: str  # as in `Condition`
    digest: str  # sha256 over all settings that change a verdict
    name: str  # the judge's label as configured
    # As printed; None for the offline judge. A panel has only a prompt: efforts and modes belong to its
    # members.
    effort: str | None
    mode: str | None
    prompt: str | None
    is_stand_in: bool  # True for the offline judge, which every table marks
    members: tuple[str, ...] = ()  # labels of a panel's members; empty for any other judge
    # The form of its calls on a report, for a panel of all its members: `agent, single_call`; None for the
    # offline judge, and for benchmarks with one form.
    harness: str | None = None


def condition_of(settings: Settings, changed: AbstractSet[str]) -> Condition:
    """Return the condition of `settings`; `changed` are the sections with overridden values."""
    digest = _digest(
        {
            "benchmark": settings.benchmark.name,
            "data": settings.benchmark.data,
            "scenarios": settings.benchmark.scenarios,
            "model": sent_fields(settings.model),
            "effort": settings.effort.level.value,
            "word_cap": settings.word_cap.words,
            "prompt": {name: value for name, value in asdict(settings.prompt).items() if name != "additions"},
            "harness": _harness_fields(settings),
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
        label=_label(parts, digest, changed & {"benchmark", "model", "prompt", "harness"}),
        digest=digest,
        benchmark=settings.benchmark.name,
        model=settings.model.label,
        effort=settings.effort.level.value,
        word_cap=cap,
        prompt=settings.prompt.version,
        harness=settings.harness.name.value,
    )


def judge_of(settings: Settings, changed: AbstractSet[str]) -> Judge:
    """Return the judge of `settings`; `changed` as for a condition."""
    judge, prompt = settings.judge, settings.judge_prompt
    digest = _digest(judge_fields(judge, prompt))
    has_forms = settings.benchmark.protocol is ProtocolName.mission_report
    if has_forms:
        digest = _digest([digest, *(one.takes_images for one in (judge, *judge.members.values()))])
    offline, asked = judge.kind is JudgeKind.offline, judge.kind is JudgeKind.remote
    parts = [judge.label]
    if asked:
        parts += [judge.effort.value, judge.mode.value]
        parts += [judge.harness.value] * (judge.harness is JudgeHarness.agent)
    if not offline:
        parts.append(prompt.version)
    members = members_of(settings, changed)
    called = [judge] if asked else [member.judge for member, _ in members]
    forms = {one.harness.value for one in called if one.kind is JudgeKind.remote}
    return Judge(
        label=_label(parts, digest, changed & ({"judge"} if offline else {"judge", "judge_prompt"})),
        digest=digest,
        name=judge.label,
        effort=judge.effort.value if asked else None,
        mode=judge.mode.value if asked else None,
        prompt=None if offline else prompt.version,
        is_stand_in=offline,
        members=tuple(judge_of(member, differs).label for member, differs in members),
        harness=", ".join(sorted(forms)) or None if has_forms else None,
    )


def members_of(settings: Settings, changed: AbstractSet[str]) -> list[tuple[Settings, frozenset[str]]]:
    """Return settings for each member of a panel as the only judge; empty for other judges.

    A member that matches its preset has the same label, and so the same files, as that judge alone.

    Args:
        settings: the panel's settings.
        changed: sections with overridden values, including `judge.members.NAME` if that member differs from
            its preset.

    Returns:
        Settings and their changed sections, by member name.
    """
    found: list[tuple[Settings, frozenset[str]]] = []
    for name, configured in sorted(settings.judge.members.items()):
        member = as_asked(settings.judge, configured)
        differs = set(changed) - {"judge"}
        prompt = settings.judge_prompt
        # A benchmark sets the mode and harness of every judge, so a member has them alone, too.
        alone = replace(configured, mode=member.mode, harness=member.harness)
        more = judge_fields(member, prompt) != judge_fields(alone, prompt)
        if more or f"judge.members.{name}" in changed:
            differs.add("judge")
        found.append((replace(settings, judge=member), frozenset(differs)))
    return found


def as_asked(panel: JudgeSettings, member: JudgeSettings) -> JudgeSettings:
    """Apply to a member what its panel requires of every remote member."""
    if member.kind is not JudgeKind.remote:
        return member
    return replace(
        member,
        repeat=max(member.repeat, panel.repeat),
        canaries=member.canaries or panel.canaries,
        allow_self=member.allow_self or panel.allow_self,
        mode=panel.mode if member.mode is JudgeMode.failed_only else member.mode,
        harness=panel.harness if member.takes_tools else member.harness,
    )


def _harness_fields(settings: Settings) -> Any:
    """Return the harness fields that change a brief, including whether the native one shows images."""
    harness = settings.harness
    if harness.name is Harness.single_prompt:
        return harness.name.value
    limits = {name: value for name, value in asdict(harness).items() if name != "assumed"}
    return {**limits, "takes_images": settings.model.takes_images}


def sent_fields(model: ModelSettings) -> dict[str, Any]:
    """Return the model fields that can change a reply."""
    return {key: value for key, value in asdict(model).items() if key not in _UNSENT}


def judge_fields(judge: JudgeSettings, prompt: JudgePromptSettings) -> dict[str, Any]:
    """Return the judge fields that can change a verdict."""
    if judge.kind is JudgeKind.offline:
        return {"kind": judge.kind.value}
    if judge.kind is JudgeKind.panel:
        members = [as_asked(judge, member) for _, member in sorted(judge.members.items())]
        return {
            "kind": judge.kind.value,
            "members": [judge_fields(member, prompt) for member in members],
            "quorum": quorum_of(judge),
        }
    # Without quotes the digest is that of judges from before there were any.
    unasked = _UNASKED if judge.quotes else (*_UNASKED, "quotes")
    sent = {key: value for key, value in sent_fields(judge).items() if key not in unasked}
    texts = {key: value for key, value in asdict(prompt).items() if key not in unasked}
    if judge.harness is not JudgeHarness.agent:
        sent = {key: value for key, value in sent.items() if key not in _OF_AGENT}
        texts = {key: value for key, value in texts.items() if key != "agent"}
    return {"judge": sent, "prompt": texts}


def quorum_of(judge: JudgeSettings) -> int:
    """Return how many panel members, or repeats of a judge, must have a verdict on an item."""
    voters = len(judge.members) if judge.kind is JudgeKind.panel else judge.repeat
    return voters // 2 + 1 if judge.quorum is None else judge.quorum


def file_name(parts: Sequence[str], digest: str = "") -> str:
    """Return a name that is valid for a file or folder on any system and leaves room for a suffix.

    Args:
        parts: any texts.
        digest: its first eight digits end the name. Without one, a shortened name ends in digits of a hash
            of all parts, so it stays unique.
    """
    name = "-".join(_NOT_IN_FILE_NAMES.sub("_", part) for part in parts)
    if name[:1] in ("", ".", "-"):  # empty, hidden, a parent folder or a command option
        name = f"_{name[1:]}"
    if not digest and len(name) > _LONGEST_NAME:
        digest = sha256_text(canonical_json(list(parts)))
    return f"{name[:_LONGEST_NAME]}-{digest[:8]}" if digest else name


def _label(parts: Sequence[str], digest: str, changed: AbstractSet[str]) -> str:
    # A user's preset may have a label of punctuation only.
    is_plain = not any(_NOT_IN_FILE_NAMES.search(part) for part in parts)
    return file_name(parts, digest if changed or not is_plain else "")


def _digest(value: object) -> str:
    return sha256_text(canonical_json(value))
