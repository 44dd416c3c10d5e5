"""Handling of Ctrl-C and SIGTERM during a run."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import Any

from flows.adapters.screen import Screen
from flows.pipeline.work.run_context import RunContext
from flows.readers.guarded import stop_reading


class Signals:
    """Signal handler: the first signal lets calls in flight finish, the second abandons them."""

    def __init__(self, context: RunContext, screen: Screen) -> None:
        self._context = context
        self._screen = screen
        self._run: asyncio.Task[Any] | None = None

    def begin(self) -> None:
        """Install the handlers; a second signal cancels the current task."""
        self._run = asyncio.current_task()
        stop_reading(stopped=False)
        self.take()

    def take(self) -> None:
        """Install the handlers; again after Prefect has replaced ours for SIGTERM."""
        if threading.current_thread() is threading.main_thread():  # Python allows handlers only there
            for name in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(name, self._stop)

    def _stop(self) -> None:
        context, screen = self._context, self._screen
        if context.stopping:
            assert self._run is not None
            self._run.cancel()
            return
        if context.evaluations[0].settings.runner.batch:
            screen.say(
                "Stopping: submitted batches continue at the provider; the same command collects them."
            )
        elif context.client is None:
            screen.say("Stopping: stages that are running finish. Press Ctrl-C again to abandon them.")
        else:
            screen.say("Stopping: calls in flight finish and are stored. Press Ctrl-C again to abandon them.")
        stop_reading()  # a packet may take minutes, and costs nothing to read again
        context.stop()
