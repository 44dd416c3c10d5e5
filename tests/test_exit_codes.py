"""2: what a person named is not there, or of another kind. 1: it is there, and its content is at fault."""

import errno
import io
import socket

import pytest

from flows.__main__ import main

REPORTS = "benchmark=mission_report"
LABELS = "condition,scenario_id,seed,item_id,label\n"
WRONG_NAME, FAULT = 2, 1


class NoServer:
    """Prefect's: nothing here gets as far as to ask for it."""

    def __init__(self, _log):
        pass

    def start(self):
        pass

    def stop(self):
        pass


@pytest.fixture
def here(tmp_path, project, monkeypatch):
    """A project with files that are faulty each in its way, as the current folder."""
    for name in ("conf", "data"):
        (tmp_path / name).symlink_to(project / name)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "filled" / "alder").mkdir(parents=True)
    (tmp_path / "filled" / "alder" / "scenario.yaml").write_text("{", encoding="utf-8")
    (tmp_path / "filled" / "alder" / "task.toml").write_text("=", encoding="utf-8")
    (tmp_path / "no_column.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (tmp_path / "no_label.csv").write_text(LABELS, encoding="utf-8")
    (tmp_path / "latin.csv").write_bytes(LABELS.encode() + b"\xe9\n")
    (tmp_path / "tests" / "fixtures").mkdir(parents=True)
    (tmp_path / "report.docx").write_bytes(b"no zip")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("flows.pipeline.orchestration.server.Server", NoServer)
    monkeypatch.setattr("flows.pipeline.orchestration.server.configure", lambda *_: None)
    return tmp_path


VERIFY = "harbor verify report.docx --logs logs --task"
CASES = [
    # briefs written elsewhere
    ("grade gone", WRONG_NAME, "gone: no such file or folder"),
    ("grade file", WRONG_NAME, "its scenario is not given"),
    ("grade gone benchmark=mission_report", WRONG_NAME, "gone: no such file or folder"),
    ("plan model=files model.folder=gone", WRONG_NAME, "no folder"),
    # jobs of Harbor
    ("harbor import gone", WRONG_NAME, "gone: no such folder"),
    ("harbor import file", WRONG_NAME, "file: no such folder"),
    ("harbor import folder", FAULT, "no trial in it"),
    ("harbor summarize gone", WRONG_NAME, "gone: no such folder"),
    ("harbor summarize folder", FAULT, "no trial in it"),
    ("harbor import folder results=file", WRONG_NAME, "is a file"),
    # what Harbor's tasks are written to, made of and graded with
    ("harbor export file", WRONG_NAME, "file: a file"),
    ("harbor export filled", WRONG_NAME, "a folder with something in it"),
    ("harbor export out --install gone.whl", WRONG_NAME, "gone.whl is not there"),
    ("harbor export out benchmark.data=gone", WRONG_NAME, "no such folder"),
    (f"{VERIFY} gone", WRONG_NAME, "gone: no such folder"),
    (f"{VERIFY} file", WRONG_NAME, "file: no such folder"),
    (f"{VERIFY} folder", FAULT, "no folder named tests"),
    (f"{VERIFY} tests", FAULT, "no expert's report"),
    ("harbor verify report.docx --logs file --task tests", WRONG_NAME, "file: a file"),
    # experts' labels
    ("agreement gone.csv", WRONG_NAME, "gone.csv: no such file"),
    ("agreement folder", WRONG_NAME, "no labels in this folder"),
    ("agreement no_column.csv", FAULT, "no column"),
    ("agreement no_label.csv", FAULT, "no label"),
    ("agreement latin.csv", FAULT, "can't be read"),
    # packets
    ("packets --show nobody", WRONG_NAME, "no packet of 'nobody'"),
    # where results lie
    *(
        (f"{command} results=file", WRONG_NAME, "file is a file")
        for command in ("run", "plan", "report", "agreement", "ui", "track", "packets", "validate")
    ),
    ("report results=file/below", WRONG_NAME, "file is a file"),
    ("run store=file", WRONG_NAME, "file is a file"),
    ("report results=gone", FAULT, "nothing graded here"),
    ("ui results=gone", FAULT, "not there"),
    # scenarios
    *(
        (f"{command} {benchmark} {override}", code, said)
        for command in ("run", "plan", "packets", "validate")
        for benchmark in ("benchmark=ma_bench", REPORTS)
        for override, code, said in (
            ("benchmark.data=gone", WRONG_NAME, "no such folder"),
            ("benchmark.data=file", WRONG_NAME, "no such folder"),
            ("benchmark.data=folder", FAULT, "folder: no "),
            ("benchmark.scenarios=[nobody]", WRONG_NAME, "nobody"),
        )
    ),
    *((f"plan {benchmark} benchmark.data=filled", FAULT, "alder") for benchmark in ("", REPORTS)),
]


@pytest.mark.parametrize(("words", "code", "said"), CASES, ids=[words for words, _, _ in CASES])
def test_a_wrong_name_is_a_configuration_and_a_faulty_file_a_fault(here, capsys, words, code, said):
    assert main([word for word in words.split(" ") if word]) == code
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("words", ["agreement latin.csv", "plan benchmark.data=filled"])
def test_a_file_that_may_not_be_read_is_a_fault(here, capsys, monkeypatch, words):
    def refusing(file, *args, **kwargs):
        if str(file).endswith(("latin.csv", "scenario.yaml")):  # chmod would not stop root
            raise PermissionError(errno.EACCES, "Permission denied", str(file))
        return opened(file, *args, **kwargs)

    opened = io.open
    monkeypatch.setattr(io, "open", refusing)
    monkeypatch.setattr("builtins.open", refusing)
    assert main(words.split()) == FAULT
    assert "can't be read" in capsys.readouterr().err


def test_outside_a_project_nothing_can_be_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["plan"]) == WRONG_NAME
    assert "no conf/config.yaml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "run model=openai_compatible model.name=x model.api_base=127.0.0.1:80/v1",
            (
                "no address; expected http://HOST:PORT/v1 or https://HOST/v1. "
                "Write model.api_base=http://127.0.0.1:80/v1\n"
            ),
        ),
        (
            "run model=openai_compatible model.name=x model.api_base=127.0.0.1:80",
            "Write model.api_base=http://127.0.0.1:80/v1\n",
        ),
        (
            "run model=local_gguf model.name=x model.api_base=gone.gguf",
            "staffbench: model.api_base=gone.gguf: no such file",
        ),
        ("compare strong weak", "nothing graded here"),
        ("remove strong --yes", "no such condition"),
    ],
)
def test_what_is_not_there_is_found_before_a_server_is_waited_for(here, capsys, words, said):
    assert main(words.split()) == WRONG_NAME
    assert said in capsys.readouterr().err


def test_a_port_in_use_may_be_mlflow_that_is_open_there_already(here, capsys):
    (here / "results").mkdir()
    (here / "results" / "mlflow.db").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["ui", "--port", str(port)]) == FAULT
    said = f"port {port}: in use; MLflow may be open there already: http://127.0.0.1:{port}. Choose another"
    assert said in capsys.readouterr().err
