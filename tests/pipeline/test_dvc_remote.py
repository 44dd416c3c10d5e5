"""A remote of one's own behind a server that speaks S3: docs/how-to/data.md, in two clones."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.s3 import s3_server


@pytest.fixture
def dvc(project):
    """DVC with its S3 plugin, which `make dvc-s3` installs beside us; it needs another botocore."""
    path = project / ".dvc-s3" / "bin" / "dvc"
    if not path.exists():
        pytest.skip("no DVC with S3: make dvc-s3")
    return path


@pytest.mark.slow
def test_what_one_clone_pushes_another_pulls(tmp_path, dvc):
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    with s3_server() as s3:
        staffbench = [sys.executable, "-m", "flows"]
        variables = {**os.environ, **s3.environment, "DVC_NO_ANALYTICS": "1", "HOME": str(tmp_path)}
        variables["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{variables['PATH']}"  # of staffbench

        def run(command, folder=mine):
            done = subprocess.run(
                command, cwd=folder, env=variables, text=True, capture_output=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
            return done.stdout

        run([*staffbench, "new", "mybench"])
        for name, value in {"user.name": "nobody", "user.email": "nobody@example.org"}.items():
            run(["git", "config", "--global", name, value])
        run(["git", "init", "--quiet"])
        run([dvc, "init", "--quiet"])
        values = mine / "data" / "mybench" / "params.yaml"
        values.write_text(values.read_text("utf-8").replace("models: null", "models: [weak]"), "utf-8")
        run([*staffbench, "track", "benchmark=mybench"])
        run([sys.executable, "-m", "dvc", "repro", "data/mybench/dvc.yaml"])
        run([*staffbench, "track", "benchmark=mybench"])
        run([dvc, "remote", "add", "--default", "remote", s3.bucket()])
        run([dvc, "remote", "modify", "remote", "endpointurl", s3.environment["AWS_ENDPOINT_URL"]])
        assert "files pushed" in run([dvc, "push"])
        run(["git", "add", "--all"])
        run(["git", "commit", "--quiet", "--message", "Grade the example"])

        run(["git", "clone", "--quiet", mine, other])
        assert not list(other.rglob("*.parquet"))
        assert "files fetched" in run([dvc, "pull"], other)
    tables = {path.relative_to(mine) for path in mine.rglob("results/mybench/verdicts/**/*.parquet")}
    assert tables
    for path in tables:
        assert (other / path).read_bytes() == (mine / path).read_bytes()
