"""What a run would still call: the numbers, worked by hand."""

import math
from dataclasses import replace

import pytest

from flows.pipeline.commands.planning import text as plan_text
from flows.schema.call import stands
from flows.schema.completion import Completion, CompletionStatus, Message, Request, Usage
from flows.schema.settings import (
    Effort,
    JudgeKind,
    JudgeMode,
    JudgeSettings,
    ModelSettings,
    Price,
    Retry,
    Transport,
    Writer,
)
from flows.stages.plan import (
    Cost,
    PlannedCall,
    brief_characters,
    cap_mismatch,
    combined,
    cost_text,
    detectable_difference,
    half_width,
    misfit,
    planned,
    room_shortfall,
    summed,
    tokens_of,
    verdict_tokens,
)

MODEL = ModelSettings(
    label="m",
    writer=Writer.remote,
    transport=Transport.litellm,
    provider="p",
    name="p/m",
    api_base=None,
    api_key_env=None,
    context_tokens=1000,
    output_tokens=400,
    max_tokens_field="max_tokens",
    price=Price(2.0, 10.0, "2026-11-20"),
    benchmark_effort=Effort.default,
    efforts={"default": {}},
    parameters={},
    send_seed=False,
    stream=False,
    structured_output=False,
    folder=None,
    note="",
)
JUDGE = JudgeSettings(
    **{name: getattr(MODEL, name) for name in MODEL.__dataclass_fields__},
    kind=JudgeKind.remote,
    effort=Effort.default,
    mode=JudgeMode.failed_only,
    max_attempts=3,
    tokens_per_item=60,
    tokens_thinking=1000,
    allow_self=False,
    repeat=1,
    canaries=False,
)


def request(*texts, **parameters):
    return Request("litellm", "p/m", None, tuple(Message("user", text) for text in texts), parameters, 1)


def test_tokens_are_a_quarter_of_the_characters_rounded_up():
    assert [tokens_of(number) for number in (0, 1, 4, 5, 243_000)] == [0, 1, 1, 2, 60_750]


def test_an_unwritten_brief_is_as_long_as_it_may_be():
    assert brief_characters(3000) == 18_000
    assert brief_characters(3000, 1000) == 6_000
    assert brief_characters(1000, 3000) == 6_000
    assert brief_characters(None) == 31_200  # 5,200 words
    assert brief_characters(None, 3000) == 18_000


def test_a_judge_is_taken_to_list_every_item():
    assert verdict_tokens(170, JUDGE) == 10_200


def test_a_planned_call_counts_every_turn_and_keeps_to_the_limit_that_is_sent():
    assert planned(request("abcde", "fgh", max_tokens=300), MODEL, 500) == PlannedCall(2, 300, 300)
    assert planned(request("abcdefghi"), MODEL, 500, is_assumed=True) == PlannedCall(
        3, 500, None, is_assumed=True
    )
    other = replace(MODEL, max_tokens_field="max_completion_tokens")
    assert planned(request("a", max_completion_tokens=7), other, 5) == PlannedCall(1, 5, 7)


def test_a_price_is_tokens_times_the_list_price():
    calls = [PlannedCall(1000, 200, 400), PlannedCall(3000, 300, 400, is_assumed=True)]
    load = summed(calls, MODEL.price)
    assert (load.calls, load.assumed, load.input_tokens, load.output_tokens) == (2, 1, 4000, 500)
    assert load.cost.usd == pytest.approx(0.013)  # 4,000 at $2 and 500 at $10 a million
    assert load.most.usd == pytest.approx(0.016)  # 4,000 at $2 and 800 at $10
    assert (load.cost.is_bound, load.most.is_bound) == (False, False)


def test_without_an_output_limit_the_upper_bound_is_none():
    load = summed([PlannedCall(1000, 200, None), PlannedCall(1000, 200, 400)], MODEL.price)
    assert load.most.is_bound
    assert load.most.usd == pytest.approx(0.010)  # 2,000 at $2, and 200 and 400 at $10
    assert not load.cost.is_bound
    assert summed([PlannedCall(1000, 200, None)], Price(0, 0)).most == Cost(0.0)


def test_an_unknown_price_is_null_and_half_a_price_is_a_lower_bound():
    calls = [PlannedCall(1000, 200, 400)]
    assert summed(calls, Price()).cost == Cost(None)
    assert summed(calls, Price()).most == Cost(None)
    half = summed(calls, Price(input_usd=2.0)).cost
    assert half.usd == pytest.approx(0.002)
    assert half.is_bound


def test_what_is_not_called_costs_nothing_whatever_its_price():
    assert summed([], Price()).cost == Cost(0.0)
    assert combined([]).cost == Cost(0.0)
    known, unknown = [PlannedCall(1000, 200, 400)], [PlannedCall(500, 100, 100)]
    both = combined([summed(known, MODEL.price), summed(unknown, Price())])
    assert (both.calls, both.input_tokens, both.output_tokens) == (2, 1500, 300)
    assert both.cost.usd == pytest.approx(0.004)
    assert both.cost.is_bound
    alone = combined([summed([], MODEL.price), summed(unknown, Price())])
    assert alone.cost == Cost(None)


def test_a_cost_says_what_it_is():
    shown = [cost_text(Cost(*cost)) for cost in ((None,), (0.0,), (1234.5,), (0.0042,), (1.0, True))]
    assert shown == ["unknown", "$0.00", "$1,234.50", "$0.0042", "≥ $1.00"]


@pytest.mark.parametrize(
    ("status", "answered"),
    [
        (CompletionStatus.complete, [True] * 5),
        (CompletionStatus.cut, [True] * 5),
        (CompletionStatus.refused, [True, True, True, True, False]),
        (CompletionStatus.partial, [True, True, True, False, True]),  # paid for: again only by name
        (CompletionStatus.error, [True, True, False, False, False]),
    ],
)
def test_a_stored_outcome_is_asked_again_as_retry_says(status, answered):
    stored = Completion("0" * 64, status, "a brief", "stop", "m", Usage(10, 5), None, ())
    assert [stands(stored, retry) for retry in Retry] == answered


def test_the_detectable_difference_shrinks_with_the_root_of_the_scenarios():
    assert detectable_difference(10, paired=True) == half_width(10) == pytest.approx(0.08)
    assert detectable_difference(40, paired=True) == pytest.approx(0.04)
    assert detectable_difference(10, paired=False) == pytest.approx(0.08 * math.sqrt(2))
    with pytest.raises(ValueError, match="0 scenarios"):
        detectable_difference(0, paired=True)


def test_a_plan_says_which_difference_it_means_and_that_few_scenarios_have_none():
    for few in (1, 5):
        assert "no difference can be told from chance" in plan_text._detectable(few)
        assert "±" not in plan_text._detectable(few)
    said = plan_text._detectable(10)
    assert "±0.08 on a score" in said
    assert "0.08 for a paired difference" in said
    assert "0.11 for an unpaired one, sqrt(2) times as large" in said


def test_a_prompt_and_its_reply_must_fit_the_context_together():
    assert misfit(MODEL, PlannedCall(600, 50, 400)) is None
    assert misfit(MODEL, PlannedCall(601, 50, 400)) == (
        "about 601 tokens of prompt and 400 of reply do not fit into the 1,000 of m"
    )
    assert misfit(MODEL, PlannedCall(951, 50, None)) is not None  # no limit is sent: what is expected
    assert misfit(replace(MODEL, context_tokens=None), PlannedCall(10**9, 0, 0)) is None


def test_a_cap_that_the_writer_is_not_told_is_a_warning():
    assert cap_mismatch(3000, 3000) is None
    assert cap_mismatch(None, None) is None
    assert cap_mismatch(3000, 500) == "the prompt sets a limit of 3,000 words, but 500 are graded"
    assert "no limit, but 3,000 words are graded" in (cap_mismatch(None, 3000) or "")
    assert "3,000 words, but all words are graded" in (cap_mismatch(3000, None) or "")


def test_a_judge_without_room_for_its_rubric_is_a_warning():
    assert room_shortfall(400, JUDGE) is None
    text = room_shortfall(401, JUDGE) or ""
    assert text.startswith("a reply of m may need 401 tokens, and it writes at most 400")
    assert text.endswith("judge.mode=per_item asks for one item a call")
    assert "per_item" not in (room_shortfall(401, replace(JUDGE, mode=JudgeMode.per_item)) or "")
    assert room_shortfall(10**9, replace(JUDGE, output_tokens=None)) is None
