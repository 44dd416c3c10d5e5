"""What a person's Ctrl-C, and a system's SIGTERM, do during a run."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import Any

from flows.adapters.screen import Screen
from flows.pipeline.work.run_context import RunContext


class Signals:
    """The first lets calls under way end; the second leaves them behind."""

    def __init__(self, context: RunContext, screen: Screen) -> None:
        self._context = context
        self._screen = screen
        self._run: asyncio.Task[Any] | None = None

    def begin(self) -> None:
        """Take them for the task that is running now."""
        self._run = asyncio.current_task()
        self.take()

    def take(self) -> None:
        """Take them, also from Prefect, which puts a handler of its own for SIGTERM in place of ours."""
        if threading.current_thread() is threading.main_thread():  # elsewhere Python takes no handler
            for name in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(name, self._stop)

    def _stop(self) -> None:
        context, screen = self._context, self._screen
        if context.stopping:
            assert self._run is not None
            self._run.cancel()
            return
        if context.evaluations[0].settings.runner.batch:
            screen.say("Stopping: batches under way run on at the provider; the same command collects them.")
        else:
            screen.say(
                "Stopping: calls under way end and are stored. Press Ctrl-C again to leave them behind."
            )
        context.stop()
