"""Attempts a minute of the native harness, and what rendering pages costs: figures of speed.md. No test.

    python tests/benchmarks/attempts.py --folder /tmp/attempts [--seeds 4] [--delay 1.0]

Runs `staffbench run benchmark=mission_report` on all tasks against a loopback endpoint that answers after
`--delay` seconds and works like a careful model: it lists the files, reads two, starts from the task's form
where there is one, fills every place, checks the report and stops: eight replies an attempt. Then the same
again from the store; and the same once more in another folder without LibreOffice on the path.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # `tests` is no installed package

from tests.support.scripted_server import Call, Say, ScriptedServer

PROJECT = Path(__file__).parents[2]
PLACE = re.compile(r"\b((?:[psx]\d+|t\d+r\d+c\d+(?:p\d+)?))\b")
USAGE = {"prompt_tokens": 4000, "completion_tokens": 100, "total_tokens": 4100}


def tool(number: int, name: str, **arguments: object) -> Say:
    """A reply that calls one tool."""
    call = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": f"c{number}", "type": "function", "function": call}]
    return Say(None, finish="tool_calls", usage=USAGE, message={"tool_calls": calls})


def careful(call: Call, delay: float) -> Say:
    """What the model does next, from how many replies it has given."""
    messages = call.body["messages"]
    number = sum(message["role"] == "assistant" for message in messages)
    last = str(messages[-1]["content"])
    asked = " ".join(str(message["content"]) for message in messages[:2])
    files = sorted(set(re.findall(r"^- (attachments/\S+)$", asked, re.MULTILINE)))
    forms = [name for name in files if "template" in name and name.endswith(".docx")]
    match number:
        case 0:
            said = tool(0, "list_files")
        case 1 | 2:
            said = tool(number, "read_file", path=files[min(number - 1, len(files) - 1)])
        case 3:
            said = tool(3, "start_report", **({"template": forms[0]} if forms else {}))
        case 4:
            said = tool(4, "show_report")
        case 5 if place := next(iter(PLACE.findall(last)), None):
            said = tool(5, "insert", after=place, blocks=[{"kind": "paragraph", "text": "Four of nine."}])
        case 5:
            said = tool(5, "insert", blocks=[{"kind": "paragraph", "text": "Four of nine."}])
        case 6:
            said = tool(6, "check_report")
        case _:
            said = Say("The report is finished.", usage=USAGE)
    return Say(said.text, said.finish, said.usage, delay, message=said.message)


def run(results: Path, base: str, seeds: int, environment: dict[str, str]) -> tuple[float, float, str]:
    """Wall seconds, CPU seconds of the run's processes, and the line that counts calls."""
    command = [
        *(sys.executable, "-m", "flows", "run", "benchmark=mission_report", f"results={results}"),
        *("model=openai_compatible", "model.name=scripted", f"model.api_base={base}"),
        *("model.takes_tools=true", f"seeds={seeds}", "tracking.enabled=false"),
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    last = [line for line in done.stderr.splitlines() if line.startswith("100%")]
    return seconds, cpu, last[-1] if last else ""


def without_office(folder: Path) -> dict[str, str]:
    """An environment whose path holds everything but LibreOffice."""
    tools = folder / "bin"
    tools.mkdir(parents=True, exist_ok=True)
    for place in os.environ["PATH"].split(os.pathsep):
        for file in Path(place).iterdir() if Path(place).is_dir() else ():
            link = tools / file.name
            if file.name not in ("soffice", "libreoffice") and not os.path.lexists(link):
                link.symlink_to(file)
    return {**os.environ, "PATH": str(tools)}


def main() -> None:
    """Run the three and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="scratch; emptied first")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--delay", type=float, default=1.0)
    parsed = parser.parse_args()
    shutil.rmtree(parsed.folder, ignore_errors=True)
    plain = without_office(parsed.folder)
    cases = [
        ("with LibreOffice", "office", dict(os.environ)),
        ("the same from the store", "office", dict(os.environ)),
        ("without LibreOffice", "plain", plain),
    ]
    with ScriptedServer(lambda call: careful(call, parsed.delay)) as server:
        for name, folder, environment in cases:
            server.calls.clear()
            seconds, cpu, line = run(parsed.folder / folder, server.base, parsed.seeds, environment)
            attempts = 5 * parsed.seeds
            print(
                f"{name}: {seconds:.1f} s for {attempts} attempts and {len(server.calls)} calls, "
                f"{60 * attempts / seconds:.0f} attempts a minute, start-up included; CPU {cpu:.1f} s"
            )
            print(f"  {line}")


if __name__ == "__main__":
    main()
