"""The calls of `sweep.py` made by inspect_ai or by bare aiohttp, for comparison. Not a test: it prints.

    python tests/benchmarks/sweep_others.py --endpoint PATH/endpoint.py [--by aiohttp] [--conditions 10]

In inspect_ai each condition is a model of one task: a sample is a scenario and a seed, its scorer one call of
a judge. The limit of calls in flight is inspect_ai's, for each model. aiohttp only sends the calls and parses
the replies: what remains is the least that a process in Python computes for them.
"""

import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path

import yaml

from tests.benchmarks.sweep import SIZES, answering, measure, parser_of, write_scenarios

_ARM = "SWEEP_ARM"  # set in the process that is measured


def packet(folder: Path) -> str:
    """Return the documents of a scenario as one text."""
    texts = [path.read_text(encoding="utf-8") for path in sorted((folder / "documents").iterdir())]
    return "\n\n".join(texts)


def rubric(folder: Path) -> str:
    """Return the items as the endpoint's judge reads them."""
    items = yaml.safe_load((folder / "rubric.yaml").read_text(encoding="utf-8"))
    return "\n".join(_element(item) for item in items)


def _element(item: dict[str, str]) -> str:
    kind = "error" if item["severity"] == "detrimental" else "requirement"
    return f'<item id="{item["item_id"]}" kind="{kind}">{item["requirement"]}</item>'


def run_aiohttp(scenarios: Path, _logs: Path, options: dict[str, int]) -> None:
    """Make the calls in this process, by a bare client."""
    import aiohttp

    folders = sorted(scenarios.iterdir())
    packets = {folder.name: packet(folder) for folder in folders}
    rubrics = {folder.name: rubric(folder) for folder in folders}
    slots = asyncio.Semaphore(options["concurrency"])

    async def reply(session: aiohttp.ClientSession, model: str, prompt: str) -> str:
        body = {"model": model, "messages": [{"role": "user", "content": prompt}]}
        async with slots, session.post(f"{os.environ['LOCAL_BASE_URL']}/chat/completions", json=body) as got:
            got.raise_for_status()
            return (await got.json())["choices"][0]["message"]["content"]

    async def grade(session: aiohttp.ClientSession, number: int, name: str, seed: int) -> None:
        prompt = f"Write the brief. Repeat {seed}.\n\n{packets[name]}"
        brief = await reply(session, f"writer-{number:02}", prompt)
        answer = json.loads(await reply(session, "judge-01", f"{rubrics[name]}\n\nBRIEF\n{brief}"))
        assert 0 <= len(answer["failed"]) <= answer["items"]

    async def make_calls() -> None:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:
            numbers, seeds = range(1, options["conditions"] + 1), range(1, options["seeds"] + 1)
            await asyncio.gather(
                *(
                    grade(session, number, folder.name, seed)
                    for number in numbers
                    for folder in folders
                    for seed in seeds
                )
            )

    asyncio.run(make_calls())


def run_inspect(scenarios: Path, logs: Path, options: dict[str, int]) -> None:
    """Run the evaluation in this process, by inspect_ai."""
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import get_model
    from inspect_ai.scorer import Score, mean, scorer
    from inspect_ai.solver import generate

    folders = sorted(scenarios.iterdir())
    rubrics = {folder.name: rubric(folder) for folder in folders}
    samples = [
        Sample(
            input=f"Write the brief. Repeat {seed}.\n\n{packet(folder)}",
            id=f"{folder.name}-{seed}",
            metadata={"scenario": folder.name},
        )
        for folder in folders
        for seed in range(1, options["seeds"] + 1)
    ]

    @scorer(metrics=[mean()])
    def judged():
        judge = get_model("openai-api/local/judge-01")

        async def score(state, target):
            found = await judge.generate(
                f"{rubrics[state.metadata['scenario']]}\n\nBRIEF\n{state.output.completion}"
            )
            answer = json.loads(found.completion)
            return Score(value=1 - len(answer["failed"]) / answer["items"], explanation=found.completion)

        return score

    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=judged())
    done = evaluate(
        task,
        model=[f"openai-api/local/writer-{number:02}" for number in range(1, options["conditions"] + 1)],
        max_connections=options["concurrency"],
        max_samples=options["concurrency"],
        max_tasks=min(options["conditions"], 10),
        log_dir=str(logs),
        display="none",
    )
    if not all(log.status == "success" for log in done):
        raise SystemExit("inspect_ai did not finish")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--by", choices=("inspect", "aiohttp"), default="inspect")
    options = parser.parse_args()
    numbers = {name: getattr(options, name) for name in ("conditions", "seeds", "concurrency")}
    if folder := os.environ.get(_ARM):
        run = run_aiohttp if options.by == "aiohttp" else run_inspect
        run(Path(folder) / "scenarios", Path(folder) / "logs", numbers)
        return
    folder = Path(tempfile.mkdtemp(prefix="staffbench-"))
    write_scenarios(folder / "scenarios")
    log = folder / "calls.jsonl"
    with answering(options, log) as base:
        environment = {**os.environ, _ARM: str(folder), "LOCAL_API_KEY": "none", "LOCAL_BASE_URL": base}
        figures = measure([sys.executable, "-m", "tests.benchmarks.sweep_others", *sys.argv[1:]], environment)
        calls = [json.loads(line) for line in log.open()]
        briefs = len(SIZES) * options.seeds * options.conditions
        floor = 2 * briefs / options.concurrency * options.latency
        seconds = max(call["t"] for call in calls) + options.latency - min(call["t"] for call in calls)
        print(json.dumps({"briefs": briefs, "calls": len(calls), **figures}))
        print(json.dumps({"first_to_last_s": round(seconds, 2), "floor_s": floor, "ratio": seconds / floor}))


if __name__ == "__main__":
    main()
