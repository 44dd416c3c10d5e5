"""Briefs as traces: the verdicts are assessments, and those of people can be read back."""

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

from mlflow.entities import (
    Assessment,
    AssessmentError,
    AssessmentSource,
    Feedback,
    TraceInfo,
    TraceLocation,
    TraceState,
)
from mlflow.entities.span import Span

from flows.adapters.tracking import BriefTrace, HumanLabel, RunRecord
from flows.adapters.tracking.store import Opened
from flows.common.digests import canonical_json, sha256_text

_PREVIEW = 1_000
_PAGE = 500
_RUN = "mlflow.sourceRun"
_SUPERSEDED = "staffbench.superseded"
_YES_NO = {True: True, False: False, "yes": True, "no": False, "pass": True, "fail": False}


def log_traces(opened: Opened, run_id: str, model_id: str | None, record: RunRecord) -> int:
    """Log the traces that the run lacks, and remove those of earlier results.

    A trace of an earlier result on which a person said something stays, marked as superseded. After the
    record's seconds the rest of its briefs is left out.

    Returns:
        The number of traces that the run has.
    """
    client, experiment_id = opened.client, opened.experiment_id
    store = client._tracing_client.store  # noqa: SLF001 -- the public calls need a run of the traced program
    wanted = {_trace_id(run_id, one): one for one in record.traces}
    there = {trace.info.trace_id: trace.info for trace in _traces(opened, run_id)}
    for trace_id, info in there.items():
        if trace_id in wanted:
            continue
        if any(assessment.source.source_type == "HUMAN" for assessment in info.assessments):
            client.set_trace_tag(trace_id, _SUPERSEDED, "true")
        else:
            client.delete_traces(experiment_id, trace_ids=[trace_id])
    n, until = 0, time.monotonic() + record.traces_s
    location = TraceLocation.from_experiment_id(experiment_id)
    metadata = {_RUN: run_id, **({"mlflow.modelId": model_id} if model_id else {})}
    for trace_id, brief in wanted.items():
        if trace_id not in there:
            if time.monotonic() > until:
                continue
            info = _info(location, trace_id, brief, record, metadata)
            store.start_trace(info)
            store.log_spans(experiment_id, [_span(trace_id, info.request_time, brief)])
        n += 1
    return n


def _trace_id(run_id: str, brief: BriefTrace) -> str:
    """Equal for equal texts and verdicts of the same run, so that nothing is logged twice."""
    return "tr-" + sha256_text(canonical_json([run_id, vars(brief)]))[:32]


def _info(
    location: TraceLocation, trace_id: str, brief: BriefTrace, record: RunRecord, metadata: dict[str, str]
) -> TraceInfo:
    now = int(time.time() * 1000)
    label, is_model = record.judge
    source = AssessmentSource("LLM_JUDGE" if is_model else "CODE", label)
    times: dict[str, Any] = {"trace_id": trace_id, "create_time_ms": now, "last_update_time_ms": now}
    assessments: list[Assessment] = [
        Feedback(
            name=name,
            value=passed,
            error=None if passed is not None else AssessmentError(status.upper(), rationale[:_PREVIEW]),
            rationale=f"{item_id}: {rationale}",
            source=source,
            metadata={"item_id": item_id, "mlflow.assessment.sourceRunId": metadata[_RUN]},
            **times,
        )
        for item_id, name, passed, rationale, status in brief.verdicts
    ]
    if brief.score is not None:
        own = AssessmentSource("CODE", f"staffbench, scoring {record.params.get('scoring', '')}")
        assessments.append(Feedback(name="score", value=brief.score, source=own, **times))
    tags = {
        "mlflow.traceName": f"{brief.scenario_id}/{brief.seed}",
        "benchmark": record.params.get("benchmark", ""),
        "condition": record.tags.get("condition", ""),
        "judge": label,
        "scenario_id": brief.scenario_id,
        "seed": str(brief.seed),
    }
    return TraceInfo(
        trace_id=trace_id,
        trace_location=location,
        request_time=now,
        execution_duration=None,
        state=TraceState.OK if brief.text is not None else TraceState.ERROR,
        request_preview=brief.request[:_PREVIEW],
        response_preview=(brief.text if brief.text is not None else brief.problem)[:_PREVIEW],
        trace_metadata=metadata,
        tags=tags,
        assessments=assessments,
    )


def _span(trace_id: str, start_ms: int, brief: BriefTrace) -> Span:
    digits = trace_id.removeprefix("tr-")
    output = brief.text if brief.text is not None else {"no text": brief.problem}
    request = {"scenario": brief.scenario_id, "seed": brief.seed, "assignment": brief.request}
    return Span.from_dict(
        {
            "trace_id": base64.b64encode(bytes.fromhex(digits)).decode(),
            "span_id": base64.b64encode(bytes.fromhex(digits[:16])).decode(),
            "parent_span_id": None,
            "name": f"{brief.scenario_id}/{brief.seed}",
            "start_time_unix_nano": start_ms * 1_000_000,
            "end_time_unix_nano": start_ms * 1_000_000,
            "status": {
                "code": "STATUS_CODE_OK" if brief.text is not None else "STATUS_CODE_ERROR",
                "message": "" if brief.text is not None else brief.problem,
            },
            "events": [],
            "attributes": {
                "mlflow.traceRequestId": json.dumps(trace_id),
                "mlflow.spanInputs": json.dumps(request),
                "mlflow.spanOutputs": json.dumps(output),
                "mlflow.spanType": json.dumps("AGENT"),
            },
        }
    )


def _traces(opened: Opened, run_id: str | None = None) -> Iterator[Any]:
    token: str | None = None
    while True:
        found = opened.client.search_traces(
            locations=[opened.experiment_id],
            filter_string=f"metadata.`{_RUN}` = '{run_id}'" if run_id else None,
            max_results=_PAGE,
            page_token=token,
            include_spans=False,
        )
        yield from found
        token = found.token
        if not token:
            return


def human_labels(opened: Opened, benchmark: str) -> tuple[list[HumanLabel], list[str]]:
    """Return what people said of items, and notes on what was left out.

    A person edits a verdict on the page, or adds a feedback with the item's id as its name: any name that is
    not that of an edited verdict is taken for one.
    """
    found: dict[tuple[str, str, str, int, str], tuple[int, bool]] = {}
    skipped = {"superseded": 0, "unreadable": 0}
    for trace in _traces(opened):
        tags = trace.info.tags
        if tags.get("benchmark") != benchmark or "seed" not in tags:
            continue
        own = {one.assessment_id: one for one in trace.info.assessments}
        for one in own.values():
            if one.source.source_type != "HUMAN" or one.valid is False:
                continue
            if _SUPERSEDED in tags:
                skipped["superseded"] += 1
                continue
            edited = own.get(one.overrides or "")
            known: dict[str, str] = (edited.metadata if edited else one.metadata) or {}
            item_id = str(known.get("item_id", one.name))
            value = one.value.strip().lower() if isinstance(one.value, str) else one.value
            if not isinstance(value, bool | str) or value not in _YES_NO:
                skipped["unreadable"] += 1
                continue
            rater, brief = one.source.source_id or "expert", (tags["scenario_id"], int(tags["seed"]))
            place = (rater, tags["condition"], *brief, item_id)
            changed = one.last_update_time_ms or one.create_time_ms or 0
            if place not in found or found[place][0] <= changed:
                found[place] = changed, _YES_NO[value]
    notes = {
        "superseded": "the brief or its verdicts have changed since",
        "unreadable": "they say neither pass nor fail",
    }
    labels = [HumanLabel(*place, passed) for place, (_, passed) in sorted(found.items())]
    return labels, [f"assessments left out because {notes[kind]}: {n}" for kind, n in skipped.items() if n]
