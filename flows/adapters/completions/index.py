"""What a folder of segments holds: where each key's record lies, and what is damaged.

Only places are kept in memory, never texts. Scanning is incremental: what another process appended
is taken in from where the last look ended.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from flows.adapters.completions.records import Head, resync, verify
from flows.common.errors import StoreError
from flows.schema.completion import CompletionStatus

SUFFIX = ".jsonl"

_log = logging.getLogger(__name__)

# An answer is final. A refusal and half a text may be asked again on request, an error on any later run; none
# takes the place of something better. Between equals the first answer, the last refusal, the last
# error stays: a replay must give what was used, a diagnosis should be the latest.
_RANK = {
    CompletionStatus.complete: 2,
    CompletionStatus.cut: 2,
    CompletionStatus.refused: 1,
    CompletionStatus.partial: 1,
    CompletionStatus.error: 0,
}
_ANSWER = 2


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record lies.

    Attributes:
        segment: the file.
        offset: of its first byte.
        length: in bytes, newline included where there is one.
        status: of the completion; None for a text.
    """

    segment: Path
    offset: int
    length: int
    status: CompletionStatus | None


@dataclass(frozen=True, slots=True)
class _Seen:
    """How far a segment was taken in: its size then, and the end of its last whole line."""

    size: int = 0
    offset: int = 0


class Index:
    """Places of all records of a folder.

    Attributes:
        completions: by key.
        texts: by sha256.
    """

    def __init__(self, folder: Path) -> None:
        self.completions: dict[str, Place] = {}
        self.texts: dict[str, Place] = {}
        self._folder = folder
        self._own: set[Path] = set()
        self._seen: dict[Path, _Seen] = {}
        self._damaged: dict[tuple[Path, int], StoreError] = {}
        self._rejected: set[tuple[Path, int]] = set()
        self._open_ends: dict[Path, StoreError] = {}

    def own(self, segment: Path) -> None:
        """Leave `segment` to its writer, this process: its records enter when they are durable."""
        self._own.add(segment)

    def add(self, head: Head, place: Place) -> None:
        """Take in one record, unless a better one is there."""
        if (place.segment, place.offset) in self._rejected:
            return
        if head.kind == "text":
            self.texts.setdefault(head.id, place)
            return
        known = self.completions.get(head.id)
        if known is None or _supersedes(place, known):
            self.completions[head.id] = place

    def refresh(self) -> None:
        """Take in what appeared since the last look.

        Raises:
            StoreError: the folder can't be read, or holds a later format.
        """
        for segment, size in self._sizes():
            seen = self._seen.get(segment)
            if segment not in self._own and (seen is None or size != seen.size):
                # What was cut from outside is scanned anew; the records that it held are verified
                # when they are read.
                self._scan(segment, seen.offset if seen and size > seen.size else 0)

    def rebuild(self) -> None:
        """Scan everything again, own segments too: something was found damaged."""
        self.completions, self.texts, self._seen, self._open_ends = {}, {}, {}, {}
        own, self._own = self._own, set()
        try:
            self.refresh()
        finally:
            self._own = own

    def reject(self, place: Place, found: str) -> None:
        """Count a record as damaged for good, although its checksum is right."""
        self._rejected.add((place.segment, place.offset))
        self._report(place.segment, place.offset, found)

    def problems(self) -> tuple[StoreError, ...]:
        """Damaged places in order of finding, and segments that end in half a record."""
        ends = [end for segment, end in self._open_ends.items() if not _being_written(segment)]
        return (*self._damaged.values(), *ends)

    def _sizes(self) -> list[tuple[Path, int]]:
        sizes: list[tuple[Path, int]] = []
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    if entry.name.endswith(SUFFIX):
                        with suppress(FileNotFoundError):  # it went away after the listing
                            sizes.append((self._folder / entry.name, entry.stat().st_size))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(self._folder, f"can't be read: {error.strerror}") from error
        return sorted(sizes)  # by name, so that equal folders give equal answers

    def _scan(self, segment: Path, start: int) -> None:
        self._open_ends.pop(segment, None)
        offset = size = start
        try:
            with segment.open("rb") as file:
                file.seek(start)
                for line in file:
                    size = offset + len(line)
                    if not line.endswith(b"\n"):
                        self._take_end(segment, offset, line)
                        break
                    self._take(segment, offset, line)
                    offset = size
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(segment, f"can't be read: {error.strerror}") from error
        if size == 0:
            self._end(segment, 0, "the file is empty")
        self._seen[segment] = _Seen(size, offset)

    def _take(self, segment: Path, offset: int, line: bytes) -> None:
        head = verify(line)
        if head is not None:
            self.add(head, Place(segment, offset, len(line), head.status))
            return
        self._report(segment, offset, "a damaged record" if line.strip() else "a blank line")
        for start, rest in _candidates(line):
            head = verify(rest)
            if head is not None:
                self.add(head, Place(segment, offset + start, len(rest), head.status))
                return

    def _take_end(self, segment: Path, offset: int, line: bytes) -> None:
        head = verify(line)
        if head is not None:  # only its newline is missing
            self.add(head, Place(segment, offset, len(line), head.status))
        else:
            self._end(segment, offset, "the last record is cut")

    def _end(self, segment: Path, offset: int, found: str) -> None:
        """Remember an unfinished end: damage, unless its writer lives and is in the middle of it."""
        problem = self._open_ends[segment] = _damage(segment, offset, found)
        if not _being_written(segment):
            _log.warning("%s", problem)

    def _report(self, segment: Path, offset: int, found: str) -> None:
        if (segment, offset) not in self._damaged:
            problem = self._damaged[segment, offset] = _damage(segment, offset, found)
            _log.warning("%s", problem)


def _supersedes(new: Place, known: Place) -> bool:
    if new.status is None or known.status is None:
        return False
    rank, known_rank = _RANK[new.status], _RANK[known.status]
    return rank > known_rank or (rank == known_rank and rank < _ANSWER)


def _candidates(line: bytes) -> Iterator[tuple[int, bytes]]:
    start = resync(line, 1)
    while start >= 0:
        yield start, line[start:]
        start = resync(line, start + 1)


def _damage(segment: Path, offset: int, found: str) -> StoreError:
    return StoreError(
        f"{segment.name} at byte {offset}", found, remedy="what it held counts as absent and is asked again"
    )


def _being_written(segment: Path) -> bool:
    """Whether its writer lives: it holds a lock on its segment for as long as it does."""
    try:
        with segment.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
