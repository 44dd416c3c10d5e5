"""The published table: one row per condition and judge, with its notes."""

from __future__ import annotations

from dataclasses import dataclass

from flows.schema.verdict import Agreement, SelfAgreement


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One condition under one judge. Unknown values are None; every mean has its counts.

    Attributes:
        model, effort, word_cap, prompt, harness: the condition; no cap is None.
        judge: the judge's label.
        score: severity-weighted, unclamped; mean of seeds within scenarios, then of scenarios.
        ci_low, ci_high, ci_level, ci_method: its interval; None below two scenarios.
        score_low, score_high: the score if everything ungraded had failed, or passed.
        score_clamped: as `score`, each brief clamped to [0, 1].
        correct: share of all items passed.
        passed: share of positive items passed.
        wrong: mean number of wrong moves in a brief.
        n_scenarios, n_scenarios_all: scenarios scored, and asked for.
        n_briefs, n_briefs_all: briefs scored, and asked for.
        n_ungraded: items without a verdict.
        n_refused, n_error, n_empty: numbers of refused, failed and empty briefs.
        n_cut, n_cut_by_provider: briefs cut at the word cap, and at the provider's output limit.
        n_hidden: briefs with invisible characters, which a remote judge does not get.
        n_noticed: briefs from a file of which the reader left something out, such as hidden text.
        words_raw, words_kept: mean word counts before and after the cut.
        self_judged: True if the judge is also the writer.
        condition: label, the base name of its files.
        judge_id: label, the base name of the judge's files.
        condition_digest, judge_digest: digests of their settings.
        n_over_limit: reports measured to be over their task's word or page limit; None if no task has
            one.
        n_unmeasured: reports whose length was not measured against a limit; None if no task has one.
        n_missing, n_corrupt: attempts with no report, or one that can't be opened: they score 0.
        ci_unlike: if the interval has no width because all scenarios score alike, the upper bound at
            `ci_level` on the share of scenarios that may score differently; else None.
        judge_call: the form of the judge's calls on a report: `agent`, `single_call`, for a panel all of its
            members'; None where there is one form, or no call.
        n_all_met: reports that meet every requirement and commit no error; None for briefs.
        n_at_limit: attempts that ended at a harness limit and were judged as they were then.
    """

    model: str
    effort: str
    word_cap: int | None
    prompt: str
    harness: str
    judge: str
    score: float | None
    ci_low: float | None
    ci_high: float | None
    ci_level: float | None
    ci_method: str | None
    score_low: float | None
    score_high: float | None
    score_clamped: float | None
    correct: float | None
    passed: float | None
    wrong: float | None
    n_scenarios: int
    n_scenarios_all: int
    n_briefs: int
    n_briefs_all: int
    n_ungraded: int
    n_refused: int
    n_error: int
    n_empty: int
    n_cut: int
    n_cut_by_provider: int
    n_hidden: int
    n_noticed: int
    words_raw: float | None
    words_kept: float | None
    self_judged: bool
    condition: str
    judge_id: str
    condition_digest: str
    judge_digest: str
    n_over_limit: int | None = None
    n_unmeasured: int | None = None
    n_missing: int = 0
    n_corrupt: int = 0
    n_at_limit: int = 0
    ci_unlike: float | None = None
    judge_call: str | None = None
    n_all_met: int | None = None


@dataclass(frozen=True, slots=True)
class JudgeNote:
    """A note on a judge for readers of the table.

    Attributes:
        judge_id: as in the rows.
        is_stand_in: True for the offline judge.
        agreements: its agreement with labels; empty if not measured.
        members: labels of a panel's members; empty for other judges.
        n_canary_missed: replies rejected because of a canary item; None without canaries.
        self_agreement: agreement among its repeats; None if asked once.
    """

    judge_id: str
    is_stand_in: bool
    agreements: tuple[Agreement, ...]
    members: tuple[str, ...] = ()
    n_canary_missed: int | None = None
    self_agreement: SelfAgreement | None = None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The rows and their notes.

    Attributes:
        benchmark: its name.
        scoring: name of the weights.
        rows: best first; rows without a score last.
        judges: one note per judge.
        assumptions: our own defaults that the numbers depend on.
        model_notes: label and note of every writer and judge with a note.
        differences: how rows differ beyond the columns, one sentence each.
        left_out: unreliable results and why; files by their path within the benchmark's results.
    """

    benchmark: str
    scoring: str
    rows: tuple[LeaderboardRow, ...]
    judges: tuple[JudgeNote, ...]
    assumptions: tuple[str, ...]
    model_notes: tuple[tuple[str, str], ...] = ()
    differences: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
