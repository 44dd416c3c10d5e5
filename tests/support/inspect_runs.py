"""Evaluations by Inspect in a process of their own: it leaves warnings behind that pytest makes errors.

    python -m tests.support.inspect_runs '[{"task": "staffbench/ma_bench", "model": ..., ...}]'

It prints the path of each log, as JSON.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

MODEL = "openai-api/test/writer-1"
JUDGE = "openai-api/test/judge-1"


def evaluate(folder, base, *runs):
    """Run evaluations in `folder` against an endpoint; return their logs' paths.

    Each of `runs` holds arguments of `inspect_ai.eval`; the model and the judge are behind the endpoint.
    """
    wanted = [
        {"model": MODEL, "model_roles": {"judge": JUDGE}, "log_dir": str(folder / "logs"), **run}
        for run in runs
    ]
    done = subprocess.run(
        [sys.executable, "-m", __spec__.name, json.dumps(wanted)],
        cwd=folder,
        env={
            **os.environ,
            "TEST_API_KEY": "none",
            "TEST_BASE_URL": base,
            "PYTHONPATH": str(Path(__file__).parents[2]),
        },
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def main():
    import inspect_ai

    logs = []
    for run in json.loads(sys.argv[1]):
        task = run.pop("task")
        logs += [log.location for log in inspect_ai.eval(task, display="none", **run)]
    print(json.dumps(logs))  # noqa: T201 -- it talks to the test


if __name__ == "__main__":
    main()
