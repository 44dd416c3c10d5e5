"""Read exceptions that Harbor recorded in a trial, and whether they void the reward."""

from __future__ import annotations

from typing import Any

from flows.adapters.harbor_jobs.tree import as_dict, as_text, nested
from flows.schema.harbor import VERIFIER_FAULTS, Fault

VOIDING_FAULTS = VERIFIER_FAULTS | {
    "APIConnectionError",
    "APIError",
    "APIResponseValidationError",
    "AgentAuthenticationError",
    "AgentSetupTimeoutError",
    "ApiConnectionClosedError",
    "ApiConnectionError",
    "ApiError",
    "ApiInternalServerError",
    "ApiOverloadedError",
    "ApiProviderResourceNotFoundError",
    "ApiRateLimitError",
    "ApiResponseStalledError",
    "ApiUsageLimitError",
    "AuthenticationError",
    "BadRequestError",
    "BudgetExceededError",
    "CancelledError",
    "DspyImportError",
    "EnvironmentStartTimeoutError",
    "GKEExecStreamClosedError",
    "GKEPodNotFoundError",
    "HealthcheckError",
    "InternalServerError",
    "MemoryLimitExceededError",
    "MissingExtraError",
    "ModelNotFoundError",
    "NetworkConnectionError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "RegradeError",
    "RuntimeRequestError",
    "SSHAccessError",
    "SandboxBuildFailedError",
    "SandboxLikelyOutOfMemoryError",
    "ServiceOperationsUnsupportedError",
    "ServiceUnavailableError",
    "Timeout",
    "UnknownApiError",
    "UnprocessableEntityError",
    "UnsupportedModelParametersError",
    "UnsupportedParamsError",
    "VercelScopeError",
}
"""Exceptions that void a reward (error policy of Harbor 0.26.0, installed package).

0.26 records the policy with each exception, and a run may override it: the recorded policy takes precedence
over this list, which is for trees of 0.25.
"""


def read_faults(result: dict[str, Any], steps: list[dict[str, Any]]) -> tuple[Fault, ...]:
    """Return the exceptions of a trial, then of its steps."""
    found: list[Fault] = []
    for phase in (result, *steps):
        info = as_dict(phase.get("exception_info"))
        if not info:
            continue
        kind = as_text(info.get("exception_type")) or "unnamed exception"
        recorded = nested(info, "policy").get("has_valid_reward")
        voids = not recorded if isinstance(recorded, bool) else kind in VOIDING_FAULTS
        message = as_text(info.get("exception_message")) or ""
        found.append(Fault(kind, message, as_text(phase.get("step_name")), voids))
    return tuple(found)
