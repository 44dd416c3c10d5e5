"""The tables of a paper: each a pure function of the results."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps

from flows.stages.paper.results import Results
from flows.stages.paper.table import Table
from flows.stages.paper.tables import (
    ablations,
    calibration,
    comparisons,
    experts,
    failing,
    items,
    judges,
    main,
    reports,
    spread,
)

_MAKERS: Mapping[str, Callable[[Results], Table]] = {
    "table-01-judge-agreement": judges.judge_agreement,
    "table-02-experts": experts.experts,
    "table-03-corpus": main.corpus,
    "table-04-main-results": main.main_results,
    "table-05-generation": main.generation,
    "table-10-word-cap": ablations.cap,
    "table-11-judges-against-experts": experts.candidate_judges,
    "table-12-scores-by-judge": judges.scores_by_judge,
    "figure-03-tiers": failing.tier_rates,
    "figure-07-effort": ablations.effort,
    "appendix-d-weighted-unweighted": main.weighted_unweighted,
    "appendix-g-steps": failing.step_rates,
    "appendix-h-failure-modes": failing.failure_modes,
    "appendix-j-length": ablations.length,
    "appendix-k-test-retest": judges.retest,
    "missing-credit": failing.missing_credit,
    "missing-credit-by-model": failing.missing_credit_by_model,
    "items": items.items,
    "scenarios": spread.scenarios,
    "variance": spread.variance,
    "comparisons": comparisons.comparisons,
    "groups": comparisons.groups,
    "weights-grid": comparisons.weights_grid,
    "refusals": main.refusals,
    "judge-agreement-by-class": judges.judge_agreement_by_group,
    "self-preference": judges.self_preference,
    "alternative-annotator": calibration.alternative_annotators,
    "judge-errors": calibration.judge_errors,
    "corrected-scores": calibration.corrected_scores,
    "reports-by-model": reports.by_model,
    "reports-by-task": reports.by_task,
    "reports-by-family": reports.by_family,
    "reports-missed-criteria": reports.missed,
}


def _in_terms(make: Callable[[Results], Table]) -> Callable[[Results], Table]:
    """Return the function with title, heads and notes in the words of scenarios or of report tasks."""

    @wraps(make)
    def made(results: Results) -> Table:
        table, said = make(results), results.said
        columns = [
            replace(one, head=said("seeds" if one.head == "briefs" and len(results.tasks) else one.head))
            for one in table.columns
        ]
        return replace(table, title=said(table.title), columns=columns, notes=[*map(said, table.notes)])

    return made


TABLES: Mapping[str, Callable[[Results], Table]] = {name: _in_terms(make) for name, make in _MAKERS.items()}
"""By the name of their files. Numbers and letters are those of MA-Bench's paper; the others it lacks."""

LABEL_TABLES = (
    "table-02-experts",
    "table-11-judges-against-experts",
    "alternative-annotator",
    "judge-errors",
    "corrected-scores",
)
"""The tables that take experts' labels, in the order in which they are read."""
