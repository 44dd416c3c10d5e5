"""Judge one report in Harbor's sandbox, by the standard library and the judge's own API.

    python3 agent_judge.py /app/outputs/report.docx

`fixtures/judge.json` holds everything that the task's author chose: the judge's model and address, the
prompt with the criteria and the expert's report, and the points. The judge sees no points. The reward is

    (points of required criteria that are met - points of penalties that are committed) / required points

within [0, 1] for a report. It goes to `reward.json`, and each verdict with its reason to `judgment.json`. A
report that is missing, corrupt or empty has reward 0. Without the judge's key, and where the judge's replies
can't be used, there is no reward: an attempt that nobody judged did not score 0.

STAFFBENCH_JUDGE=offline asks for a stand-in, which judges one thing: a copy of the expert's report meets
every criterion. It has no opinion on any other report, and leaves no reward for one.
"""

# `report_text` lies beside this file, in the sandbox as well. Addresses come from the task's own settings.
# pyright: basic, reportMissingImports=false
# ruff: noqa: INP001, T201, S310
from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
import unicodedata
import urllib.error
import urllib.request
from pathlib import Path

from report_text import NoReportError, report_text

HERE = Path(__file__).resolve().parent
LOGS = Path(os.environ.get("STAFFBENCH_LOGS", "/logs/verifier"))
NO_REWARD = 4
TRIES, PAUSE_S, TIMEOUT_S = 4, 5.0, 900.0
_AGAIN = (408, 409, 429, *range(500, 600))  # statuses after which a call is made again
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)


class NoVerdictError(Exception):
    """The judge gave no verdict, so there is no reward."""


class RejectedError(Exception):
    """A reply of another format; its message is told to the judge."""


def main() -> int:
    """Grade the report; return 0 if there is a reward."""
    judge = json.loads((HERE / "fixtures" / "judge.json").read_text(encoding="utf-8"))
    about = {**judge["about"], "judge_model": judge["name"], "judge_names": [judge["body"].get("model")]}
    LOGS.mkdir(parents=True, exist_ok=True)
    for name in ("reward.json", "reward.txt", "judgment.json"):
        (LOGS / name).unlink(missing_ok=True)
    try:
        check_rubric(judge)
        text = report_text(Path(sys.argv[1]))
        met, about = verdicts(judge, text, about)
    except NoReportError as error:
        write("judgment.json", {**about, "format_error": str(error), "score": 0.0, "criteria": []})
        write("reward.json", {"reward": 0.0})
        print(f"reward 0.000: {error}")
        return 0
    except NoVerdictError as error:
        write("judgment.json", {**about, "error": str(error), "criteria": []})
        print(f"no reward: {error}", file=sys.stderr)
        return NO_REWARD
    score = score_of(judge["criteria"], met)
    criteria = [
        {**each, "met": met[each["criterion_id"]][0], "reason": met[each["criterion_id"]][1]}
        for each in judge["criteria"]
    ]
    write("judgment.json", {**about, "score": score, "criteria": criteria})
    reward = min(max(score, 0.0), 1.0)
    write("reward.json", {"reward": reward})
    print(f"reward {reward:.3f}: {about['judge_model']} on {len(criteria)} criteria")
    return 0


def verdicts(judge: dict, text: str, about: dict) -> tuple[dict, dict]:
    """Return by criterion id whether it is met and why, and the facts about who judged."""
    wanted = os.environ.get("STAFFBENCH_JUDGE", "").strip()
    if wanted not in ("", "offline"):
        raise NoVerdictError(f"STAFFBENCH_JUDGE={wanted} needs staffbench here: export with --install")
    if wanted == "offline" or judge["api"] == "offline":
        name = "offline: copy of the expert's report"
        about = {**about, "judge_model": name, "stand_in": True, "judge_names": []}
        golden = HERE / judge["golden"]
        if Path(sys.argv[1]).read_bytes() != golden.read_bytes():
            raise NoVerdictError("the stand-in knows the expert's report only, and this is another one")
        return {
            each["criterion_id"]: (each["polarity"] == "positive", "a copy of the expert's report")
            for each in judge["criteria"]
        }, about
    key = os.environ.get(judge["key"] or "", "")
    if judge["key"] and not key:
        raise NoVerdictError(
            f"{judge['key']} is not set, which the judge {judge['name']} needs; "
            "STAFFBENCH_JUDGE=offline asks for a stand-in, for tests"
        )
    return ask(judge, key, text), about


def check_rubric(judge: dict) -> None:
    """Refuse a prompt that was made from other criteria than those that lie here."""
    path = HERE / judge["rubric"]
    if hashlib.sha256(path.read_bytes()).hexdigest() != judge["rubric_sha256"]:
        raise NoVerdictError(f"{path.name} has changed since judge.json was made: export the task again")


def ask(judge: dict, key: str, text: str) -> dict:
    """Ask until a reply has the format, at most `max_attempts` times."""
    user = judge["prompt"][0] + shielded(text) + judge["prompt"][1]
    fault = ""
    for _ in range(judge["max_attempts"]):
        try:
            return read_reply(judge, send(judge, key, user))
        except RejectedError as error:
            fault = str(error)
            user += "\n\n" + judge["rejected"].replace("{{fault}}", shielded(fault))
    raise NoVerdictError(f"no valid reply in {judge['max_attempts']} attempts; the last: {fault}")


def send(judge: dict, key: str, user: str) -> str:
    """Return the text of one reply; failed calls are repeated."""
    body = dict(judge["body"])
    headers = {"content-type": "application/json"}
    if judge["api"] == "anthropic":
        headers |= {"x-api-key": key, "anthropic-version": "2023-06-01"}
        body |= {"system": judge["system"], "messages": [{"role": "user", "content": user}]}
    else:
        headers |= {"authorization": f"Bearer {key}"} if key else {}
        body["messages"] = [{"role": "system", "content": judge["system"]}, {"role": "user", "content": user}]
    request = urllib.request.Request(judge["url"], json.dumps(body).encode(), headers)
    for number in range(1, TRIES + 1):
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as reply:
                return text_of(judge["api"], json.load(reply))
        except urllib.error.HTTPError as error:
            fault, again = f"HTTP {error.code}", error.code in _AGAIN
            pause = error.headers.get("retry-after", "")
        except (OSError, ValueError) as error:
            fault, again, pause = f"{type(error).__name__}: {error}", True, ""
        if not again or number == TRIES:
            raise NoVerdictError(f"the judge {judge['name']} can't be asked: {fault}")
        time.sleep(min(float(pause), 60.0) if pause.isdigit() else PAUSE_S * number)
    raise AssertionError


def text_of(api: str, reply: dict) -> str:
    """Return the text of a reply of either API."""
    try:
        if api == "anthropic":
            end = reply["stop_reason"]
            text = "".join(part["text"] for part in reply["content"] if part["type"] == "text")
        else:
            choice = reply["choices"][0]
            end, text = choice["finish_reason"], choice["message"].get("content") or ""
            end = "refusal" if choice["message"].get("refusal") else end
    except (KeyError, IndexError, TypeError) as error:
        raise NoVerdictError(
            f"no known format of the judge's answer ({type(error).__name__} {error})"
        ) from error
    if end in ("refusal", "content_filter"):
        raise NoVerdictError("the judge refused")
    if end in ("max_tokens", "length"):
        raise RejectedError("it was cut at the output limit; keep each reason short")
    return text


def read_reply(judge: dict, text: str) -> dict:
    """Read one JSON object with every criterion once, each with a reason; anything else is rejected."""
    try:
        reply = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise RejectedError(f"it is not one JSON object and nothing else ({error})") from None
    if not isinstance(reply, dict) or set(reply) != {"verdicts"} or not isinstance(reply["verdicts"], list):
        raise RejectedError("it is no object with the key 'verdicts' alone, and a list under it")
    ids = [each["criterion_id"] for each in judge["criteria"]]
    found: dict[str, tuple[bool, str]] = {}
    for number, entry in enumerate(reply["verdicts"], 1):
        if not isinstance(entry, dict) or set(entry) != {"id", "met", "reason"}:
            raise RejectedError(f"entry {number} has not the keys 'id', 'met', 'reason'")
        if not isinstance(entry["id"], str) or entry["id"] not in ids:
            raise RejectedError(f"entry {number} has an unknown id")
        if entry["id"] in found:
            raise RejectedError(f"the id '{entry['id']}' is listed twice")
        if not isinstance(entry["met"], bool):
            raise RejectedError(f"met of '{entry['id']}' is neither true nor false")
        if not isinstance(entry["reason"], str) or not entry["reason"].strip():
            raise RejectedError(f"'{entry['id']}' has no reason")
        found[entry["id"]] = (entry["met"], entry["reason"])
    missing = [name for name in ids if name not in found]
    if missing:
        raise RejectedError(f"{len(found)} of {len(ids)} items are in the list; missing is '{missing[0]}'")
    return found


def score_of(criteria: list[dict], met: dict) -> float:
    """Points of met criteria, less those of committed penalties, as a share of the points to earn."""
    total = sum(each["points"] for each in criteria if each["points"] > 0)
    return sum(each["points"] for each in criteria if met[each["criterion_id"]][0]) / total


def shielded(text: str) -> str:
    """Make a text safe in the prompt: no invisible characters, and no markup that closes an element."""
    plain = _UNSEEN.sub("", re.sub("\r\n?|[\x0b\x0c\x85\u2028\u2029]", "\n", text))
    plain = unicodedata.normalize("NFC", plain)
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _once(pairs: list) -> dict:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key twice in one object")
    return dict(pairs)


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def write(name: str, value: dict) -> None:
    """Write a file of the verifier's; a link that an agent left there is replaced."""
    part = LOGS / f".{name}"
    part.unlink(missing_ok=True)
    part.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    part.replace(LOGS / name)


if __name__ == "__main__":
    sys.exit(main())
