"""Where output goes may know few characters, or have a reader who has had enough: neither is a fault."""

import contextlib
import io
import os
import signal
import subprocess
import sys

import pytest
from pydantic import BaseModel, model_serializer

from flows.__main__ import main
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError
from flows.pipeline.orchestration.server import ctrl_c_held_back


def test_characters_that_a_locale_lacks_are_replaced(monkeypatch):
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)

    def dispatch(*_):
        screen = Screen()
        screen.note("calls 3 \N{MIDDLE DOT} \N{GREATER-THAN OR EQUAL TO} $1.00")
        screen.table("t", [["judge", "score"], ["\N{MIDDLE DOT}", "1"]])
        screen.say("4% \N{MIDDLE DOT} 0:30 left")
        return 4

    monkeypatch.setattr("flows.__main__._dispatch", dispatch)
    assert main(["report"]) == 4
    out.flush()
    err.flush()
    assert out.buffer.getvalue().splitlines()[0] == b"calls 3 ? ? $1.00"
    assert err.buffer.getvalue() == b"4% ? 0:30 left\n"


SCRIPT = """
import sys
from flows import __main__ as command_line
from flows.adapters.screen import Screen

def dispatch(*_):
    screen = Screen()
    screen.note("one")
    screen.table("t", [["judge", "score"], ["a", "1"]])
    screen.say("done")
    return int(sys.argv[1])

command_line._dispatch = dispatch
sys.exit(command_line.main(["report"]))
"""


@pytest.mark.parametrize("code", [0, 4])
def test_a_reader_who_has_had_enough_does_not_end_the_work(project, code):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(code)],
        cwd=project,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (code, "done\n")


class _Interrupted(BaseModel):
    @model_serializer
    def stopped(self) -> dict:
        raise KeyboardInterrupt


class _Outer(BaseModel):
    @model_serializer
    def inner(self) -> dict:
        return _Interrupted().model_dump()


@pytest.mark.parametrize("inside_pydantic", [False, True])
def test_ctrl_c_is_one_word_also_where_pydantic_makes_an_error_of_it(monkeypatch, capsys, inside_pydantic):
    def dispatch(*_):
        if inside_pydantic:
            _Interrupted().model_dump()
        raise KeyboardInterrupt

    monkeypatch.setattr("flows.__main__._dispatch", dispatch)
    assert main(["report"]) == 130
    assert capsys.readouterr().err == "staffbench: stopped\n"


def test_ctrl_c_within_two_models_of_pydantic_is_a_stop(monkeypatch, capsys):
    """The outer error has only the text of the inner one."""
    monkeypatch.setattr("flows.__main__._dispatch", lambda *_: _Outer().model_dump())
    assert main(["report"]) == 130
    assert capsys.readouterr().err == "staffbench: stopped\n"


def test_ctrl_c_while_prefect_is_imported_stops_after_it():
    done = []

    def press_within() -> None:
        with ctrl_c_held_back():
            signal.raise_signal(signal.SIGINT)
            done.append("the rest of the block")

    with pytest.raises(KeyboardInterrupt):
        press_within()
    assert done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with ctrl_c_held_back():
        pass


def test_ctrl_c_that_hydra_makes_a_configuration_error_of_is_a_stop(monkeypatch, capsys):
    def dispatch(*_):
        try:
            raise KeyboardInterrupt  # noqa: TRY301 -- as Hydra does
        except KeyboardInterrupt as error:
            raise ConfigError("model=strong", "") from error

    monkeypatch.setattr("flows.__main__._dispatch", dispatch)
    assert main(["report"]) == 130
    assert capsys.readouterr().err == "staffbench: stopped\n"


@pytest.mark.parametrize("command", [["--version"], ["report", "word_cpa=1"]])
def test_no_command_lets_a_library_report_anything(monkeypatch, command):
    for name in ("DO_NOT_TRACK", "PREFECT_SERVER_ANALYTICS_ENABLED", "MLFLOW_DISABLE_TELEMETRY"):
        monkeypatch.delenv(name, raising=False)
    with contextlib.suppress(SystemExit):
        main(command)
    assert os.environ["DO_NOT_TRACK"] == "1"
    assert os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true"


def test_another_fault_is_not_taken_for_a_stop(monkeypatch):
    def dispatch(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("flows.__main__._dispatch", dispatch)
    with pytest.raises(ZeroDivisionError):
        main(["report"])


def test_a_table_without_a_row_is_not_shown(capsys):
    Screen().table("scenarios", [["scenario", "items"]])
    assert not capsys.readouterr().out
