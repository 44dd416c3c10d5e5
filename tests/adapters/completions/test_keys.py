import base64
import json
import urllib.parse

import pytest

from flows.adapters.completions.keys import check_key, check_no_key, read_key, scrub, scrub_reply
from flows.schema.errors import ConfigError, ProviderError
from tests.adapters.completions.helpers import a_model

KEY = "sk-Pl4nted/+=&\"key'0123456789"


@pytest.fixture
def model():
    return a_model("http://127.0.0.1:9/v1", api_key_env="SCRIPTED_KEY")


def test_a_model_without_a_variable_needs_no_key(monkeypatch):
    monkeypatch.delenv("SCRIPTED_KEY", raising=False)
    assert read_key(a_model(None)) is None
    check_key(a_model(None))


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_a_missing_key_names_its_variable(model, monkeypatch, value):
    monkeypatch.delenv("SCRIPTED_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("SCRIPTED_KEY", value)
    with pytest.raises(ProviderError, match="the environment variable SCRIPTED_KEY is not set"):
        check_key(model)


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
