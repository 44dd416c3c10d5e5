"""Models, judges and settings as the schema of Every Eval Ever wants them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from flows.pipeline.results.graded import Graded

UNSTATED = "unstated-developer"
_SAMPLING = ("temperature", "top_p", "top_k")


def texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Return values as the texts that the schema wants, without unknown ones."""
    return {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
        if value is not None and value != ""
    }


def model_info(settings: Mapping[str, Any], label: str, *, effort: str | None) -> dict[str, Any]:
    """Return what is known of a model; one that is no model is staffbench's own."""
    name = settings.get("name")
    transport, writer = settings.get("transport"), settings.get("writer", "remote")
    is_local = transport == "gguf" or writer != "remote"
    full = name if name and writer == "remote" else label
    if writer != "remote":
        full = f"staffbench/{label}"
    elif full.count("/") == 0:
        full = f"{UNSTATED}/{full}"
    developer, _, rest = full.partition("/")
    deployment = "self_deployed" if is_local else "externally_managed"
    if transport == "openai_http" and settings.get("api_base"):
        deployment = "unknown"
    provider = str(settings.get("provider") or "")
    return {
        "name": label,
        "id": f"{developer}/{rest.replace('/', '_')}" if rest else full,
        **({"developer": developer} if developer not in (UNSTATED, "staffbench") else {}),
        # An address may be a machine of the publisher's own.
        **({"inference_platform": provider} if provider and "/" not in provider else {}),
        "additional_details": texts(
            {
                "deployment_type": deployment,
                "model_availability": "open_weights" if transport == "gguf" else "unknown",
                "reasoning_effort": effort,
                "writer": writer if writer != "remote" else None,
                "note": settings.get("note"),
            }
        ),
    }


def _sampling(model: Mapping[str, Any], names: Sequence[str]) -> dict[str, float]:
    parameters: Mapping[str, Any] = model.get("parameters") or {}
    return {name: parameters[name] for name in names if isinstance(parameters.get(name), int | float)}


def generation(entry: Graded, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the briefs were written."""
    model: Mapping[str, Any] = settings.get("model", {})
    prompt: Mapping[str, Any] = settings.get("prompt", {})
    parameters: Mapping[str, Any] = model.get("parameters") or {}
    harness: Mapping[str, Any] = settings.get("harness", {})
    condition: Mapping[str, Any] = entry.about["condition"]
    arguments: dict[str, Any] = {**_sampling(model, _SAMPLING)}
    if isinstance(model.get("output_tokens"), int):
        arguments["max_tokens"] = model["output_tokens"]
    if condition["effort"] != "default":
        arguments["reasoning"] = condition["effort"] != "none"
    if prompt and model.get("writer") == "remote":
        arguments["prompt_template"] = f"{prompt['system']}\n\n{prompt['user']}"
    minutes, steps, tokens = (harness.get(key) for key in ("max_minutes", "max_steps", "max_tokens"))
    limits = {
        "time_limit": None if minutes is None else round(minutes * 60),
        "message_limit": steps,
        "token_limit": tokens,
    }
    if limits := {key: value for key, value in limits.items() if value is not None}:
        arguments["eval_limits"] = limits
    more = {
        "word_cap": condition["word_cap"] or "none",
        "prompt": condition["prompt"],
        "harness": condition["harness"],
        "seeds": settings.get("seeds", entry.about["seeds"]),
        "seed_is_sent": model.get("send_seed"),
        "further_parameters": {key: value for key, value in parameters.items() if key not in _SAMPLING}
        or None,
    }
    return {"generation_args": arguments, "additional_details": texts(more)}


def judges(entry: Graded, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return `llm_scoring` if a model graded; else who did."""
    about: Mapping[str, Any] = entry.about["judge"]
    judge: Mapping[str, Any] = settings.get("judge") or {}
    kind = judge.get("kind", "remote")
    details = {"judge": entry.judge, "is_stand_in": about["is_stand_in"], "judge_prompt": about["prompt"]}
    if about["is_stand_in"] or not judge:
        return {"additional_details": texts(details)}
    members: list[Mapping[str, Any]] = list(judge["members"].values()) if kind == "panel" else [judge]
    prompt: Mapping[str, str] = settings["judge_prompt"]
    asked = prompt[judge["mode"]] if judge.get("harness") != "agent" else prompt["agent"]
    return {
        "llm_scoring": {
            "judges": [
                {
                    "model_info": model_info(one, one["label"], effort=one.get("effort")),
                    **_sampling(one, _SAMPLING[:1]),
                    "additional_details": texts({"mode": one.get("mode"), "repeats": one.get("repeat")}),
                }
                for one in members
            ],
            "input_prompt": f"{prompt['system']}\n\n{asked}",
            **({"aggregation_method": "majority_vote"} if len(members) > 1 else {}),
            "additional_details": texts(details),
        }
    }
