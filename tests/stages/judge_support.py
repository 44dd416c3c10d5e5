"""Items, a judge and its replies."""

import json
from dataclasses import replace
from pathlib import Path

import yaml

from flows.schema.completion import Completion, CompletionStatus, Usage
from flows.schema.scenario import Evidence, Item, Severity, Step, Tier
from flows.schema.settings import (
    Effort,
    JudgeKind,
    JudgeMode,
    JudgePromptSettings,
    JudgeSettings,
    Price,
    Transport,
    Writer,
)
from flows.stages.judge import (
    build_requests,
)

PROMPT_FILE = Path(__file__).parents[2] / "conf" / "judge_prompt" / "v1.yaml"


PROMPT = JudgePromptSettings(**yaml.safe_load(PROMPT_FILE.read_text(encoding="utf-8")))


JUDGE = JudgeSettings(
    label="judge",
    writer=Writer.remote,
    transport=Transport.openai_http,
    provider="local",
    name="judge-01",
    api_base="http://127.0.0.1:1/v1",
    api_key_env=None,
    context_tokens=None,
    output_tokens=None,
    max_tokens_field="max_tokens",
    price=Price(),
    benchmark_effort=Effort.medium,
    efforts={"default": {}, "medium": {"reasoning_effort": "medium"}},
    parameters={},
    send_seed=True,
    stream=False,
    structured_output=True,
    folder=None,
    note="",
    kind=JudgeKind.remote,
    effort=Effort.medium,
    mode=JudgeMode.failed_only,
    max_attempts=3,
    tokens_per_item=60,
    tokens_thinking=16_000,
    allow_self=False,
    repeat=1,
    canaries=False,
)


def item(item_id, severity=Severity.important, **changes):
    fields = {
        "step": Step.risk,
        "tier": Tier.synthesis,
        "requirement": f"requirement of {item_id}",
        "ground_truth": f"truth of {item_id}",
        "pass_condition": f"pass of {item_id}",
        "fail_condition": f"fail of {item_id}",
        "source": (Evidence("PLANTED-DOCUMENT.docx", "PLANTED-QUOTE"),),
        "rationale": "PLANTED-RATIONALE",
    }
    return Item(item_id=item_id, severity=severity, **(fields | changes))


R1, R2 = item("R1"), item("R2", Severity.critically_important)


E1 = item("E1", Severity.critically_detrimental)


ITEMS = (R1, R2, E1)


def call_for(mode, items=ITEMS):
    (call,) = build_requests(items, "The brief.", replace(JUDGE, mode=mode), PROMPT, 1)
    return call


def failed(*entries, items=3):
    return json.dumps({"items": items, "failed": list(entries)})


def prompt_of(call):
    return "\n".join(message.content for message in call.request.messages)


def completion(text, status=CompletionStatus.complete, detail=""):
    return Completion("k", status, text, "stop", "judge-01", Usage(), None, (), detail=detail)


def entry(item_id, mode="omission", reason="not there"):
    return {"id": item_id, "mode": mode, "reason": reason}


GOOD = failed(entry("R1"))
