"""The table that is published: one row per condition and judge, and what must be said under it."""

from __future__ import annotations

from dataclasses import dataclass

from flows.schema.verdict import Agreement, SelfAgreement


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One condition under one judge. What is unknown is None; counts stand beside every mean.

    Attributes:
        model, effort, word_cap, prompt, harness: the condition; no cap is None.
        judge: who graded.
        score: severity-weighted, unclamped; seeds averaged within scenarios, then scenarios.
        ci_low, ci_high, ci_level, ci_method: its interval; None below two scenarios.
        score_low, score_high: the score if everything ungraded had failed, or passed.
        score_clamped: as `score`, each brief clamped to [0, 1].
        correct: share of all items passed.
        passed: share of positive items passed.
        wrong: wrong moves in a brief, on average.
        n_scenarios, n_scenarios_all: scenarios scored, and asked for.
        n_briefs, n_briefs_all: briefs scored, and asked for.
        n_ungraded: items without a verdict.
        n_refused, n_error, n_empty: briefs that were refused, that failed, and that are empty.
        n_cut, n_cut_by_provider: briefs cut at the word cap, and at the provider's output limit.
        n_hidden: briefs that held characters a reader does not see; a judge behind an endpoint is
            shown the text without them.
        n_noticed: briefs of whose file the reader left something out, such as hidden text.
        words_raw, words_kept: mean words of a brief before and after the cut.
        self_judged: True where the judge is the writer.
        condition: name of its files.
        judge_id: name of the judge's files.
        condition_digest, judge_digest: what the names stand for.
        n_over_limit: reports that are over their task's limit of words or of pages, as far as these
            were measured; None where nothing has such a limit.
        n_unmeasured: reports with a limit that was not measured; None where no report has one.
        n_missing, n_corrupt: attempts without a report, and with one that does not open: they score 0.
        ci_unlike: where the interval has no width, since all scenarios scored alike: the most of all
            scenarios, as a share, that may score otherwise, at `ci_level`; else None.
        n_at_limit: attempts that ended at a limit of the harness; what lay there was judged.
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


@dataclass(frozen=True, slots=True)
class JudgeNote:
    """What a reader of the table must know about a judge.

    Attributes:
        judge_id: as in the rows.
        is_stand_in: True for the offline judge.
        agreements: how far it agreed with labels; empty where nobody measured it.
        members: names of the files of a panel's members; empty for any other judge.
        n_canary_missed: replies that were rejected for a canary item; None where none was mixed in.
        self_agreement: how far its repeats agree; None where it was asked once.
    """

    judge_id: str
    is_stand_in: bool
    agreements: tuple[Agreement, ...]
    members: tuple[str, ...] = ()
    n_canary_missed: int | None = None
    self_agreement: SelfAgreement | None = None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The rows and what must be said under them.

    Attributes:
        benchmark: its name.
        scoring: name of the weights.
        rows: best first; without a score last.
        judges: one note for each judge of the rows.
        assumptions: defaults of ours that the numbers rest on.
        model_notes: label and note of every writer and judge of the rows that has a note.
        differences: in what rows differ that no column shows, a sentence each, naming the rows.
        left_out: results that could not be relied on, and why; files by their place below the
            benchmark's results.
    """

    benchmark: str
    scoring: str
    rows: tuple[LeaderboardRow, ...]
    judges: tuple[JudgeNote, ...]
    assumptions: tuple[str, ...]
    model_notes: tuple[tuple[str, str], ...] = ()
    differences: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
