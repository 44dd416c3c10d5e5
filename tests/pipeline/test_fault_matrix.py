"""Each fault of a writer or a judge: what is stored, what is counted, and what is printed.

The other side of the pair is well: a judge that finds nothing failed, or a writer with a sound brief.
"""

import json
from dataclasses import dataclass

import pyarrow.parquet as pq
import pytest

from flows.adapters.completions.stores.folder import CompletionStore
from tests.support.bench import ITEM, Project, remote
from tests.support.plain_flow import run_here, without_prefect
from tests.support.scripted_server import Drop, Hang, Raw, Say, ScriptedServer, Status

BRIEF = "The relief column has 412 soldiers."
HUGE = "word " * 300_000
UNICODE = "Gr\u00f6\u00dfe \u529b \U0001f600"


def reply(items=3, *failed):
    return json.dumps({"items": items, "failed": list(failed)})


def entry(item_id, mode="omission", reason="not there"):
    return {"id": item_id, "mode": mode, "reason": reason}


def once(fault):
    """The fault at the first try, then the usual answer."""
    return lambda call, usual: fault if call.attempt == 1 else usual


def always(fault):
    return lambda _call, _usual: fault


@dataclass(frozen=True)
class Fault:
    """What the endpoint does, and what comes of it.

    `stored` is the status of the completion, or of each, and `tries` the outcomes of its tries;
    `verdicts` is the status of every item; `counted` are fields of the leaderboard's row.
    """

    does: object
    stored: str
    tries: tuple = ("ok",)
    verdicts: str = "graded"
    counted: tuple = ()
    said: str = ""


GRADED = {"n_ungraded": 0, "n_briefs": 1, "score": 1}
UNGRADED = {"n_ungraded": 3, "n_briefs": 0, "score": None}
TWICE_500, DROPPED, SLOW = ("http 500",) * 2, ("connection",) * 2, ("timeout",) * 2

WRITER = {
    "429": Fault(once(Status(429, retry_after="0.01")), "complete", ("http 429", "ok")),
    "500": Fault(always(Status(500)), "error", TWICE_500, "error", (("n_error", 1),), "3 items"),
    "529": Fault(once(Status(529)), "complete", ("http 529", "ok")),
    "dropped": Fault(always(Drop(2)), "error", DROPPED, "error", (("n_error", 1),), "3 items"),
    "slow": Fault(always(Hang(300, 1)), "error", SLOW, "error", (("n_error", 1),), "3 items"),
    "empty": Fault(
        always(Say("")),
        "complete",
        counted=(("n_empty", 1), ("words_kept", 0), ("score", 0)),  # though its judge passes everything
        said="Briefs without a word, which score 0",
    ),
    "cut before a word": Fault(
        always(Say(None, finish="length")),
        "cut",
        counted=(("n_empty", 1), ("n_cut_by_provider", 1), ("score", 0)),
        said="stopped at the output limit",
    ),
    "refused": Fault(
        always(Say("", finish="content_filter")),
        "refused",
        verdicts="refused",
        counted=(("n_refused", 1),),
        said="3 items",
    ),
    "no content": Fault(
        always(Say(None, opens=None)), "error", ("no content",) * 2, "error", (("n_error", 1),), "3 items"
    ),
    "no content once": Fault(
        once(Say(None, message={"reasoning": "hm"})), "complete", ("no content", "ok"), counted=()
    ),
    "thought in the text": Fault(
        always(Say(f"<think>{HUGE}</think>\n\n{BRIEF}")), "complete", counted=(("words_raw", 6), ("n_cut", 0))
    ),
    "unknown end": Fault(
        always(Say(BRIEF, finish="odd")),
        "partial",
        verdicts="error",
        counted=(("n_error", 1),),
        said="Texts that were paid for and are not graded",
    ),
    "no end": Fault(
        always(Say(BRIEF, finish=None)),
        "partial",
        verdicts="error",
        counted=(("n_error", 1),),
        said="3 items",
    ),
    "filtered half-way": Fault(
        always(Say(BRIEF, finish="content_filter")),
        "refused",
        verdicts="refused",
        counted=(("n_refused", 1),),
        said="Texts that were paid for and are not graded",
    ),
    "another model": Fault(
        always(Say(BRIEF, model="cheap-2")), "complete", said="and 1 of 1 briefs came from cheap-2"
    ),
    "odd counts": Fault(
        always(Say(f"{BRIEF} \ud800", usage={"prompt_tokens": 10**30, "completion_tokens": 1e30})), "complete"
    ),
    "cut": Fault(always(Say(BRIEF, finish="length")), "cut", counted=(("n_cut_by_provider", 1),)),
    "prose": Fault(always(Say(f"Sure, here it is:\n\n{BRIEF}")), "complete", counted=(("words_raw", 10),)),
    "wrong count": Fault(always(Say(reply(2))), "complete", counted=(("n_hidden", 0),)),
    "wrong id": Fault(always(Say(reply(3, entry("none")))), "complete", counted=(("n_hidden", 0),)),
    "huge": Fault(
        always(Say(HUGE)), "complete", counted=(("n_cut", 1), ("words_raw", 300_000), ("words_kept", 3000))
    ),
    "wrong type": Fault(
        always(Raw(b"[1]")), "error", ("bad reply",) * 2, "error", (("n_error", 1),), "3 items"
    ),
    "unicode": Fault(
        always(Say(f"{BRIEF} {UNICODE} \u202ezero\u200bwidth\ud800")),
        "complete",
        counted=(("n_hidden", 1),),
        said="1 brief held characters that a reader does not see",
    ),
}


def unparsed(text, said="no valid reply in 2 attempts", **how):
    return Fault(always(Say(text, **how)), "complete", verdicts="unparsed", said=said)


JUDGE = {
    "429": WRITER["429"],
    "500": Fault(always(Status(500)), "error", TWICE_500, "error", said="http 500"),
    "529": WRITER["529"],
    "dropped": Fault(always(Drop(2)), "error", DROPPED, "error", said="connection"),
    "slow": Fault(always(Hang(300, 1)), "error", SLOW, "error", said="timeout"),
    "empty": unparsed("", "it is empty"),
    "refused": Fault(always(Say("", finish="content_filter")), "refused", verdicts="refused"),
    "no content": Fault(
        always(Say(None, opens=None)), "error", ("no content",) * 2, "error", said="no content"
    ),
    "thought in the text": Fault(always(Say(f"<think>is it so?</think>\n{reply()}")), "complete"),
    "unknown end": Fault(always(Say(reply(), finish="odd")), "partial", verdicts="error", said="'odd'"),
    "odd counts": Fault(always(Say(reply(), usage={"prompt_tokens": 10**30})), "complete"),
    "cut": Fault(always(Say(reply(), finish="length")), "cut", verdicts="unparsed", said="cut at the output"),
    "prose": unparsed(f"Here it is: {reply()}", "not one JSON object and nothing else"),
    "fence": unparsed(f"```json\n{reply()}\n```", "a code fence"),
    "wrong count": unparsed(reply(2), "items is 2, and 3 were to be graded"),
    "wrong id": unparsed(reply(3, entry("none")), "the unknown id 'none'"),
    "doubled id": unparsed(reply(3, entry("bridge"), entry("bridge")), "'bridge' is listed twice"),
    "wrong mode": unparsed(reply(3, entry("cholera")), "mode of 'cholera', an error, is 'omission'"),
    "huge": unparsed(HUGE, "not one JSON object and nothing else"),
    "wrong type": unparsed('{"items": "3", "failed": []}', "items is '3', and 3 were to be graded"),
    "no completion": Fault(always(Raw(b"[1]")), "error", ("bad reply",) * 2, "error", said="bad reply"),
    "unicode": Fault(always(Say(reply(3, entry("bridge", reason=UNICODE)))), "complete"),
    "alike": unparsed(reply(3, entry("br\u0456dge")), "the unknown id 'br\\u0456dge'"),
    "surrogate": unparsed(reply(3, entry("bridge", reason="\ud800")), "half of a character"),
}  # fmt: skip


@pytest.fixture
def faulty(tmp_path, project, monkeypatch, capsys):
    """Runs one row of a matrix; gives exit code, row, verdicts, and the screen with all notes."""
    without_prefect(monkeypatch)
    bench = Project(tmp_path, project / "conf", {})

    def run(side, fault):
        def script(call):
            is_judge = call.body["model"].startswith("judge")
            assert not is_judge or len(ITEM.findall(call.prompt)) == 3
            usual = Say(reply()) if is_judge else Say(BRIEF)
            return fault.does(call, usual) if call.body["model"].startswith(side) else usual

        with ScriptedServer(script) as server:
            idle_s = 0.3 if fault.tries is SLOW else 60
            limits = ["runner.max_attempts=2", "judge.max_attempts=2", f"runner.idle_timeout_s={idle_s}"]
            code = run_here(
                tmp_path, *remote(server, *limits, "seeds=1", "benchmark.scenarios=[alder]", "word_cap=3000")
            )
        (row,) = bench.board()
        (path,) = (bench.results / "ma_bench" / "verdicts").rglob("*.parquet")
        screen = capsys.readouterr()
        notes = (bench.results / "ma_bench" / "leaderboard.md").read_text(encoding="utf-8")
        return code, row, pq.read_table(path).to_pylist(), screen.out + screen.err + notes

    return run


def stored(folder, side):
    store = CompletionStore(folder / "results" / "completions")
    try:
        keys = list(store.keys())
        found = [store.get(key) for key in keys if store.request(key).model.startswith(side)]
    finally:
        store.close()
    return [(c.status.value, tuple(a.outcome for a in c.attempts)) for c in found]


def check(fault, side, tmp_path, faulty):
    code, row, verdicts, screen = faulty(side, fault)
    asked = 2 if side == "judge" and fault.verdicts == "unparsed" else 1  # a rejected reply is asked again
    assert stored(tmp_path, side) == [(fault.stored, fault.tries)] * asked
    # Neither a failed requirement nor an error that was not made: without a reply there is no verdict.
    assert [v["status"] for v in verdicts] == [fault.verdicts] * 3
    graded = fault.verdicts == "graded"
    assert all((v["passed"] is not None) == graded for v in verdicts)
    assert code == (0 if graded else 4)
    assert ("3 items have no verdict" in screen) == (not graded)
    if not graded:  # why, with the first reason and the file that has them all
        assert f": 3 {fault.verdicts}. {fault.verdicts}, first: alder, seed 1, " in screen
        assert "results/ma_bench/verdicts/" in screen
    assert "Traceback" not in screen
    return row, verdicts, screen


@pytest.mark.parametrize("name", WRITER)
def test_a_writer_that_fails(name, tmp_path, faulty):
    fault = WRITER[name]
    row, _, screen = check(fault, "writer", tmp_path, faulty)
    none = dict.fromkeys(("n_error", "n_refused", "n_empty", "n_cut", "n_cut_by_provider", "n_hidden"), 0)
    expected = {**none, **(GRADED if fault.verdicts == "graded" else UNGRADED), **dict(fault.counted)}
    assert {key: row[key] for key in expected} == expected
    assert fault.said in screen


@pytest.mark.parametrize("name", JUDGE)
def test_a_judge_that_fails(name, tmp_path, faulty):
    fault = JUDGE[name]
    row, verdicts, _ = check(fault, "judge", tmp_path, faulty)
    # The brief is well, so nothing is counted against the writer.
    expected = dict.fromkeys(("n_error", "n_refused", "n_empty", "n_cut", "n_hidden"), 0)
    expected |= GRADED if fault.verdicts == "graded" else UNGRADED
    if name == "unicode":
        expected["score"] = 9 / 14.5  # the bridge is failed, with its reason as it was written
        assert [v["reason"] for v in verdicts if not v["passed"]] == [UNICODE]
    assert {key: row[key] for key in expected} == pytest.approx(expected)
    assert all(fault.said in v["reason"] for v in verdicts if fault.said)
