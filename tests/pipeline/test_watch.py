"""staffbench validate --watch: again after each saved file, until Ctrl-C."""

import pytest

from flows.adapters.screen import Screen
from flows.common.errors import ConfigError
from flows.pipeline.commands.own import watch as module
from flows.pipeline.commands.own.new import new
from flows.pipeline.commands.own.watch import watch_files


@pytest.fixture
def made(tmp_path):
    new("mybench", Screen(), here=tmp_path)
    return tmp_path


def test_it_checks_again_when_a_file_changes_and_ends_with_the_last_code(made, monkeypatch):
    rubric = made / "data" / "mybench" / "example" / "rubric.yaml"
    codes, events = [0, 2, 1], []

    def check():
        events.append("check")
        code = codes[len(events) - len(pauses) - 1]
        if code == 2:
            raise ConfigError("conf", "half written")
        return code

    pauses = []

    def pause(seconds):
        pauses.append(seconds)
        events.append("pause")
        match len(pauses):
            case 1:
                (rubric.parent / ".rubric.yaml.swp").write_text("an editor's own")
            case 2:
                rubric.write_text(rubric.read_text() + "\n")
            case 3:
                (made / "conf" / "config.yaml").unlink()
            case _:
                raise KeyboardInterrupt

    monkeypatch.setattr(module.time, "sleep", pause)
    assert watch_files(made, ["benchmark=mybench"], check, Screen()) == 1
    assert events == ["check", "pause", "pause", "check", "pause", "check", "pause"]
    assert set(pauses) == {0.5}
