"""Reports of local writers, with their pages, for `staffbench plan`."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from flows.pipeline.inputs.submission_check import check_report
from flows.pipeline.native.renders import Renders
from flows.pipeline.work.remote_judge import all_pages
from flows.pipeline.work.report_writers import local_report
from flows.schema.brief import BriefStatus
from flows.schema.completion import Image
from flows.schema.document import Packet
from flows.schema.scenario import Scenario
from flows.schema.settings import JudgeHarness, Settings
from flows.stages.generate import Written


def planned_report(
    project: Path, settings: Settings, scenario: Scenario, packet: Packet, seed: int
) -> tuple[Written, Sequence[Image], Sequence[Image]]:
    """Build the report as its judge would see it: text, and pages if the judge takes images.

    Returns:
        Report, its pages and the expert's; status `missing` and no pages if the judge would not be asked.
    """
    data = local_report(project, settings, scenario, packet, seed)
    if data is None:
        return Written(seed, BriefStatus.missing, None), (), ()
    with tempfile.TemporaryDirectory(prefix="plan-") as folder:
        path = Path(folder) / "report.docx"
        path.write_bytes(data)
        text = check_report(path).text
    if text is None:
        return Written(seed, BriefStatus.missing, None), (), ()
    pages: Sequence[Image] = ()
    expert: Sequence[Image] = ()
    if settings.judge.takes_images and settings.judge.harness is JudgeHarness.single_call:
        renders = Renders(project / settings.results / settings.benchmark.name / "renders")
        pages, expert = asyncio.run(all_pages(renders, scenario, f"{scenario.scenario_id}/{seed}", data))
    return Written(seed, BriefStatus.written, text), pages, expert
