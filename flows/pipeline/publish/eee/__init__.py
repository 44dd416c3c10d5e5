"""`staffbench export --to every-eval-ever`: records for the Every Eval Ever datastore, schema 0.3.0.

One aggregate record a condition and judge, and beside it one row a brief and one a verdict. Values that are
not known are left out, as are briefs and items without a verdict: the schema has no missing score.
"""

import json
import re
import time
import uuid
from collections.abc import Mapping
from typing import Any

from flows.common.digests import canonical_json, sha256_text
from flows.common.text import plural
from flows.common.version import __version__
from flows.pipeline.publish.eee.describe import UNSTATED, model_info, texts
from flows.pipeline.publish.eee.results import results as results_of
from flows.pipeline.publish.eee.samples import rows as rows_of
from flows.pipeline.publish.export import Publication
from flows.pipeline.publish.graded_results import GradedResults, Texts, texts_exporter
from flows.pipeline.results.graded import Graded
from flows.stages.notes import notes

SCHEMA_VERSION = "0.3.0"
_ABOUT = """Check them with `every_eval_ever validate 'data/*/*/*/*.json*'` (package `every-eval-ever`, Python 3.12).

A row of `_samples.jsonl` is a brief (result `score`; correct if every item passed) or a verdict (result `correct`),
which names its brief in `metadata`. The packet of documents is no part of a row. Briefs without a score and items
without a verdict have no row; they are counted here and in the record."""  # noqa: E501 -- Markdown
_NOT_IN_PATHS = re.compile(r'[<>:"\\|?*/\x00-\x1f]')


def _texts(loaded: GradedResults, publication: Publication) -> Texts:
    """Return a record for every graded condition."""
    files: dict[str, str] = {}
    lines: list[str] = []
    stamp = str(int(time.time()))
    for entry in loaded.graded:
        place, record, samples, left_out = _record(loaded, entry, publication, stamp)
        files[f"{place}.json"] = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        if samples:
            files[f"{place}_samples.jsonl"] = samples
        lines.append(f"- `{place}.json`: {entry.condition}, judge {entry.judge}{left_out}")
    title = f"# {loaded.settings.benchmark.name}: records for Every Eval Ever, schema {SCHEMA_VERSION}"
    ours = [f"- {note}" for note in notes(loaded.board)]
    files["README.md"] = "\n".join([title, "", _ABOUT, "", *lines, "", *ours, ""])
    more: list[str] = []
    if any(f"/{UNSTATED}/" in name for name in files):
        more.append(
            f"Models whose name does not say who made them are below {UNSTATED}/: name one DEVELOPER/NAME."
        )
    if publication.creator is None:
        more.append("The records do not say who ran the evaluation: --creator would.")
    return Texts(files, f"{plural(len(loaded.graded), 'record')}, Every Eval Ever {SCHEMA_VERSION}", more)


export = texts_exporter("every-eval-ever", _texts)


def _record(
    loaded: GradedResults, entry: Graded, publication: Publication, stamp: str
) -> tuple[str, dict[str, Any], str, str]:
    """Return the place of the files, the record, the rows as JSON lines, and in words what has no row."""
    settings: Mapping[str, Any] = (entry.settings or {}).get("settings", {})
    condition = entry.about["condition"]
    model = model_info(settings.get("model", {}), condition["model"], effort=condition["effort"])
    name = f"{condition['benchmark']}_{entry.condition}_{entry.judge}"
    evaluation_id = f"{name}/{model['id']}/{stamp}"
    results = results_of(loaded, entry, settings, evaluation_id, publication)
    ids = {one["evaluation_result_id"].rpartition("#")[2] for one in results}
    rows: list[str] = []
    n_without = {"brief": 0, "item": 0}
    for kind, row in rows_of(loaded, entry, ids):
        if row is None:
            n_without[kind] += 1
            continue
        head = {"schema_version": SCHEMA_VERSION, "evaluation_id": evaluation_id, "model_id": model["id"]}
        row["evaluation_result_id"] = f"{evaluation_id}#{row['evaluation_result_id']}"
        rows.append(json.dumps({**head, **row}, ensure_ascii=False, allow_nan=False))
    left_out = ", ".join(plural(n, kind) for kind, n in n_without.items() if n)
    record: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation_id,
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": f"staffbench results of {condition['benchmark']}",
            "source_type": "evaluation_run",
            "source_organization_name": publication.creator or "not stated",
            "evaluator_relationship": "third_party" if publication.creator else "other",
            **({"source_organization_url": publication.url} if publication.url else {}),
        },
        "eval_library": {
            "name": "staffbench",
            "version": __version__,
            "additional_details": {"scoring": loaded.settings.scoring.name, "harness": condition["harness"]},
        },
        "model_info": model,
        "evaluation_results": results,
    }
    place, samples = _place(loaded, model, entry), "".join(f"{row}\n" for row in rows)
    if rows:
        record["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{place}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": sha256_text(samples),
            "total_rows": len(rows),
            "additional_details": texts(
                {f"n_{kind}s_without_a_row": n for kind, n in n_without.items()}
                | {"without_a_row": "refused, failed or not graded; missing is never scored"}
            ),
        }
    return place, record, samples, f"; without a row: {left_out}" if left_out else ""


def _place(loaded: GradedResults, model: Mapping[str, Any], entry: Graded) -> str:
    """Return the path in the datastore, without a suffix; the same results have the same name."""
    developer, _, name = model["id"].partition("/")
    verdicts = [[v.scenario_id, v.seed, v.item_id, v.passed] for v in entry.verdicts]
    digests = [entry.about[each]["digest"] for each in ("condition", "judge")]
    found = [*digests, sha256_text(canonical_json(verdicts))]
    file = uuid.UUID(sha256_text(canonical_json(found))[:32], version=4)
    parts = (loaded.settings.benchmark.name, developer, name)
    return "/".join(["data", *(_NOT_IN_PATHS.sub("_", part) for part in parts), str(file)])
