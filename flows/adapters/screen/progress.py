"""Progress of a run, and its calls so far, as a line."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class CallCounts:
    """Calls of a run so far."""

    replayed: int = 0  # answered from the store
    paid: int = 0  # answered by a model, at a price or without one
    failed: int = 0  # without an answer after all attempts
    in_flight: int = 0
    usd: float = 0.0  # price of the paid ones; a lower bound if `usd_is_bound`
    usd_is_bound: bool = False  # True if the price of some calls is unknown
    paid_is_bound: bool = False  # True if a worker ended before it reported its last calls


@dataclass
class Progress:
    """Progress counts and their display."""

    expected: dict[str, int]  # number of runs by stage
    calls: Callable[[], CallCounts] | None  # returns the calls so far; None without calls
    done: dict[str, int] = field(default_factory=dict[str, int])  # number of finished runs by stage
    skipped: int = 0  # number of runs finished by an earlier run
    started: float = field(default_factory=time.monotonic)  # monotonic time, in seconds

    def step(self, stage: str, skipped: bool) -> None:
        """Count a run of `stage` as done or skipped."""
        self.done[stage] = self.done.get(stage, 0) + 1
        self.skipped += skipped

    @property
    def share(self) -> float:
        """Share of all stage runs that are done, in [0, 1]."""
        whole = sum(self.expected.values())
        return sum(self.done.values()) / whole if whole else 1.0

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def left_s(self) -> float | None:
        """Seconds left if the rest goes on as fast as what this run did; None if it did nothing yet."""
        done, whole = sum(self.done.values()), sum(self.expected.values())
        by_this_run = done - self.skipped
        return self.elapsed_s * (whole - done) / by_this_run if by_this_run and done < whole else None

    def line(self, width: int | None = None) -> str:
        """Progress as one line.

        A live line of `width` columns omits finished stages and then what does not fit; None shows
        everything.
        """
        parts = [f"{self.share:4.0%}", clock(self.elapsed_s)]
        if self.left_s is not None:
            parts.append(f"{clock(self.left_s)} left")
        for stage, number in self.expected.items():
            done = self.done.get(stage, 0)
            if number and (width is None or 0 < done < number):
                parts.append(f"{stage} {done}/{number}")
        if self.calls is not None:
            parts.append(calls_text(self.calls()))
        if self.skipped:
            parts.append(f"{self.skipped} of {sum(self.done.values())} done before")
        line = " · ".join(parts)
        while width is not None and len(line) > width and len(parts) > 1:
            parts.pop()
            line = " · ".join(parts)
        return line


def calls_text(calls: CallCounts) -> str:
    """Format calls as a phrase."""
    bound = "at least " if calls.paid_is_bound else ""
    parts = [f"calls {calls.paid + calls.replayed}: {bound}{calls.paid} new, {calls.replayed} replayed"]
    if calls.failed:
        parts.append(f"{calls.failed} failed")
    if calls.in_flight:
        parts.append(f"{calls.in_flight} in flight")
    price = f"${calls.usd:.2f}"
    if calls.usd_is_bound:
        price = f"≥ {price}" if calls.usd else "price unknown"
    return ", ".join(parts) + (f" · {price}" if calls.paid else "")


def clock(seconds: float) -> str:
    """Format seconds as m:ss or h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
