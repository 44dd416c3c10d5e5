"""Check before a run whether a model's calls can be sent in batches."""

from collections.abc import Iterable

from flows.adapters.completions.batches.transport import MAX_REQUESTS
from flows.common.errors import ConfigError
from flows.schema.settings import BudgetSettings, ModelSettings, RunnerSettings, Transport

PROVIDERS = ("openai", "azure")  # litellm prefixes of providers whose batches can be listed


def check_batches(
    models: Iterable[ModelSettings], runner: RunnerSettings, budget: BudgetSettings | None = None
) -> None:
    """Reject models without batches and invalid batch settings; without `budget`, that is checked elsewhere.

    Raises:
        ConfigError: a model or a setting is not supported.
    """
    if runner.batch_max_requests > MAX_REQUESTS:
        most = f"{MAX_REQUESTS} or less"
        raise ConfigError("runner.batch_max_requests", str(runner.batch_max_requests), most)
    for model in models:
        if model.transport is Transport.gguf:
            raise ConfigError(
                "runner.batch",
                f"{model.label} runs on this machine, which has no batches",
                remedy="choose runner=standard",
            )
        provider = (model.name or "").split("/", 1)[0]
        if model.transport is Transport.litellm and provider not in PROVIDERS:
            raise ConfigError(
                "runner.batch",
                f"the provider of {model.label} ({model.name}) has no batches that can be used",
                " or ".join(f"{name}/..." for name in PROVIDERS)
                + ", or an endpoint with OpenAI's files and batches",
                "choose runner=standard: its calls go out one by one",
            )
        if budget is not None and budget.max_usd is not None and model.price.batch_factor is None:
            raise ConfigError(
                "budget.max_usd",
                f"what {model.label} costs in a batch is unknown, so this limit can't be held",
                "price.batch_factor of the model",
                "set it (0.5 where a batch costs half), or limit budget.max_calls or budget.max_tokens",
            )
