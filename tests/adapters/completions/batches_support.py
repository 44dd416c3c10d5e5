"""Batches as the tests ask for them, and what lies in their ledger."""

import dataclasses
import json

from flows.adapters.completions.client import CallOutcome
from tests.adapters.completions.helpers import (
    RUNNER,
    a_model,
    ask,
)
from tests.support.scripted_server import Say

BATCH = dataclasses.replace(
    RUNNER, concurrency=100, batch=True, batch_wait_s=0.05, batch_poll_s=0.02, batch_max_requests=1000
)


def echo(line):
    return Say(f"answer to {line.prompt}")


def batched(folder, server, *requests, model=None, **arguments):
    """Outcomes, or exceptions, of requests that are asked for together, as batches."""
    arguments = {"runner": BATCH, **arguments}
    return ask(folder, model or a_model(server.base), *requests, **arguments)


def texts(outcomes):
    assert all(isinstance(outcome, CallOutcome) for outcome in outcomes), outcomes
    return [outcome.completion.text for outcome in outcomes]


def tries(outcome):
    return [attempt.outcome for attempt in outcome.completion.attempts]


def entries(folder):
    """The ledger's records, as they lie on disk."""
    return [json.loads(path.read_text()) for path in sorted((folder / "batches").glob("*.json"))]


def nth(*faults, at):
    """A fault for the first, second, ... request of `at`, then none."""
    return lambda method, path, number: (
        faults[number - 1] if (method, path) == at and number <= len(faults) else None
    )
