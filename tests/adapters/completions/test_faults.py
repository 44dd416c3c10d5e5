import random
from datetime import UTC, datetime

import pytest

from flows.adapters.completions.faults import (
    Fault,
    FaultKind,
    Pauses,
    RetryDecision,
    course,
    error_fault,
    retry_after_s,
)

NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "code", "served", "follows"),
    [
        (429, "rate_limit_exceeded", False, RetryDecision.wait),
        (429, "insufficient_quota", False, RetryDecision.fatal),
        (408, "", False, RetryDecision.retry),
        (409, "", False, RetryDecision.retry),
        (425, "", False, RetryDecision.retry),
        (500, "", False, RetryDecision.retry),
        (503, "", True, RetryDecision.retry),
        (529, "overloaded_error", True, RetryDecision.retry),
        (400, "content_filter", False, RetryDecision.refused),
        (400, "context_length_exceeded", False, RetryDecision.failed),
        (400, "", False, RetryDecision.failed),
        (400, "unsupported_value", True, RetryDecision.fatal),
        (413, "", False, RetryDecision.failed),
        (422, "", True, RetryDecision.failed),
        (401, "invalid_api_key", False, RetryDecision.fatal),
        (401, "", True, RetryDecision.fatal),
        (402, "", True, RetryDecision.fatal),
        (307, "", False, RetryDecision.fatal),
        (403, "", False, RetryDecision.fatal),
        (403, "", True, RetryDecision.failed),
        (404, "model_not_found", True, RetryDecision.fatal),
        (404, "", False, RetryDecision.fatal),
        (404, "", True, RetryDecision.failed),
    ],
)
def test_what_follows_from_a_status(status, code, served, follows):
    fault = Fault(FaultKind.status, "x", status=status, code=code)
    assert course(fault, served=served) is follows
    assert fault.outcome == f"http {status}"
    assert not fault.billable


@pytest.mark.parametrize(
    ("kind", "follows", "billable"),
    [
        (FaultKind.connect, RetryDecision.retry, False),
        (FaultKind.connection, RetryDecision.retry, True),
        (FaultKind.timeout, RetryDecision.retry, True),
        (FaultKind.reply, RetryDecision.retry, True),
        (FaultKind.parameter, RetryDecision.fatal, False),
    ],
)
def test_what_follows_without_a_status(kind, follows, billable):
    fault = Fault(kind, "x")
    assert course(fault, served=False) is follows
    assert fault.outcome == kind.value
    assert fault.billable is billable


@pytest.mark.parametrize(
    ("payload", "message", "code"),
    [
        ({"error": {"message": "no", "code": "c", "type": "t"}}, "no", "c"),
        ({"error": {"message": "no", "code": None, "type": "t"}}, "no", "t"),
        (
            {"object": "error", "message": "too long", "type": "BadRequestError", "code": 400},
            "too long",
            "400",
        ),
        ({"error": "plain"}, "plain", ""),
        ({"error": {}}, "body", ""),
        (None, "body", ""),
        ([1], "body", ""),
    ],
)
def test_the_message_and_code_of_an_error_are_found(payload, message, code):
    fault = error_fault(400, payload, "body")
    assert (fault.detail, fault.code, fault.status) == (message, code, 400)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Sun, 29 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sun, 29 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "7", "retry-after-ms": "soon"}, 7.0),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers, seconds):
    assert retry_after_s(headers, NOW) == seconds


def test_pauses_double_up_to_the_longest_with_full_jitter():
    pauses = Pauses(1.0, 10.0, random.Random(1))
    for tries, ceiling in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 10.0), (500, 10.0)):
        drawn = [pauses.after(tries, None) for _ in range(400)]
        assert 0.0 <= min(drawn) < ceiling * 0.05
        assert ceiling * 0.95 < max(drawn) <= ceiling


def test_retry_after_is_honoured_up_to_a_bound_and_spread():
    pauses = Pauses(1.0, 10.0, random.Random(1))
    drawn = [pauses.after(1, 7.0) for _ in range(100)]
    assert min(drawn) >= 7.0
    assert max(drawn) <= 8.0
    assert len(set(drawn)) == 100
    assert 600.0 <= pauses.after(1, 86_400.0) <= 601.0
