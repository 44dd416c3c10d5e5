"""Index of a folder of segments: the location of each record, and damage.

Only locations are kept in memory, not texts. Scanning is incremental: it continues where the last scan ended.
"""

import fcntl
import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from flows.adapters.completions.stores.records import LEAD, Head, verify
from flows.common.errors import StoreError
from flows.schema.completion import CompletionStatus

SUFFIX = ".jsonl"

_log = logging.getLogger(__name__)

# An answer is final. Refusals and partial texts may be retried on request, errors on any later run; none
# replaces something better. Among equals, the first answer is kept, as a replay must return what was used,
# but the last refusal or error, as a diagnosis should be the latest.
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
    """The location of a record."""

    segment: Path  # the file
    offset: int  # offset of its first byte
    length: int  # length in bytes, including a newline
    status: CompletionStatus | None  # the completion's status; None for a text


class Index:
    """Locations of all records of a folder.

    Attributes:
        completions: by key.
        texts: by sha256.
    """

    def __init__(self, folder: Path) -> None:
        self.completions: dict[str, Place] = {}
        self.texts: dict[str, Place] = {}
        self._folder = folder
        self._own: set[Path] = set()
        self._seen: dict[Path, tuple[int, int]] = {}  # size, and end of the last complete line
        self._damaged: dict[tuple[Path, int], StoreError] = {}
        self._rejected: set[tuple[Path, int]] = set()
        self._open_ends: dict[Path, StoreError] = {}

    def own(self, segment: Path) -> None:
        """Skip `segment`, which this process writes: its records are added when they are durable."""
        self._own.add(segment)

    def add(self, head: Head, place: Place) -> None:
        """Add one record, unless there is a better one."""
        if (place.segment, place.offset) in self._rejected:
            return
        if head.kind == "text":
            self.texts.setdefault(head.id, place)
            return
        known = self.completions.get(head.id)
        if known is None or supersedes(place.status, known.status):
            self.completions[head.id] = place

    def refresh(self) -> None:
        """Scan what was added since the last scan.

        Raises:
            StoreError: the folder can't be read, or has a newer format.
        """
        for segment, size in self._sizes():
            seen = self._seen.get(segment)
            if segment not in self._own and (seen is None or size != seen[0]):
                # A truncated file is scanned again; records that it had are verified when they are read.
                self._scan(segment, seen[1] if seen and size > seen[0] else 0)

    def rebuild(self) -> None:
        """Scan everything again, including our own segments, after finding damage."""
        self.completions, self.texts, self._seen, self._open_ends = {}, {}, {}, {}
        own, self._own = self._own, set()
        try:
            self.refresh()
        finally:
            self._own = own

    def reject(self, place: Place, found: str) -> None:
        """Mark a record as permanently damaged, although its checksum is right."""
        self._rejected.add((place.segment, place.offset))
        self._report(place.segment, place.offset, found)

    def problems(self) -> tuple[StoreError, ...]:
        """Return damage in order of discovery, and segments that end in a partial record."""
        ends = [end for segment, end in self._open_ends.items() if not _being_written(segment)]
        return (*self._damaged.values(), *ends)

    def _sizes(self) -> list[tuple[Path, int]]:
        sizes: list[tuple[Path, int]] = []
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    if entry.name.endswith(SUFFIX):
                        with suppress(FileNotFoundError):  # it was removed after the listing
                            sizes.append((self._folder / entry.name, entry.stat().st_size))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(self._folder, f"can't be read: {error.strerror}") from error
        return sorted(sizes)  # by name, for reproducible results

    def _scan(self, segment: Path, start: int) -> None:
        self._open_ends.pop(segment, None)
        offset = size = start
        try:
            with segment.open("rb") as file:
                file.seek(start)
                for line in file:
                    size += len(line)
                    self._take(segment, offset, line)
                    # Another process may be writing the rest of this one, which would be read as the next.
                    if not line.endswith(b"\n"):
                        break
                    offset = size
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreError(segment, f"can't be read: {error.strerror}") from error
        if size == 0:
            self._end(segment, 0, "the file is empty")
        self._seen[segment] = (size, offset)

    def _take(self, segment: Path, offset: int, line: bytes) -> None:
        head, start = verify(line), 0
        if head is None and line.endswith(b"\n"):
            self._report(segment, offset, "a damaged record" if line.strip() else "a blank line")
            # If a newline was overwritten, the second of two records is still complete. Quotes are escaped
            # inside a JSON string, so text can't look like a record.
            while head is None and (start := line.find(LEAD, start + 1)) >= 0:
                head = verify(line[start:])
        elif head is None:
            self._end(segment, offset, "the last record is cut")
        if head is not None:
            self.add(head, Place(segment, offset + start, len(line) - start, head.status))

    def _end(self, segment: Path, offset: int, found: str) -> None:
        """Remember a partial record at the end: damage, unless its writer is alive."""
        problem = self._open_ends[segment] = _damage(segment, offset, found)
        if not _being_written(segment):
            _log.warning("%s", problem)

    def _report(self, segment: Path, offset: int, found: str) -> None:
        if (segment, offset) not in self._damaged:
            problem = self._damaged[segment, offset] = _damage(segment, offset, found)
            _log.warning("%s", problem)


def supersedes(new: CompletionStatus | None, known: CompletionStatus | None) -> bool:
    """Whether a completion of status `new` replaces one of status `known`; None is a text's."""
    if new is None or known is None:
        return False
    rank, known_rank = _RANK[new], _RANK[known]
    return rank > known_rank or (rank == known_rank and rank < _ANSWER)


def is_answer(status: CompletionStatus | None) -> bool:
    """Whether a completion of this status is final."""
    return status is not None and _RANK[status] == _ANSWER


def _damage(segment: Path, offset: int, found: str) -> StoreError:
    return StoreError(
        f"{segment.name} at byte {offset}",
        found,
        remedy="its content counts as missing and is requested again",
    )


def _being_written(segment: Path) -> bool:
    try:
        with segment.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
