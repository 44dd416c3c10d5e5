"""Errors for an endpoint, a model or a key that can't be used."""

from __future__ import annotations

from flows.adapters.completions.faults import Fault, FaultKind
from flows.common.errors import ConfigError, ProviderError, StaffbenchError
from flows.common.text import plural
from flows.schema.settings import ModelSettings, Transport

_UNSTORED = "then run the same command again to resume; nothing was stored for these calls"


def unreachable(model: ModelSettings, fault: Fault, tries: int) -> ProviderError:
    """Return the error for an endpoint that was never reached."""
    return ProviderError(
        _where(model),
        f"no connection in {plural(tries, 'try', 'tries')} ({fault.detail})",
        remedy=f"check that the endpoint runs, and model.api_base; {_UNSTORED}",
    )


def throttled(model: ModelSettings, fault: Fault, seconds: float) -> ProviderError:
    """Return the error for a provider that throttled everything for too long."""
    return ProviderError(
        _where(model),
        f"throttled every call for {seconds / 60:.0f} minutes ({fault.detail})",
        remedy=f"wait, or lower runner.concurrency or runner.requests_per_minute; {_UNSTORED}",
    )


def unusable(model: ModelSettings, fault: Fault) -> StaffbenchError:
    """Return the error for an endpoint that rejects every call, or a transport that can't express it."""
    if fault.kind is FaultKind.parameter and model.transport is Transport.gguf:
        return ConfigError(
            _where(model), fault.detail, remedy=f"fix the error or choose another file; {_UNSTORED}"
        )
    if fault.kind is FaultKind.parameter:
        return ConfigError(
            _where(model),
            fault.detail,
            remedy="change the address, effort or parameters of the model: unsupported ones are not dropped",
        )
    key = f"the key in {model.api_key_env}" if model.api_key_env else "whether the endpoint needs a key"
    remedies = {
        401: f"check {key}",
        402: "add credit to the account",
        403: f"check {key}, and that it may use this model",
        404: f"check model.name ({model.name}) and model.api_base",
        429: "add credit to the account, or raise its quota",
    }
    remedy = remedies.get(fault.status or 0, "check the name, the address and the parameters of the model")
    return ProviderError(_where(model), f"{fault.outcome}: {fault.detail}", remedy=f"{remedy}; {_UNSTORED}")


def _where(model: ModelSettings) -> str:
    return f"model {model.label} at {model.api_base or model.provider}"
