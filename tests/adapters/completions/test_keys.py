import base64
import json
import urllib.parse
from dataclasses import replace

import pytest

from flows.adapters.completions import keys
from flows.adapters.completions.keys import (
    check_keys,
    check_no_key,
    check_no_secret,
    read_headers,
    read_key,
    scrub,
    scrub_reply,
)
from flows.common.errors import ConfigError, Problems, ProviderError
from flows.schema.settings import Transport
from tests.adapters.completions.helpers import a_model

KEY = "sk-Pl4nted/+=&\"key'0123456789"


@pytest.fixture
def model():
    return a_model("http://127.0.0.1:9/v1", api_key_env="SCRIPTED_KEY")


def test_a_model_without_a_variable_needs_no_key(monkeypatch):
    monkeypatch.delenv("SCRIPTED_KEY", raising=False)
    assert read_key(a_model(None)) is None
    check_keys([a_model(None)])


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_a_missing_key_names_its_variable(model, monkeypatch, value):
    monkeypatch.delenv("SCRIPTED_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("SCRIPTED_KEY", value)
    with pytest.raises(ProviderError, match="the environment variable SCRIPTED_KEY is not set"):
        check_keys([model])


def test_models_that_need_one_variable_are_named_together(model, monkeypatch):
    monkeypatch.delenv("SCRIPTED_KEY", raising=False)
    with pytest.raises(ProviderError) as caught:
        check_keys([model, replace(model, label="the-judge"), model])
    assert caught.value.where == f"model {model.label} and the-judge"
    with pytest.raises(Problems) as several:
        check_keys([model, replace(model, label="the-judge", api_key_env="OTHER_KEY")])
    assert len(several.value.lines) == 2


def test_a_newline_at_the_end_of_a_key_is_no_part_of_it(model, monkeypatch):
    monkeypatch.setenv("SCRIPTED_KEY", "sk-abcdefgh\n")
    assert read_key(model) == "sk-abcdefgh"


@pytest.mark.parametrize("value", ["sk-abc\ndef", "sk-\u00e4bcdefg", "sk abcdefgh"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(model, monkeypatch, value):
    monkeypatch.setenv("SCRIPTED_KEY", value)
    with pytest.raises(ProviderError, match="SCRIPTED_KEY holds a character that no key has") as caught:
        read_key(model)
    assert value[-5:] not in str(caught.value)


FORMS = {
    "plain": KEY,
    "upper": KEY.upper(),
    "quoted": urllib.parse.quote(KEY),
    "quoted whole": urllib.parse.quote(KEY, safe=""),
    "json": json.dumps(KEY)[1:-1],
    "html": KEY.replace("&", "&amp;").replace('"', "&quot;").replace("'", "&#x27;"),
    "hex": KEY.encode().hex(),
    "HEX": KEY.encode().hex().upper(),
    "base64": base64.b64encode(KEY.encode()).decode(),
    "base64 of a header": base64.b64encode(b"Bearer " + KEY.encode()).decode(),
    "base64 of a pair": base64.b64encode(b"ab:" + KEY.encode() + b":c").decode(),
    "urlsafe": base64.urlsafe_b64encode(b"x" + KEY.encode()).decode(),
    "escaped": "".join(f"\\u{ord(character):04x}" for character in KEY),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_key_is_taken_out_however_it_is_written(form):
    cleaned = scrub(f"Incorrect API key provided: {form}.", KEY)
    assert "[key]" in cleaned
    # What may be left at the ends is the few characters of base64 that hold other bytes too.
    assert len(cleaned) <= len("Incorrect API key provided: [key].") + 16
    assert form not in cleaned


def test_placeholders_stay_words():
    assert scrub("no key, none at all", "none") == "no key, none at all"
    assert scrub_reply("This is not-needed here.", "not-needed") == ("This is not-needed here.", "")
    assert scrub("bad key not-needed", "not-needed") == "bad key [key]"
    assert scrub("anything", None) == "anything"


def test_a_key_in_a_reply_is_taken_out_and_noted():
    assert scrub_reply(f"Your key is {KEY}!", KEY) == (
        "Your key is [key]!",
        "the provider's key was in the reply and was taken out",
    )
    assert scrub_reply("A brief.", KEY) == ("A brief.", "")


def test_a_request_that_carries_a_secret_is_refused():
    model = a_model("http://127.0.0.1:9/v1")
    check_no_key(model, '{"temperature":0}', KEY)
    with pytest.raises(ConfigError, match="a secret in api_base or parameters") as caught:
        check_no_key(model, f'{{"extra":"{KEY}"}}', KEY)
    assert KEY not in str(caught.value)
    with pytest.raises(ConfigError, match="a secret in api_base"):
        check_no_key(a_model("http://user:pass@127.0.0.1:9/v1"), "", None)


@pytest.fixture
def given(monkeypatch):
    """Puts secrets into the environment and lets a run read them, as a judge's key and as a header."""
    monkeypatch.setattr(keys, "_names", set())

    def give(**variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
            check_keys([a_model(None, headers={"X-Any": name})])

    return give


SHORT = [
    # (secret, message that comes back, as it is kept; reply that comes back, as it is kept)
    ("sk-12a4", "bad key sk-12a4.", "bad key [key].", "So: sk-12a4", "So: [key]"),
    ("sk-12a4", "task-12a45", "task-12a45", "task-12a45", "task-12a45"),
    ("p4ss!word", "cDRzcyF3b3Jk is p4ss!word", None, "p4ss%21word", "[key]"),
    ("none", "bad key: none, none", "bad key: [key], none", "none: none", "none: none"),
    ("12345", "token=12345 of 12345", "token=[key] of 12345", "It has: 12345 men.", "It has: 12345 men."),
    ("sk-1234", "sk-1234", "[key]", "So: sk-1234", "So: [key]"),
    ("2026-01-01", "on 2026-01-01", "on [key]", "D-day: 2026-01-01", "D-day: 2026-01-01"),
    ("team-1", "for team-1", "for team-1", "for: team-1", "for: team-1"),
    (
        "Task Force Atlas",
        "for Task Force Atlas",
        "for Task Force Atlas",
        "Task Force Atlas",
        "Task Force Atlas",
    ),
    ("lm-studio", "bad lm-studio", "bad [key]", "at: lm-studio", "at: lm-studio"),
]


@pytest.mark.parametrize("case", SHORT, ids=lambda case: case[1])
def test_a_short_secret_is_taken_out_where_no_word_can_be_meant(given, case):
    secret, message, kept, reply, kept_reply = case
    given(ANY_SECRET=secret)
    cleaned = scrub(message, None)
    assert cleaned == kept or (kept is None and secret not in cleaned)
    assert scrub_reply(reply, None)[0] == kept_reply


def test_every_secret_of_the_run_is_looked_for_whoever_answers(given, monkeypatch):
    given(JUDGE_KEY="sk-judge-0123456789", HEADER="Bearer 9876543210-abcdef")
    monkeypatch.setenv("https_proxy", "http://clerk:s%20p4ss@proxy.invalid:3128")
    told = base64.b64encode(b"clerk:s p4ss").decode()
    text = f"sk-judge-0123456789 9876543210-abcdef s%20p4ss {told}"
    assert scrub(text, None) == "[key] [key] [key] [key]"
    assert scrub_reply(text, None)[0] == "[key] [key] [key] [key]"
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "0123456789/abcdefghij")
    assert "abcdefghij" in scrub("0123456789/abcdefghij", None)  # this run does not use it
    check_keys([a_model(None, transport=Transport.litellm)])
    assert scrub("0123456789/abcdefghij", None) == "[key]"


def test_settings_that_hold_a_secret_of_the_environment_are_refused(given):
    given(JUDGE_KEY="sk-judge-0123456789", PLACEHOLDER="none", SHORT="ab12cd34")
    check_no_secret("model", {"parameters": {"tool_choice": "none", "user": "ab12cd345"}})
    for leak in ("sk-judge-0123456789", base64.b64encode(b"sk-judge-0123456789").decode(), "ab12cd34"):
        with pytest.raises(ConfigError, match="model: contains a key, header or password") as caught:
            check_no_secret("model", {"parameters": {"user": [leak]}})
        assert leak not in str(caught.value)


def test_a_key_in_the_place_of_its_variables_name_is_not_shown():
    for model in (a_model(None, api_key_env="sk-oops"), a_model(None, headers={"X": "sk-oops"})):
        with pytest.raises(ProviderError, match="NAME is not set") as caught:
            check_keys([model])
        assert "sk-oops" not in str(caught.value)


def test_a_header_that_can_not_be_sent_is_refused(monkeypatch):
    monkeypatch.setenv("HEADER", "a\nb: c")
    with pytest.raises(ProviderError, match="HEADER holds a character that no header has"):
        read_headers(a_model(None, headers={"X": "HEADER"}))


def test_every_missing_key_and_header_is_named_at_once(model, monkeypatch):
    for name in ("SCRIPTED_KEY", "OTHER_KEY", "HEADER"):
        monkeypatch.delenv(name, raising=False)
    hosted = a_model(None, api_key_env="OTHER_KEY", headers={"X": "HEADER"})
    with pytest.raises(Problems) as caught:
        check_keys([model, hosted, model])
    own, provider, header = caught.value.lines
    assert "Set it: export SCRIPTED_KEY=..., or set model.api_key_env=null (judge.api_key_env=null)" in own
    assert provider.endswith("Set it: export OTHER_KEY=...")  # a provider always needs one
    assert header.endswith("Set it: export HEADER=...")


def test_the_password_of_a_proxy_under_any_spelling_is_removed(monkeypatch):
    monkeypatch.setenv("Grpc_Proxy", "http://clerk:s3cret-pass@proxy.invalid:3128")
    keys._other_proxies.cache_clear()  # looked for once in a process
    try:
        assert "s3cret-pass" not in keys.scrub("could not connect with s3cret-pass", None)
    finally:
        keys._other_proxies.cache_clear()
