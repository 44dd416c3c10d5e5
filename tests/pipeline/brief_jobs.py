"""Jobs of Harbor whose trials are attempts at exported MA-Bench scenarios."""

import functools

from flows.adapters.screen import Screen
from flows.adapters.tables import BRIEFS, SCORES, VERDICTS, read_table, table_files
from flows.pipeline.harbor.export import export
from flows.pipeline.harbor.jobs.imported import import_job
from flows.pipeline.harbor.verify import verify
from flows.schema.verdict import Verdict, VerdictStatus
from tests.support.bench import write_scenario
from tests.support.harbor_trees import PLAIN, STEPS, copy_job, edit, make_brief

STRONG = "The relief column has 412 soldiers. The bridge at Kerrin carries at most 30 tonnes."


def judge(**outcomes):
    """Passes everything but what `outcomes` say; None stands for no verdict."""

    async def grade(project, point, scenario, brief, report):
        return [
            Verdict(
                scenario.scenario_id,
                1,
                item.item_id,
                VerdictStatus.refused if outcomes.get(item.item_id, True) is None else VerdictStatus.graded,
                outcomes.get(item.item_id, True),
                reason=f"of {item.item_id}",
            )
            for item in scenario.items
        ]

    return grade


def write_scenarios(folder):
    for name, strength in (("alder", 412), ("birch", 730)):
        write_scenario(folder, name, strength)


def verifying(project, folder):
    """A function that gives what our verifier leaves on a brief, at a cap of ten words.

    Its judge says `outcomes`. Equal briefs of a task are verified once.
    """
    write_scenarios(folder / "data")
    words = [f"benchmark.data={folder / 'data'}", "benchmark.name=ma_bench", "word_cap=10"]
    export(project, words, folder / "out", install=None, screen=Screen())

    @functools.cache
    def make(task, brief, outcomes):
        own = folder / f"{make.cache_info().misses}"
        own.mkdir()
        if brief is not None:
            (own / "brief.md").write_text(brief)
        tests = folder / "out" / task / "tests"
        verify([], own / "brief.md", tests, own / "logs", Screen(), grade=judge(**dict(outcomes)))
        return own / "logs"

    return lambda task, brief, outcomes: make(task, brief, tuple(outcomes.items()))


class Jobs:
    """Makes jobs of the scenarios alder and birch."""

    def __init__(self, project, folder, verified):
        self.project, self.folder, self.verified = project, folder, verified
        write_scenarios(folder / "data")
        self.overrides = [
            f"benchmark.data={folder / 'data'}",
            "benchmark.name=ma_bench",
            f"results={folder / 'results'}",
        ]

    def attempts(self, job, trials, task, attempts):
        """Turn trials into attempts: the brief, and what the judge says; None for no verifier."""
        for trial, (brief, outcomes) in zip(trials, attempts, strict=True):
            left = None if outcomes is None else self.verified(task, brief, outcomes)
            make_brief(job / trial, task, brief, left)

    def job(self, version):
        """Four attempts at each: one is missing, one is empty, one has no verdict, one no verifier."""
        job = copy_job(version, self.folder / "jobs")
        wrong = dict.fromkeys(("strength", "bridge", "cholera"), False)
        alder = [(STRONG, {}), ("Cholera is confirmed.", wrong), (None, {}), (STRONG, {"bridge": None})]
        birch = [(STRONG, {"bridge": False}), ("***\n", {}), ("Of birch.", wrong), (STRONG, None)]
        self.attempts(job, STEPS[version], "alder", alder)
        self.attempts(job, PLAIN[version], "birch", birch)
        return job

    def imported(self, job, code=4):
        """The tables of each benchmark: kind to (rows, about) of each file."""
        assert import_job(self.project, self.overrides, job, Screen()) == code
        schemas = {"briefs": BRIEFS, "verdicts": VERDICTS, "scores": SCORES}
        return {
            folder.name: {
                kind: [read_table(path, schema) for path in table_files(folder / kind)]
                for kind, schema in schemas.items()
            }
            for folder in sorted((self.folder / "results").iterdir())
            if folder.name not in (".lock", "renders", "reports") and not folder.name.startswith(".")
        }


def change_judgments(job, trials, **changes):
    """Change what the verifier of an attempt at each of these trials wrote."""
    for trial in trials:
        (path,) = (job / trial).rglob("judgment.json")
        edit(path, lambda judgment: judgment.update(changes))
