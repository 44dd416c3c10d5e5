"""How long a sweep takes against an endpoint that answers after a second. Not a test: it prints.

    python tests/benchmarks/sweep.py --endpoint PATH/endpoint.py [--conditions 10] [--seeds 3]

Ten synthetic scenarios with packets of 36k to 243k characters and 74 to 170 items, the span that
MA-Bench publishes (arXiv 2610.19138, section 4). Every condition is another writer behind one
endpoint; the judge is a model behind it too. `--endpoint` is a script that takes `--port --latency
--log` and speaks the OpenAI chat protocol.
"""

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import yaml

SIZES = [36_000, 52_000, 68_000, 84_000, 101_000, 123_000, 148_000, 176_000, 208_000, 243_000]
ITEMS = [74, 92, 101, 112, 123, 131, 143, 149, 162, 170]
DOCUMENTS = 10
PLACES = ["the ford", "the depot", "Route Amber", "the north bridge", "the junction", "the berm"]
UNITS = ["the engineer company", "the second battalion", "the relief column", "the police post", "the patrol"]
SEVERITIES = ["critically_important", "important", "important", "slightly_important", "detrimental"]
STEPS = [
    "higher_guidance",
    "tasks",
    "facts",
    "assumptions",
    "limitations",
    "environment",
    "centers_of_gravity",
    "objectives",
    "forces",
    "risk",
    "ccir",
    "mission_statement",
]


def sentence(rnd):
    return (
        f"At {rnd.randrange(24):02}{rnd.randrange(60):02}Z {rnd.choice(UNITS)} reached {rnd.choice(PLACES)} "
        f"with {rnd.randrange(2, 60)} people and {rnd.randrange(1, 14)} vehicles."
    )


def write_scenarios(folder: Path) -> None:
    for number, (size, n_items) in enumerate(zip(SIZES, ITEMS, strict=True), 1):
        rnd = random.Random(number)
        name = f"s{number:02}"
        documents = folder / name / "documents"
        documents.mkdir(parents=True)
        names = [f"{d:02}-report.txt" for d in range(1, DOCUMENTS + 1)]
        quote = ""
        for document in names:
            text = ""
            while len(text) < size // DOCUMENTS:
                text += sentence(rnd) + " "
            (documents / document).write_text(text, encoding="utf-8")
            quote = quote or text.split(". ")[0]
        items = [
            {
                "item_id": f"i{i:03}",
                "step": STEPS[i % 12],
                "tier": 1 + i % 3,
                "severity": SEVERITIES[i % 5],
                "requirement": f"States that {sentence(rnd)}",
                "ground_truth": sentence(rnd),
                "pass_condition": "All figures are right.",
                "fail_condition": "Anything else.",
                "source": [{"document": names[0], "quote": quote}],
                "rationale": "synthetic",
            }
            for i in range(n_items)
        ]
        head = {
            "scenario_id": name,
            "title": name,
            "synthetic": True,
            "licence": "CC-BY-4.0",
            "notice": "synthetic",
            "assignment": "Write the brief.",
            "documents": names,
        }
        (folder / name / "scenario.yaml").write_text(yaml.safe_dump(head), encoding="utf-8")
        (folder / name / "rubric.yaml").write_text(yaml.safe_dump(items), encoding="utf-8")


def wait_for(url: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(url, timeout=1).read()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit(f"{url} does not answer")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def role(process: psutil.Process) -> str:
    """What a process does: by what was started."""
    command = " ".join(process.cmdline())
    names = {"orchestration.server": "server", "resource_tracker": "", "spawn_main": "workers"}
    return next((name for part, name in names.items() if part in command), "tracker")


def measure(command, environment) -> dict[str, float]:
    """Wall and CPU seconds, and the peak of resident memory, of a command and all that it starts."""
    started = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    main = psutil.Process(process.pid)
    peak_all = 0
    cpu: dict[int, float] = {}
    peak: dict[int, int] = {}
    roles = {main.pid: "run"}
    while process.poll() is None:
        total = 0
        try:
            for one in [main, *main.children(recursive=True)]:
                memory = one.memory_info().rss
                times = one.cpu_times()
                if one.pid not in roles or cpu.get(one.pid, 0) < 1:  # it may not have begun
                    roles[one.pid] = "run" if one.pid == main.pid else role(one)
                cpu[one.pid] = times.user + times.system
                peak[one.pid] = max(peak.get(one.pid, 0), memory)
                total += memory
        except psutil.Error:
            continue
        peak_all = max(peak_all, total)
        time.sleep(0.05)
    out = process.communicate()[0]
    if process.returncode:
        raise SystemExit(f"failed with {process.returncode}:\n{out}")
    found: dict[str, float] = {"wall_s": round(time.monotonic() - started, 2)}
    found["cpu_all_s"] = round(sum(cpu.values()), 2)
    found["peak_all_mb"] = peak_all >> 20
    for name in dict.fromkeys(filter(None, roles.values())):
        those = [pid for pid, which in roles.items() if which == name]
        found[f"cpu_{name}_s"] = round(sum(cpu.get(pid, 0.0) for pid in those), 2)
        found[f"peak_{name}_mb"] = max(peak.get(pid, 0) for pid in those) >> 20
    return found


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of the options that say which calls are made."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--endpoint", type=Path, required=True)
    parser.add_argument("--endpoint-python", default=sys.executable)
    parser.add_argument("--conditions", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--concurrency", type=int, default=100)
    return parser


@contextmanager
def answering(options: argparse.Namespace, log: Path) -> Iterator[str]:
    """Run the endpoint, which logs its calls; give its address."""
    port = free_port()
    command = [options.endpoint_python, str(options.endpoint), "--port", str(port)]
    command += ["--latency", str(options.latency), "--log", str(log)]
    endpoint = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        wait_for(f"http://127.0.0.1:{port}/stats")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        endpoint.terminate()


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--folder", type=Path, help="keep everything here (default: a temporary folder)")
    parser.add_argument("--again", type=int, default=1, help="how often the same command is run again")
    parser.add_argument("--more", nargs="*", default=[], help="further overrides, such as runner=dask")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="staffbench-"))
    if not (folder / "scenarios").is_dir():
        write_scenarios(folder / "scenarios")
    log = folder / "calls.jsonl"
    with answering(options, log) as base:
        writers = ",".join(f"writer-{i:02}" for i in range(1, options.conditions + 1))
        command = [sys.executable, "-m", "flows", "run", "-m", f"benchmark.data={folder / 'scenarios'}"]
        command += [f"results={folder / 'results'}", "model=openai_compatible", f"model.name={writers}"]
        command += [f"model.api_base={base}", "judge=openai_compatible", "judge.name=judge-01"]
        command += [
            f"judge.api_base={base}",
            f"seeds={options.seeds}",
            f"runner.concurrency={options.concurrency}",
            *options.more,
        ]
        briefs = len(SIZES) * options.seeds * options.conditions
        for number in range(1 + options.again):
            calls_before = sum(1 for _ in log.open()) if log.exists() else 0
            figures = measure(command, dict(os.environ))
            calls = [json.loads(line) for line in log.open()][calls_before:] if log.exists() else []
            print(json.dumps({"run": number + 1, "briefs": briefs, "calls": len(calls), **figures}))
            if calls:
                first = min(call["t"] for call in calls)
                last = max(call["t"] for call in calls) + options.latency
                floor = len(calls) / options.concurrency * options.latency
                share = (last - first) / floor
                print(
                    json.dumps(
                        {
                            "first_to_last_s": round(last - first, 2),
                            "floor_s": floor,
                            "ratio": round(share, 2),
                        }
                    )
                )


if __name__ == "__main__":
    main()
