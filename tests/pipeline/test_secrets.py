"""What a run leaves holds no secret, and a run that lacks what it needs says so before it pays."""

import base64
import dataclasses
from pathlib import Path
from urllib.parse import quote

from tests.support.bench import answer, remote
from tests.support.scripted_server import ScriptedServer, Status


def test_no_secret_is_anywhere_in_what_a_run_leaves(bench):
    """Whoever is sent which of them, and however an endpoint gives them back."""
    secrets = {
        "TEST_KEY": "sk-planted-0123456789abcdef",
        "JUDGE_KEY": "sk-judge+/9876543210",
        "TEST_HEADER": "Bearer hdr-5566778899aabbcc",
        "SHORT_KEY": "k3y-77",
        "HTTPS_PROXY": "http://clerk:pr0xy%20pass@127.0.0.1:9",
    }
    plain = [secrets["TEST_KEY"], secrets["JUDGE_KEY"], secrets["TEST_HEADER"].split()[1], "k3y-77"]
    plain += ["pr0xy%20pass", "pr0xy pass"]
    told = [*plain, *(quote(one, safe="") for one in plain), base64.b64encode(b"clerk:pr0xy pass").decode()]
    told += [base64.b64encode(one.encode()).decode() for one in plain]
    failed = []

    def script(call):
        said = answer(call)
        if call.body["model"].startswith("judge"):
            if not failed:
                failed.append(call)
                return Status(500, " ".join(told))
            return said
        return dataclasses.replace(said, text=f"{said.text} {' '.join(told)}", model=told[0])

    with ScriptedServer(script) as server:
        words = ["model.api_key_env=TEST_KEY", "judge.api_key_env=JUDGE_KEY", "tracking=mlflow"]
        words += ["model.headers.X-Team=TEST_HEADER", "judge.headers={X-Team: SHORT_KEY}", "seeds=1"]
        done = bench("run", *remote(server, *words), **secrets)
        assert done.code == 0, done.err
        writer, judge = (
            next(call.headers for call in server.calls if call.body["model"].startswith(who))
            for who in ("writer", "judge")
        )
        assert (writer["authorization"], writer["x-team"]) == (f"Bearer {plain[0]}", secrets["TEST_HEADER"])
        assert (judge["authorization"], judge["x-team"]) == (f"Bearer {plain[1]}", "k3y-77")
    left = [*bench.folder.rglob("*"), *Path(bench.environment["PREFECT_HOME"]).rglob("*")]
    found = {
        (secret, path)
        for path in left
        if path.is_file()
        for data in [path.read_bytes()]
        for secret in told
        if secret.encode() in data
    }
    assert not found
    assert not [secret for secret in told if secret in done.out + done.err]
    stored = b"".join(path.read_bytes() for path in (bench.results / "completions").iterdir())
    assert stored.count(b"[key]") >= len(told)


def test_settings_with_a_secret_of_the_environment_leave_nothing(bench, endpoint):
    """The judge's key in a writer's parameters would be stored with the writer's every reply."""
    words = remote(endpoint, "judge.api_key_env=JUDGE_KEY", "model.parameters.user=sk-judge-9876543210")
    done = bench("run", *words, JUDGE_KEY="sk-judge-9876543210")
    assert done.code == 2
    assert "model: contains a key, header or password from the environment" in done.err
    assert endpoint.calls == []
    left = b"".join(path.read_bytes() for path in bench.results.rglob("*") if path.is_file())
    assert b"sk-judge" not in left


def test_without_its_key_nothing_runs(bench, endpoint):
    done = bench("run", *remote(endpoint, "model.api_key_env=NO_SUCH_KEY"))
    assert done.code == 1
    assert "NO_SUCH_KEY" in done.err
    assert endpoint.calls == []


def test_an_endpoint_that_is_not_there_is_said_once(bench, endpoint):
    overrides = remote(endpoint, "model.api_base=http://127.0.0.1:9/v1", "runner.max_attempts=2")
    done = bench("run", *overrides)
    assert done.code == 1
    assert "127.0.0.1:9" in done.err
    assert done.err.count("Check that the endpoint runs") == 1
    assert "Traceback" not in done.err


def test_a_judge_of_the_same_name_needs_leave(bench, endpoint):
    done = bench("run", *remote(endpoint, "judge.name=writer-1"))
    assert done.code == 2
    assert "judge.allow_self" in done.err
    assert endpoint.calls == []
