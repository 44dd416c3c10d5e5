"""Briefs and verdicts as rows of Every Eval Ever."""

from collections.abc import Iterator, Sequence
from typing import Any

from flows.common.digests import sha256_text
from flows.pipeline.publish.eee.describe import texts
from flows.pipeline.publish.graded_results import GradedResults
from flows.pipeline.results.graded import Graded, scored
from flows.schema.scenario import Item, Scenario
from flows.schema.verdict import Verdict


def rows(
    loaded: GradedResults, entry: Graded, results: set[str]
) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield `brief` or `item` with its row; None where there is no score or verdict."""
    scores = scored(entry, loaded.scenarios, loaded.settings.scoring).by_brief
    for brief in entry.whole_briefs:
        place = (brief["scenario_id"], brief["seed"])
        found, scenario = scores.get(place), loaded.scenarios.get(place[0])
        if found is None or found.score is None or brief["text"] is None or "score" not in results:
            yield "brief", None
            continue
        details = {"words": brief["words_kept"], "words_before_the_cut": brief["words_raw"]}
        row: dict[str, Any] = {
            **_sample(entry, "score", place, scenario.assignment if scenario else "", []),
            **_output(entry, place, scenario, brief["text"]),
            "answer_attribution": [],
            "evaluation": {"score": found.score, "is_correct": found.correct == 1.0},
            "metadata": texts({**details, "cut": brief["cut"], "detail": brief["detail"]}),
        }
        yield "brief", row
    items = {(name, item.item_id): item for name, one in loaded.scenarios.items() for item in one.items}
    for verdict in entry.verdicts:
        if verdict.passed is None or "correct" not in results:
            yield "item", None
        else:
            item = items.get((verdict.scenario_id, verdict.item_id))
            yield "item", _verdict(entry, verdict, item)


def _verdict(entry: Graded, verdict: Verdict, item: Item | None) -> dict[str, Any]:
    place = (verdict.scenario_id, verdict.seed)
    reference = [text for text in (item.ground_truth, item.pass_condition) if text] if item else []
    sample = _sample(entry, "correct", place, item.requirement if item else "", reference)
    about = {name: getattr(item, name, None) for name in ("step", "tier", "severity")}
    return {
        **sample,
        "sample_id": f"{sample['sample_id']}/{verdict.item_id}",
        "interaction_type": "single_turn",
        "output": {"raw": []},  # the brief's own row has the text
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw of the brief's row",
                "extracted_value": verdict.reason or ("passed" if verdict.passed else "failed"),
                "extraction_method": "rule" if entry.about["judge"]["is_stand_in"] else "llm_judge",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": float(verdict.passed or 0), "is_correct": verdict.passed},
        "metadata": texts(
            {
                "brief": f"{place[0]}/{place[1]}",
                **about,
                "wrong_move": item.is_error if item else None,
                "failure_mode": verdict.mode.value if verdict.mode else None,
            }
        ),
    }


def _sample(
    entry: Graded, result: str, place: tuple[str, int], raw: str, reference: Sequence[str]
) -> dict[str, Any]:
    benchmark = entry.about["condition"]["benchmark"]
    return {
        "evaluation_name": benchmark if result == "score" else f"{benchmark}: {result}",
        "evaluation_result_id": result,
        "sample_id": f"{place[0]}/{place[1]}",
        "sample_hash": sha256_text(raw + "".join(reference)),
        "input": {"raw": raw, "reference": list(reference)},
    }


def _output(entry: Graded, place: tuple[str, int], scenario: Scenario | None, text: str) -> dict[str, Any]:
    """Return a brief as one turn; a report as the first and last message of its loop, with its calls."""
    if not (entry.has_attempts or entry.is_foreign):
        return {"interaction_type": "single_turn", "output": {"raw": [text]}}
    facts = entry.reports.get(place)
    turns = [("user", scenario.assignment if scenario else ""), ("assistant", text)]
    return {
        "interaction_type": "agentic",
        "output": None,
        "messages": [{"turn_idx": n, "role": role, "content": said} for n, (role, said) in enumerate(turns)],
        **({"token_usage": None} if facts is None else {}),
    }
