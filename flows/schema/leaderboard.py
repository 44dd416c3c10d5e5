"""The published table: one row per condition and judge, with its notes."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from flows.common.text import count_of, in_task_terms, number, plural
from flows.schema.settings import ScoringSettings
from flows.schema.verdict import Agreement, Interval, PlaceEffect, SelfAgreement
from flows.schema.words import Harness


def ranked_coverage(covered: Iterable[frozenset[str]]) -> frozenset[str] | None:
    """Return the scenarios on which rows are ranked, by those that each row covers whole; None without any.

    They are the most that a row covers; among equally many, those that most rows have, then those with the
    first names.
    """
    counts = Counter(filter(None, covered))
    return min(counts, key=lambda names: (-len(names), -counts[names], sorted(names)), default=None)


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One condition under one judge. Unknown values are None; every mean has its counts."""

    # model, effort, word_cap, prompt, harness: the condition; no cap is None.
    model: str
    effort: str
    word_cap: int | None
    prompt: str
    harness: str
    judge: str  # the judge's label
    # Severity-weighted, unclamped; mean of seeds within scenarios, then of scenarios; None if too few briefs
    # have one.
    score: float | None
    # ci_low, ci_high, ci_level, ci_method: its interval; of few scenarios the range, without a level; None
    # below two.
    ci_low: float | None
    ci_high: float | None
    ci_level: float | None
    ci_method: str | None
    # score_low, score_high: the score if every missing verdict were a fail, or a pass.
    score_low: float | None
    score_high: float | None
    score_clamped: float | None  # as `score`, each brief clamped to [0, 1]
    correct: float | None  # share of graded items passed
    passed: float | None  # share of graded requirements passed
    wrong: float | None  # mean number of wrong moves in a brief, over scenarios of which some were graded
    # n_scenarios, n_scenarios_all: scenarios scored, and asked for.
    n_scenarios: int
    n_scenarios_all: int
    # n_briefs, n_briefs_all: briefs scored, and asked for.
    n_briefs: int
    n_briefs_all: int
    n_ungraded: int  # items without a verdict, beside those that the judge does not grade by its rules
    # n_refused, n_error, n_empty: numbers of refused, failed and empty briefs.
    n_refused: int
    n_error: int
    n_empty: int
    # n_cut, n_cut_by_provider: briefs cut at the word cap, and at the provider's output limit.
    n_cut: int
    n_cut_by_provider: int
    n_hidden: int  # briefs with invisible characters, which a remote judge does not get
    n_noticed: int  # briefs from a file of which the reader left something out, such as hidden text
    # words_raw, words_kept: mean word counts before and after the cut.
    words_raw: float | None
    words_kept: float | None
    self_judged: bool  # True if the judge is also the writer
    condition: str  # label, the base name of its files
    judge_id: str  # label, the base name of the judge's files
    # condition_digest, judge_digest: digests of their settings.
    condition_digest: str
    judge_digest: str
    # Reports measured to be over their task's word or page limit; None if no task has one.
    n_over_limit: int | None = None
    # Reports whose length was not measured against a limit; None if no task has one.
    n_unmeasured: int | None = None
    # n_missing, n_corrupt: attempts with no report, or one that can't be opened: they score 0.
    n_missing: int = 0
    n_corrupt: int = 0
    n_at_limit: int = 0  # attempts that ended at a harness limit and were judged as they were then
    # If the interval has no width because all scenarios score alike, the upper bound at `ci_level` on the
    # share of scenarios that may score differently; else None.
    ci_unlike: float | None = None
    # The form of the judge's calls on a report: `agent`, `single_call`, for a panel all of its members'; None
    # where there is one form, or no call.
    judge_call: str | None = None
    n_all_met: int | None = None  # reports that meet every requirement and commit no error; None for briefs
    # Settings in which it differs from other rows, as keys and values.
    differs: tuple[tuple[str, str], ...] = ()
    # calls, tokens_in, tokens_out, usd, seconds: what the writer's stored replies cost, whenever they were
    # paid for; None if unknown.
    calls: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    usd: float | None = None
    seconds: float | None = None
    # judge_calls, judge_tokens_in, judge_tokens_out, judge_usd, judge_seconds: the same of the judge.
    judge_calls: int | None = None
    judge_tokens_in: int | None = None
    judge_tokens_out: int | None = None
    judge_usd: float | None = None
    judge_seconds: float | None = None
    # Place by score among the judge's rows with the same coverage; equal scores share a place. None if the
    # row's coverage differs from that of the ranking, or it has no score.
    rank: int | None = None
    n_partial: int = 0  # briefs scored by some of their items, since verdicts are missing
    # Different texts, where no model wrote them and seeds repeat a text; else None.
    n_texts: int | None = None
    correct_empty: float | None = None  # `correct` of empty briefs on the same items; None if unknown
    # True for text copied from the packet that the offline judge scored, which takes copied sentences for
    # statements.
    copied: bool = False

    @property
    def is_of_reports(self) -> bool:
        """True if our loop wrote it, its task has a limit of length, or a readable report is missing."""
        measured = self.n_over_limit is not None or self.n_unmeasured is not None
        return self.harness == Harness.native or measured or self.n_missing > 0 or self.n_corrupt > 0

    @property
    def is_whole(self) -> bool:
        """True if every brief that was asked for has a score."""
        return self.n_briefs == self.n_briefs_all and self.n_scenarios == self.n_scenarios_all

    @property
    def has_bounds(self) -> bool:
        """True if missing verdicts could change the score."""
        low, high = self.score_low, self.score_high
        return low is not None and high is not None and low < high

    @property
    def score_text(self) -> str:
        """The score, with ~ if it leaves out items of briefs that count, and † if it is of copied text."""
        marks = ("~" if self.n_partial else "") + ("†" if self.copied else "")
        return number(self.score) + (marks if self.score is not None else "")

    @property
    def interval_text(self) -> str:
        """The interval, or the range of too few scenarios for one; a dash if there is neither."""
        if self.ci_low is None or self.ci_high is None:
            return "-"
        return Interval(self.ci_low, self.ci_high, self.ci_method or "", self.ci_level).text

    @property
    def bounds_text(self) -> str:
        """The bounds of a score with missing verdicts; a dash if there are none."""
        return f"{number(self.score_low)} to {number(self.score_high)}" if self.has_bounds else "-"

    @property
    def briefs_text(self) -> str:
        """The briefs that a score rests on; copies of a text count once."""
        if self.n_texts is not None:
            return plural(self.n_texts, "text")
        return count_of(self.n_briefs, self.n_briefs_all)


def in_words_of(rows: Iterable[LeaderboardRow]) -> Callable[[str], str]:
    """Return what puts a text without names into the words of the protocol that the rows are of."""
    return in_task_terms if any(row.is_of_reports for row in rows) else str


@dataclass(frozen=True, slots=True)
class JudgeNote:
    """A note on a judge for readers of the table."""

    judge_id: str  # as in the rows
    is_stand_in: bool  # True for the offline judge
    agreements: tuple[Agreement, ...]  # its agreement with labels; empty if not measured
    members: tuple[str, ...] = ()  # labels of a panel's members; empty for other judges
    n_canary_missed: int | None = None  # replies rejected because of a canary item; None without canaries
    self_agreement: SelfAgreement | None = None  # agreement among its repeats; None if asked once
    # What an item's place does to its verdict; None if repeats have one order.
    place_effect: PlaceEffect | None = None
    measured: tuple[str, ...] = ()  # the same as phrases
    n_abstained: int = 0  # items on which it gave no verdict by its rules, over all briefs


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The rows and their notes."""

    benchmark: str
    scoring: str  # name of the weights
    # The ranked ones, best first; then those of other coverage; rows without a score last.
    rows: tuple[LeaderboardRow, ...]
    judges: tuple[JudgeNote, ...]  # one note per judge
    assumptions: tuple[str, ...]  # our own defaults that the numbers depend on
    model_notes: tuple[tuple[str, str], ...] = ()  # label and note of every writer and judge with a note
    differences: tuple[str, ...] = ()  # how rows differ beyond the columns, one sentence each
    # Unreliable results and why; files by their path within the benchmark's results.
    left_out: tuple[str, ...] = ()
    rules: ScoringSettings | None = None  # the rules by which rows were scored; None if there is no row
    # The ranking if refusals were scored by the other rule, one text for each judge whose ranking differs.
    other_refusals: tuple[str, ...] = ()
