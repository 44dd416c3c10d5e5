"""Agreement of a judge's verdicts with labels, with another judge's and with its own repeats."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

from flows.schema.scenario import Item, classes
from flows.schema.verdict import Agreement, SelfAgreement

STAGE_VERSION = "2"

FEWEST_CLUSTERS = 3
"""Fewest scenarios for a margin. From three on, it covers about 94% in the simulation of the tests."""

WHICH_BRIEF, BM25 = "which brief", "BM25"

_LEVEL = 0.95
_WINDOW = 3  # sentences
_K1, _B = 1.5, 0.75  # the usual parameters of BM25


@dataclass(frozen=True, slots=True)
class LabelledVerdict:
    """One item of one brief, graded by a label and by a judge.

    Both are as in a verdict: for a wrong move, True means that the brief did not make it.
    """

    item: Item  # the item, whose tier and severity determine its groups
    label: bool  # the label, given before any judge saw the brief
    verdict: bool | None  # the judge's verdict; None if it has none
    scenario: str = ""  # its scenario, by which intervals are clustered
    brief: str = ""
    overlap: float | None = None  # the brief's `window_overlap` with the item; None if it is not known


def measure_agreement(labels: str, pairs: Sequence[LabelledVerdict]) -> Agreement:
    """Compute accuracy and Cohen's kappa with margins and baselines, overall and by group.

    An item without a verdict counts only in `n_ungraded`. Groups are in the order polarity, tier, severity,
    each in the order of its enum (`polarity=positive` before `polarity=negative`). A group without labelled
    items is left out; one with items but no verdicts is kept, with n 0.

    Baselines grade the items that the judge graded. `which brief` knows only which brief it is: it gives all
    requirements of a brief, and all wrong moves, the more frequent label. `BM25` passes as many requirements
    as the labels do, those with the greatest `overlap`; of the wrong moves it fails as many, those likewise.
    """
    graded = [pair for pair in pairs if pair.verdict is not None]
    guessed = {WHICH_BRIEF: _by_brief(graded)}
    if graded and all(pair.overlap is not None for pair in graded):
        guessed[BM25] = _by_overlap(graded)

    def measured(name: str, belongs: Callable[[Item], bool]) -> Agreement:
        def cells_of(each: Sequence[LabelledVerdict]) -> _Cells:
            return _cells(pair for pair in each if belongs(pair.item))

        cells = cells_of(pairs)
        n = sum(map(sum, cells.values()))
        return Agreement(
            labels=name,
            n=n,
            n_ungraded=sum(belongs(pair.item) for pair in pairs) - n,
            accuracy=_accuracy(cells.values()),
            kappa=_kappa(cells.values()),
            accuracy_margin=_margin(cells, _accuracy),
            kappa_margin=_margin(cells, _kappa),
            within=_within(cells.values()),
            within_margin=_margin(cells, _within),
            baselines=tuple(
                (rater, _kappa(cells_of(each).values()) or 0.0) for rater, each in guessed.items()
            ),
        )

    items = [pair.item for pair in pairs]
    groups = [measured(name, belongs) for name, belongs in _groups(items) if any(map(belongs, items))]
    return replace(measured(labels, lambda _: True), groups=tuple(groups))


def window_overlap(items: Sequence[Item], text: str) -> list[float]:
    """Return for each item the BM25 of its closest three sentences, as a share of the highest possible.

    A baseline in the sense of S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and
    Beyond", 2009: the windows are the collection, the item's requirement and ground truth are the query.
    """
    sentences = [words for part in re.split(r"(?<=[.!?])\s+|\n+", text) if (words := _words(part))]
    windows = [list(chain(*sentences[n : n + _WINDOW])) for n in range(len(sentences))] or [[]]
    n, length = len(windows), sum(map(len, windows)) / len(windows) or 1.0
    norms = [_K1 * (1 - _B + _B * len(window) / length) for window in windows]
    found_in: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)  # window and count of each word
    for place, window in enumerate(windows):
        for word, count in Counter(window).items():
            found_in[word].append((place, count))
    overlaps: list[float] = []
    for item in items:
        parts: defaultdict[int, list[float]] = defaultdict(list)  # of windows with a word of the query
        highest: list[float] = []
        for word in set(_words(f"{item.requirement} {item.ground_truth}")):
            places = found_in.get(word, [])
            idf = math.log1p((n - len(places) + 0.5) / (len(places) + 0.5))
            highest.append(idf)
            for place, count in places:
                parts[place].append(idf * (_K1 + 1) * count / (count + norms[place]))
        best = max(map(math.fsum, parts.values()), default=0.0)
        overlaps.append(best / ((_K1 + 1) * math.fsum(highest)) if highest else 0.0)
    return overlaps


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@dataclass(frozen=True, slots=True)
class Repeated:
    """One item of one brief, and its verdicts by several judges or in several repeats; None for none."""

    item: Item
    verdicts: Sequence[bool | None]
    scenario: str = ""
    brief: str = ""


def compare_verdicts(name: str, pairs: Sequence[Repeated], places: tuple[int, int] = (0, 1)) -> Agreement:
    """Compare two judges on the same items. Accuracy is the share that agree; neither is the reference.

    `places` are those of their verdicts. An item without both counts only in `n_ungraded`.
    """
    labelled: list[LabelledVerdict] = []
    for pair in pairs:
        first, second = (pair.verdicts[place] for place in places)
        verdict = None if first is None else second
        labelled.append(LabelledVerdict(pair.item, first is True, verdict, pair.scenario, pair.brief))
    return replace(measure_agreement(name, labelled), baselines=(), groups=())


def measure_self_agreement(asked: Sequence[Repeated]) -> SelfAgreement | None:
    """Compute the agreement among a judge's repeats; None if nothing was asked more than once.

    Raises:
        ValueError: items with different numbers of repeats.
    """
    numbers = {len(each.verdicts) for each in asked}
    if len(numbers) > 1:
        raise ValueError(f"items with {sorted(numbers)} repeats")
    n_repeats = max(numbers, default=0)
    if n_repeats < 2:  # noqa: PLR2004 -- it takes two to agree
        return None
    whole = [each.verdicts for each in asked if None not in each.verdicts]
    same = sum(len(set(verdicts)) == 1 for verdicts in whole)
    pairs = [
        compare_verdicts(f"repeat {first + 1} against repeat {second + 1}", asked, (first, second))
        for first, second in combinations(range(n_repeats), 2)
    ]
    return SelfAgreement(
        n_repeats=n_repeats,
        n=len(whole),
        n_ungraded=len(asked) - len(whole),
        unanimous=same / len(whole) if whole else None,
        pairs=tuple(pairs),
    )


def _groups(items: Sequence[Item]) -> list[tuple[str, Callable[[Item], bool]]]:
    """Return each group's name and membership test, in printed order."""

    def of(by: str, value: str) -> Callable[[Item], bool]:
        return lambda item: str(getattr(item, by)) == value

    return [
        ("polarity=positive", lambda item: not item.is_error),
        ("polarity=negative", lambda item: item.is_error),
        *((f"tier={tier}", of("tier", tier)) for tier in classes(items, "tier")),
        *((f"severity={severity}", of("severity", severity)) for severity in classes(items, "severity")),
    ]


_Cells = dict[tuple[str, str], list[int]]
"""Counts of label and verdict by scenario and brief: both passed, only the label, the verdict, neither."""


def _cells(pairs: Iterable[LabelledVerdict]) -> _Cells:
    """Count labels and verdicts, without ungraded items."""
    cells: _Cells = {}
    for pair in pairs:
        if pair.verdict is not None:
            counts = cells.setdefault((pair.scenario, pair.brief), [0, 0, 0, 0])
            counts[2 * (not pair.label) + (not pair.verdict)] += 1
    return dict(sorted(cells.items()))


def _total(cells: Iterable[list[int]]) -> list[int]:
    return [sum(column) for column in zip(*cells, strict=True)] or [0, 0, 0, 0]


def _accuracy(cells: Iterable[list[int]]) -> float | None:
    a, b, c, d = _total(cells)
    return (a + d) / (a + b + c + d) if a + b + c + d else None


def _kappa(cells: Iterable[list[int]]) -> float | None:
    """Cohen's kappa, (p_o - p_e) / (1 - p_e).

    Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and Psychological
    Measurement 20(1), 1960, pp. 37-46. With p_o = (a + d) / n and
    p_e = ((a + b)(a + c) + (c + d)(b + d)) / n^2 it is, for two categories and free of rounding until the
    last division, 2(ad - bc) / ((a + b)(b + d) + (a + c)(c + d)).

    None if a side never varies: chance explains every agreement, and 0 (or 0/0 if both are constant) would
    look like a finding about the judge.
    """
    a, b, c, d = _total(cells)
    if 0 in (a + b, c + d, a + c, b + d):
        return None
    return 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))


def _within(cells: Iterable[list[int]]) -> float | None:
    """The kappa within briefs: chance agreement is that of each brief's own shares.

    Sum of n(p_o - p_e) over the sum of n(1 - p_e): the briefs' kappas, weighted by n(1 - p_e). Source:
    W. Barlow, M.-Y. Lai, S. Azen, "A comparison of methods for calculating a stratified kappa", Statistics in
    Medicine 10(9), 1991, pp. 1465-1472. A rater that knows only which brief it is has 0.
    """
    cells = list(cells)
    above = math.fsum(2 * (a * d - b * c) / (a + b + c + d) for a, b, c, d in cells)
    whole = math.fsum(((a + b) * (b + d) + (a + c) * (c + d)) / (a + b + c + d) for a, b, c, d in cells)
    return above / whole if whole else None


def _margin(cells: _Cells, statistic: Callable[[Iterable[list[int]]], float | None]) -> float | None:
    """Half of a 95% interval: delete-one-scenario jackknife, t with scenarios less one degrees of freedom."""
    scenarios = sorted({scenario for scenario, _ in cells})
    n = len(scenarios)
    if n < FEWEST_CLUSTERS or statistic(cells.values()) is None:
        return None
    values: list[float] = []
    for left_out in scenarios:
        value = statistic([each for (scenario, _), each in cells.items() if scenario != left_out])
        if value is None:
            return None
        values.append(value)
    from scipy.special import stdtrit  # slow import

    mean = math.fsum(values) / n
    error = math.sqrt((n - 1) / n * math.fsum((value - mean) ** 2 for value in values))
    return float(stdtrit(n - 1, (1 + _LEVEL) / 2)) * error


def _by_brief(graded: Sequence[LabelledVerdict]) -> list[LabelledVerdict]:
    """Grade by the more frequent label of the brief, of requirements and wrong moves apart."""
    labels: dict[tuple[str, str, bool], list[bool]] = {}
    for pair in graded:
        labels.setdefault((pair.scenario, pair.brief, pair.item.is_error), []).append(pair.label)
    return [
        replace(pair, verdict=2 * sum(own) >= len(own))
        for pair in graded
        for own in [labels[pair.scenario, pair.brief, pair.item.is_error]]
    ]


def _by_overlap(graded: Sequence[LabelledVerdict]) -> list[LabelledVerdict]:
    """Say of as many items as by the labels that the brief has them: those with the greatest overlap."""
    found: list[LabelledVerdict] = []
    for is_error in (False, True):
        members = [pair for pair in graded if pair.item.is_error == is_error]
        members.sort(key=lambda pair: pair.overlap or 0.0, reverse=True)
        said = sum(pair.label != is_error for pair in members)
        found += [replace(pair, verdict=(place < said) != is_error) for place, pair in enumerate(members)]
    return found
