"""`staffbench export --to model-card`: for each model what Hugging Face's hub and its model's card take.

`model-index.yaml` is for the front matter of a card, `.eval_results/` is the form that replaces it,
`section.md` is for a card's text, and `citation.bib` has what to cite.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from flows.common.digests import canonical_json, sha256_text
from flows.common.text import plural
from flows.common.version import __version__
from flows.pipeline.publish.export import Publication
from flows.pipeline.publish.graded_results import GradedResults, Texts, texts_exporter
from flows.pipeline.results.settings_file import as_yaml
from flows.pipeline.work.digests import rubric_digests
from flows.schema.condition import file_name
from flows.schema.leaderboard import LeaderboardRow
from flows.schema.settings import ProtocolName
from flows.stages.notes import notes
from flows.stages.table import to_markdown

_ON_HUB = re.compile(r"https://huggingface\.co/datasets/([\w.-]+/[\w.-]+)/?")
_METRICS = {
    "score": "Severity-weighted score",
    "correct": "Share of graded items passed",
    "passed": "Share of graded requirements met",
    "wrong": "Wrong moves in a brief",
}
_PAPERS = {
    ProtocolName.ma_bench: """@article{lafuentemercado2026mabench,
  title  = {{MA-Bench}: Measuring Operational Planning in Language Models},
  author = {Lafuente-Mercado, Rodney and Sincero, Robert and Sage, Phil and Xue, Yuan},
  year   = {2026},
  eprint = {2610.19138},
  archivePrefix = {arXiv}
}
""",
    ProtocolName.mission_report: """@misc{micro12026missionreport,
  title  = {{MissionReport}: Evaluating {AI} Judgment in Government Reporting},
  author = {{micro1}},
  year   = {2026}
}
""",
}


def _texts(loaded: GradedResults, publication: Publication) -> Texts:
    """Return a folder for each model."""
    files: dict[str, str] = {}
    hub = _ON_HUB.fullmatch(publication.url or "")
    rows: dict[str, list[LeaderboardRow]] = {}
    for row in loaded.board.rows:
        rows.setdefault(row.model, []).append(row)
    for model, own in rows.items():
        place = file_name([model])
        files[f"{place}/section.md"] = _section(loaded, model, own)
        files[f"{place}/citation.bib"] = _citations(loaded, publication)
        if any(row.score is not None for row in own):
            files[f"{place}/model-index.yaml"] = _model_index(loaded, model, own, publication)
        for row in own if hub else ():
            if row.score is not None:
                name = file_name([loaded.settings.benchmark.name, row.condition, row.judge_id])
                files[f"{place}/.eval_results/{name}.yaml"] = _eval_result(loaded, row, hub[1], publication)  # type: ignore[index]
    listed = [f"- `{file_name([model])}/`: {model}, {plural(len(own), 'row')}" for model, own in rows.items()]
    files["README.md"] = "\n".join([f"# {loaded.settings.benchmark.name}: for model cards", "", *listed, ""])
    no_hub = (
        "No .eval_results/: the hub wants a benchmark that is there. "
        "--url https://huggingface.co/datasets/OWNER/NAME would name it."
    )
    return Texts(files, ", ".join(file_name([model]) for model in rows), () if hub else (no_hub,))


export = texts_exporter("model-card", _texts)


def _section(loaded: GradedResults, model: str, rows: Sequence[LeaderboardRow]) -> str:
    judges = {row.judge_id for row in rows}
    others = {row.condition for row in loaded.board.rows} - {row.condition for row in rows}
    own = replace(
        loaded.board,
        rows=tuple(rows),
        judges=tuple(note for note in loaded.board.judges if note.judge_id in judges),
        differences=tuple(
            text for text in loaded.board.differences if not any(one in text for one in others)
        ),
        model_notes=tuple(note for note in loaded.board.model_notes if note[0] in (model, *judges)),
    )
    table = to_markdown(own, notes(own)).rstrip()
    measured = f"Measured with staffbench {__version__}; data {_version(loaded)}."
    return f"#{table}\n\n{measured}\n"  # its heading is one of a section


def _version(loaded: GradedResults) -> str:
    """Return the first digits of a digest of all rubrics."""
    return sha256_text(canonical_json(dict(rubric_digests(list(loaded.scenarios.values())))))[:12]


def _details(row: LeaderboardRow, metric: str = "score") -> str:
    interval = f"interval {row.interval_text}; " if metric == "score" else ""
    cap = "no cap" if row.word_cap is None else f"cap {row.word_cap}"
    return (
        f"effort {row.effort}, {cap}, prompt {row.prompt}, harness {row.harness}, judge {row.judge_id}; "
        f"{interval}{row.briefs_text} scored, {row.n_ungraded} items without a verdict"
    )


def _model_index(
    loaded: GradedResults, model: str, rows: Sequence[LeaderboardRow], publication: Publication
) -> str:
    from huggingface_hub import EvalResult
    from huggingface_hub.repocard_data import eval_results_to_model_index

    name, hub = loaded.settings.benchmark.name, _ON_HUB.fullmatch(publication.url or "")
    found = [
        EvalResult(
            task_type="text-generation",
            task_name=loaded.settings.benchmark.protocol.value,
            dataset_type=hub[1] if hub else name,
            dataset_name=name,
            dataset_config=f"{row.condition}, judge {row.judge_id}",
            dataset_args={"data": _version(loaded)},
            metric_type=metric,
            metric_name=shown,
            metric_value=value,
            metric_config=_details(row, metric),
            source_name=f"staffbench {__version__}" if publication.url else None,
            source_url=publication.url,
        )
        for row in rows
        for metric, shown in _METRICS.items()
        if (value := getattr(row, metric)) is not None
    ]
    index: Any = eval_results_to_model_index(model, found)
    return as_yaml({"model-index": index})


def _eval_result(loaded: GradedResults, row: LeaderboardRow, dataset: str, publication: Publication) -> str:
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    entry = EvalResultEntry(
        dataset_id=dataset,
        task_id=loaded.settings.benchmark.name,
        value=row.score,
        source_url=publication.url,
        source_name=f"staffbench {__version__}",
        notes=_details(row),
    )
    return as_yaml(eval_result_entries_to_yaml([entry]))


def _citations(loaded: GradedResults, publication: Publication) -> str:
    """Return BibTeX of the protocol, the program, and the data as it was."""
    name = loaded.settings.benchmark.name
    licences = ", ".join(sorted({one.licence or "not stated" for one in loaded.scenarios.values()}))
    where = f"  url    = {{{publication.url}}},\n" if publication.url else ""
    author = f"  author = {{{{{publication.creator}}}}},\n" if publication.creator else ""
    return f"""{_PAPERS[loaded.settings.benchmark.protocol]}
@software{{staffbench,
  title   = {{staffbench}},
  author  = {{{{The staffbench developers}}}},
  version = {{{__version__}}}
}}

@misc{{{re.sub("[^A-Za-z0-9]", "", name)}data,
  title  = {{{name}: {plural(len(loaded.scenarios), "scenario")}}},
{author}{where}  note   = {{data {_version(loaded)}, licence {licences}}}
}}
"""
