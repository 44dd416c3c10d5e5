"""Quotes that must be in the brief, and orders of items."""

import json
from dataclasses import replace

import pytest

from flows.schema.settings import JudgeMode
from flows.stages.judge import (
    RejectedReply,
    build_requests,
    output_room,
    place_effect,
    read_reply,
    shown_order,
)
from flows.stages.judge.text import is_quoted
from tests.stages.test_judge import ITEMS, JUDGE, PROMPT

BRIEF = (
    "The **north bridge** carries 40 t; H+6 is 060600Z. A < B & \u201cno boats\u201d.\nCafe\u0301 at 08:30."
)
QUOTING = replace(JUDGE, mode=JudgeMode.all_items, quotes=True)


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("The north bridge carries 40 t", True),
        ("the NORTH   bridge\ncarries", True),  # case, white space and markup don't count
        ('A &lt; B &amp; "no boats"', True),  # as the judge was shown it
        ("Caf\u00e9 at 08.30", True),
        ("north bridge ... 060600Z", True),
        ("060600Z ... north bridge", False),  # another order
        ("north bridge \u2026 three boats", False),
        ("north bridge carries 60 t", False),
        ("The south bridge", False),
        ("north", False),  # in any brief
        ("north bridge ... A", False),
        ("", False),
        ("...", False),
    ],
)
def test_a_quote_is_in_the_brief_word_for_word(quote, found):
    assert is_quoted(quote, BRIEF) is found


def call(mode=JudgeMode.all_items, **changes):
    return build_requests(ITEMS, BRIEF, replace(QUOTING, mode=mode, **changes), PROMPT, 1)


def reply(**quotes):
    """All items are met where they have a quote, and not met elsewhere."""
    ids = [item.item_id for item in ITEMS]
    return json.dumps(
        {
            "verdicts": [
                {"id": name, "met": name in quotes, "quote": quotes.get(name, ""), "reason": "so"}
                for name in ids
            ]
        }
    )


def test_a_pass_with_a_quote_of_the_brief_is_kept_with_its_quote():
    (asked,) = call()
    first = ITEMS[0].item_id
    found = read_reply(asked, reply(**{first: "north bridge carries"}))
    assert found[0].passed is not ITEMS[0].is_error
    assert found[0].reason == "\u201cnorth bridge carries\u201d so"
    assert [verdict.reason for verdict in found[1:]] == ["so"] * (len(ITEMS) - 1)


def test_a_pass_without_a_quote_of_the_brief_rejects_the_reply():
    (asked,) = call()
    first, second = (item.item_id for item in ITEMS[:2])
    for quotes in ({first: ""}, {first: "ten bridges and a boat"}):
        with pytest.raises(RejectedReply, match=f"quote is not in the brief for '{first}'$"):
            read_reply(asked, reply(**quotes))
    with pytest.raises(RejectedReply, match="and 1 more"):
        read_reply(asked, reply(**{first: "", second: "x"}))
    unquoted = json.loads(reply())
    for entry in unquoted["verdicts"]:
        del entry["quote"]
    with pytest.raises(RejectedReply, match="should have 'id', 'met', 'quote', 'reason'"):
        read_reply(asked, json.dumps(unquoted))
    unquoted = json.loads(reply())
    unquoted["verdicts"][0]["quote"] = None
    with pytest.raises(RejectedReply, match="is no text"):
        read_reply(asked, json.dumps(unquoted))


def test_quotes_are_asked_for_only_where_they_are_wanted():
    (asked,) = call()
    assert asked.request.messages[-1].content.endswith(PROMPT.quotes)
    entry = asked.request.parameters["response_format"]["json_schema"]["schema"]["properties"]["verdicts"]
    assert list(entry["items"]["properties"]) == ["id", "met", "quote", "reason"]
    (plain,) = call(quotes=False)
    assert "quote" not in json.dumps([plain.request.messages[-1].content, dict(plain.request.parameters)])
    assert plain.quoted is None
    assert output_room(10, QUOTING) - output_room(10, replace(QUOTING, quotes=False)) == 600
    assert all(one.quoted for one in call(JudgeMode.per_item))


def test_the_first_repeat_has_the_order_of_the_file_and_others_each_their_own():
    items = [replace(ITEMS[0], item_id=f"I{number}") for number in range(30)]
    orders = [tuple(item.item_id for item in shown_order(items, repeat)) for repeat in (1, 2, 3)]
    assert orders[0] == tuple(item.item_id for item in items)
    assert len(set(orders)) == 3
    assert {frozenset(order) for order in orders} == {frozenset(orders[0])}
    # Canaries do not move the others.
    mixed = shown_order([*items, replace(ITEMS[0], item_id="CANARY")], 2)
    assert tuple(item.item_id for item in mixed if item.item_id != "CANARY") == orders[1]


@pytest.mark.parametrize("canaries", [False, True])
def test_repeats_are_asked_in_their_order_and_read_back_by_id(canaries):
    judge = replace(JUDGE, canaries=canaries)
    (first,), (second,) = (build_requests(ITEMS, BRIEF, judge, PROMPT, repeat) for repeat in (1, 2))
    ids = [item.item_id for item in ITEMS]
    assert list(first.item_ids) == ids
    assert sorted(second.item_ids) == sorted(ids)
    assert list(second.item_ids) == [
        item.item_id for item in shown_order(first.items, 2) if item.item_id in ids
    ]
    prompt = second.request.messages[-1].content
    places = [prompt.index(f'id="{item.item_id}"') for item in second.items]
    assert places == sorted(places)
    singles = [
        build_requests(ITEMS, BRIEF, replace(JUDGE, mode=JudgeMode.per_item), PROMPT, n) for n in (1, 2)
    ]
    assert [one.item_ids for one in singles[0]] == [one.item_ids for one in singles[1]]


def test_a_place_effect_compares_items_with_themselves():
    assert place_effect([]) is None
    assert place_effect([[(0.5, True), (0.5, False)], [(0.1, True)], []]) is None
    assert place_effect([[(0.0, True), (1.0, False)]]) == -1
    # An easy item at the top and a hard one at the bottom, each the same at every place: no effect.
    assert place_effect([[(0.0, True), (0.2, True)], [(0.8, False), (1.0, False)]]) == 0
    # One of two items fails at the end: half the share from the first place to the last.
    assert place_effect([[(0.0, True), (1.0, False)], [(0.0, True), (1.0, True)]]) == pytest.approx(-0.5)
