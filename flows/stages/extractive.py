"""A baseline without a model: a sectioned brief of sentences copied from the packet.

For each of the twelve areas it ranks the packet's sentences by how many of the area's cue words they
hold, how central they are (cosine with the packet's mean tf-idf vector, as in centroid
summarisation: Radev et al. 2004, doi:10.1016/j.ipm.2003.10.006) and whether they carry figures, and
takes them greedily while they add new words. Its score shows what can be earned by copying alone.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from flows.schema.document import BlockKind, Packet
from flows.schema.scenario import MA_BENCH, Step

EXTRACTIVE_VERSION = "1"
"""Increment when the same packet and seed give another brief."""

DEFAULT_WORDS = 3000
"""Target length without a word limit."""

_HEADINGS: Mapping[str, str] = {  # where they are not the words of the area's name
    Step.environment: "Operational environment",
    Step.centers_of_gravity: "Centres of gravity",
    Step.objectives: "Objectives, effects and criteria of success",
    Step.ccir: "Commander's critical information requirements and gaps",
    Step.mission_statement: "Restated mission",
}

_CUES = """
    higher_guidance: intent purpose end state guidance commander directs priority higher headquarters
        endstate;
    tasks: task conduct establish secure protect provide prepare coordinate support must shall will be
        prepared;
    facts: is are has have total reported confirmed currently arrived located strength tonnes km hours;
    assumptions: assume assumed assumption expected presume if likely planning pending continue remain;
    limitations: not must no only prohibited authority approval restrict limit without unless before until
        may;
    environment: enemy adversary militia population terrain weather river road media displaced threat force
        rain;
    centers_of_gravity: centre gravity critical capability vulnerability depends relies source strength
        cohesion control;
    objectives: objective effect success criteria measure achieve condition restore maintain end restored
        open;
    forces: battalion company squadron available shortfall ready personnel vehicles aircraft assigned
        contingent;
    risk: risk hazard casualty danger could delay fail loss threat mitigate escalation exposure shortage;
    ccir: unknown confirm unconfirmed whether requirement information intelligence decision report gap
        indicator;
    mission_statement: mission order forces area no later than conduct purpose support stability task
"""
_CUES_OF = {step.strip(): words for step, words in (row.split(":") for row in _CUES.split(";"))}
"""Words that an area's sentences hold, by its name."""

_WORD = re.compile(r"[a-z][a-z'-]+|\d[\d,.]*")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z0-9(\"'])")
_NUMBER = re.compile(r"\d")
_SKIPPED = frozenset(map(BlockKind, ("header", "footer", "image", "sheet", "metadata", "note")))
_SHORTEST, _LONGEST = 6, 60  # words; shorter ones are labels, longer ones run-on tables


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    document: str
    words: tuple[str, ...]
    centrality: float


def write_extractive(
    packet: Packet, words: int | None, seed: int, steps: Sequence[str] = MA_BENCH.steps
) -> str:
    """Write a brief of about `words` words.

    `seed` breaks near-ties: repeats differ, and the same seed gives the same brief. A step that MA-Bench does
    not have is found by the words of its name.
    """
    sentences = _sentences(packet)
    steps = steps or ("findings",)
    room = (DEFAULT_WORDS if words is None else words) // len(steps)
    taken: list[_Sentence] = []
    sections: list[str] = []
    for step in steps:
        cues = set(_WORD.findall(_CUES_OF.get(step, step.replace("_", " ").lower())))

        def cued(sentence: _Sentence, cues: set[str] = cues) -> float:
            return len(cues.intersection(sentence.words)) / math.sqrt(len(sentence.words))

        chosen = _take(_ranked(sentences, cued, f"{seed}|{step}"), room, taken)
        taken += chosen
        heading = _HEADINGS.get(step) or step.replace("_", " ").capitalize()
        lines = [f"- {sentence.text} [{sentence.document}]" for sentence in chosen]
        sections += [f"## {heading}", "\n".join(lines) or "Nothing in the packet was found for this area."]
    return "\n\n".join(["# Mission analysis", *sections]) + "\n"


def extract_report(packet: Packet, assignment: str, words: int, seed: int) -> list[str]:
    """Choose sentences for a report on `assignment`: the best one first, the others in packet order.

    Sentences are ranked by rare words shared with the assignment, centrality and figures.

    `words` is the target length without headings; `seed` is as for a brief.
    """
    sentences = _sentences(packet)
    rarity = _inverse_frequency([sentence.words for sentence in sentences])
    asked = set(_WORD.findall(assignment.lower()))

    def shared(sentence: _Sentence) -> float:
        found = sum(rarity[word] for word in asked.intersection(sentence.words))
        return found / (4 * math.sqrt(len(sentence.words)))

    chosen = _take(_ranked(sentences, shared, f"{seed}|report"), words, [])
    places = {id(sentence): number for number, sentence in enumerate(sentences)}
    others = sorted(chosen[1:], key=lambda one: places[id(one)])
    return [one.text for one in (*chosen[:1], *others)]


def _sentences(packet: Packet) -> list[_Sentence]:
    found: list[tuple[str, str, tuple[str, ...]]] = []
    for document in packet.documents:
        for block in document.blocks:
            if block.kind in _SKIPPED:
                continue
            for text in _split(block.text, is_table=block.kind is BlockKind.table):
                words = tuple(_WORD.findall(text.lower()))
                if _SHORTEST <= len(words) <= _LONGEST:
                    found.append((text, document.name, words))
    rarity = _inverse_frequency([words for _, _, words in found])
    centre: Counter[str] = Counter()
    for _, _, words in found:
        for word in words:
            centre[word] += rarity[word]  # pyright: ignore[reportArgumentType] -- a Counter adds floats as well
    return [_Sentence(text, name, words, _cosine(words, rarity, centre)) for text, name, words in found]


def _split(text: str, *, is_table: bool) -> list[str]:
    if is_table:
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines()]
        return [
            "; ".join(cell for cell in row if cell) for row in rows if any(cell.strip("-: ") for cell in row)
        ]
    plain = " ".join(text.lstrip("#-* ").split())
    return [sentence.strip() for sentence in _SENTENCE_END.split(plain)]


def _inverse_frequency(sentences: Sequence[tuple[str, ...]]) -> dict[str, float]:
    """Return ln(N / df) over sentences, the idf of Spaerck Jones 1972."""
    counts = Counter(word for words in sentences for word in set(words))
    return {word: math.log(len(sentences) / count) for word, count in counts.items()}


def _cosine(words: tuple[str, ...], rarity: Mapping[str, float], centre: Mapping[str, float]) -> float:
    own = {word: count * rarity[word] for word, count in Counter(words).items()}
    length = math.sqrt(sum(value * value for value in own.values()))
    return sum(value * centre[word] for word, value in own.items()) / length if length else 0.0


def _ranked(sentences: Sequence[_Sentence], fit: Callable[[_Sentence], float], salt: str) -> list[_Sentence]:
    """Sort by fit, centrality and figures; near-ties are broken by `salt`."""
    widest = max((sentence.centrality for sentence in sentences), default=0.0) or 1.0

    def rank(sentence: _Sentence) -> float:
        figures = 0.15 if _NUMBER.search(sentence.text) else 0.0
        return fit(sentence) + sentence.centrality / widest + figures + 0.3 * _unit(salt, sentence)

    return sorted(sentences, key=lambda one: (-rank(one), one.text))


def _take(ranked: Sequence[_Sentence], room: int, taken: Sequence[_Sentence]) -> list[_Sentence]:
    """Return the first of `ranked` that fit into `room` words and add new words to `taken`."""
    known = {word for sentence in taken for word in sentence.words}
    used = {sentence.text for sentence in taken}
    chosen: list[_Sentence] = []
    for sentence in ranked:
        new = sum(word not in known for word in set(sentence.words))
        length = len(sentence.text.split()) + 2  # the bullet and the citation
        if sentence.text in used or new < 3 or length > room:  # noqa: PLR2004 -- new words
            continue
        chosen.append(sentence)
        used.add(sentence.text)
        known.update(sentence.words)
        room -= length
        if room < _SHORTEST:
            break
    return chosen


def _unit(salt: str, sentence: _Sentence) -> float:
    """Return a pseudo-random number in [0, 1) that depends only on the arguments."""
    text = f"{salt}|{sentence.document}|{sentence.text}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48
