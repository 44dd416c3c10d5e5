"""No part of staffbench reports anything anywhere by itself."""

import os

_SETTINGS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}
"""Settings that libraries read when they are imported."""


def turn_off_telemetry() -> None:
    """Set what keeps libraries from reporting, except where the user has set it."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
