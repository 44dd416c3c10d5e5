"""staffbench rubric: a rubric goes out as a spreadsheet and comes back, or a published one comes in."""

import json
import re
from datetime import time

import openpyxl
import pytest
import yaml

from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, Problems
from flows.pipeline.commands.own.rubric import export_rubric, import_rubric
from flows.pipeline.commands.report import report
from tests.adapters.test_rubrics import HEALTHBENCH, MISSION_REPORT, PRBENCH
from tests.pipeline.test_own_dimensions import here as _own
from tests.support.plain_flow import run_here

own = _own


def rubric(here):
    return here.folder / "data" / "handover" / "ward_3" / "rubric.yaml"


def test_a_rubric_edited_in_a_spreadsheet_replaces_the_old_one(own, capsys):
    sheet = own.folder / "mine.xlsx"
    assert export_rubric(own.folder, ["benchmark=handover"], "ward_3", sheet, Screen()) == 0
    book = openpyxl.load_workbook(sheet)
    book["Items"]["F2"] = "Bed 4 has a high fever."
    book.save(sheet)
    before = yaml.safe_load(rubric(own).read_text())
    assert import_rubric(own.folder, ["benchmark=handover"], "ward_3", sheet, Screen()) == 0
    after = yaml.safe_load(rubric(own).read_text())
    assert after[0].pop("requirement") == "Bed 4 has a high fever."
    before[0].pop("requirement")
    assert after == before
    assert "no item has a tier: tables have no rows by tier" in capsys.readouterr().out


def test_faults_of_many_rows_are_one_line_and_nothing_is_written(own):
    sheet = own.folder / "mine.xlsx"
    export_rubric(own.folder, ["benchmark=handover"], "ward_3", sheet, Screen())
    book = openpyxl.load_workbook(sheet)
    for row in (2, 3, 4):
        book["Items"][f"D{row}"] = "fatal"
    book["Items"]["A3"] = "h1"
    book.save(sheet)
    before = rubric(own).read_bytes()
    with pytest.raises(Problems) as caught:
        import_rubric(own.folder, ["benchmark=handover"], "ward_3", sheet, Screen())
    (line,) = [line for line in str(caught.value).splitlines() if "fatal" in line]
    assert (
        "Items!D2, Items!D3, Items!D4: severity: 'fatal'; expected vital, or another of useful, harmful"
        in line
    )
    assert rubric(own).read_bytes() == before


def test_one_id_twice_names_both_cells(own):
    sheet = own.folder / "mine.csv"
    export_rubric(own.folder, ["benchmark=handover"], "ward_3", sheet, Screen())
    sheet.write_text(sheet.read_text("utf-8").replace("h2,", "h1,"), encoding="utf-8")
    with pytest.raises(Problems, match=r"row 3, column 1: item_id: 'h1', as in row 2, column 1"):
        import_rubric(own.folder, ["benchmark=handover"], "ward_3", sheet, Screen())


PUBLISHED = [
    (HEALTHBENCH, "[context_awareness, accuracy]", 5.0),
    (PRBENCH, "[legal_accuracy]", 9.0),
    (MISSION_REPORT, "[]", 3.0),
]
LACKING = "[step, tier, severity, ground_truth, pass_condition, fail_condition, source, rationale]"


@pytest.mark.parametrize(("value", "steps", "total"), PUBLISHED, ids=["health", "pr", "mission"])
def test_a_published_rubric_runs_end_to_end(own, value, steps, total):
    conf = own.folder / "conf" / "benchmark" / "handover.yaml"
    text = conf.read_text().replace("/scoring: handover", "/scoring: points")
    text = text.replace("[situation, open_tasks]", steps).replace("[tier, rationale]", LACKING)
    conf.write_text(text)
    file = own.folder / "published.json"
    file.write_text(json.dumps(value))
    assert import_rubric(own.folder, ["benchmark=handover"], "ward_3", file, Screen()) == 0
    assert run_here(own.folder, "benchmark=handover", "model=empty", "seeds=1", "tracking=none") == 0
    (row,) = json.loads((own.results / "handover" / "leaderboard.json").read_text())["rows"]
    assert row["score"] == 0
    assert report(own.folder, ["benchmark=handover"], Screen()) == 0
    items = yaml.safe_load(rubric(own).read_text())
    assert sum(item["points"] for item in items if item["points"] > 0) == total


def test_what_a_published_rubric_lacks_is_said_once_with_what_to_write(own):
    file = own.folder / "published.json"
    file.write_text(json.dumps(HEALTHBENCH))
    with pytest.raises(ConfigError) as caught:
        import_rubric(own.folder, ["benchmark=handover"], "ward_3", file, Screen())
    said = str(caught.value)
    block = said[said.index("  dimensions:\n") :]
    conf = own.folder / "conf" / "benchmark" / "handover.yaml"
    text = conf.read_text().replace("/scoring: handover", "/scoring: points")
    before, _, after = text.partition("  dimensions:\n")
    kept = re.sub(r"\A(    .*\n)+", "", after)
    conf.write_text(f"{before}{block}\n{kept}")
    assert import_rubric(own.folder, ["benchmark=handover"], "ward_3", file, Screen()) == 0  # as it was said


def test_faults_of_cells_values_ids_and_quotes_are_named_together(own):
    sheet = own.folder / "mine.xlsx"
    export_rubric(own.folder, ["benchmark=handover"], "ward_3", sheet, Screen())
    book = openpyxl.load_workbook(sheet)
    items = book["Items"]
    names = {cell.value: cell.column_letter for cell in items[1]}
    document, _, _ = items[f"{names['source']}2"].value.partition(":")
    items[f"{names['source']}2"] = f"{document}: no such words at all"
    items[f"{names['source']}3"] = None
    items[f"{names['severity']}3"] = "vitel"
    items[f"{names['ground_truth']}4"] = time(14, 30)
    items[f"{names['item_id']}4"] = items["A3"].value
    items["L1"] = "colour"
    book.save(sheet)
    with pytest.raises(Problems) as caught:
        import_rubric(own.folder, ["benchmark=handover"], "ward_3", sheet, Screen())
    said = str(caught.value)
    assert len(caught.value.lines) == 6
    assert f"Items!{names['source']}2: source: quote not found in {document}" in said
    assert f"Items!{names['source']}3: source: missing" in said
    assert "severity: 'vitel'; expected vital, or another of" in said
    assert f"Items!{names['ground_truth']}4: ground_truth: a time, 14:30:00; expected a text" in said
    assert "Items!A4: item_id: 'h2', as in Items!A3" in said
    assert "Items!L1: 'colour'" in said


def test_classes_are_taken_in_any_case_and_tiers_by_name(own):
    sheet = own.folder / "mine.csv"
    export_rubric(own.folder, ["benchmark=handover"], "ward_3", sheet, Screen())
    before = rubric(own).read_bytes()
    sheet.write_text(
        sheet.read_text("utf-8").replace("open_tasks", "Open tasks").replace("vital", "VITAL"), "utf-8"
    )
    assert import_rubric(own.folder, ["benchmark=handover"], "ward_3", sheet, Screen()) == 0
    assert yaml.safe_load(rubric(own).read_text()) == yaml.safe_load(before)


def test_a_scenario_that_is_not_there_is_named_with_those_that_are(own):
    made = r"one of these: ward_3. First make it: staffbench new handover/ward_4"
    with pytest.raises(ConfigError, match=rf"ward_4: no such scenario .*{made}"):
        export_rubric(own.folder, ["benchmark=handover"], "ward_4", own.folder / "a.csv", Screen())
    with pytest.raises(ConfigError, match=r"none yet. First make it: staffbench new mission_report/x"):
        export_rubric(own.folder, ["benchmark=mission_report"], "x", own.folder / "a.csv", Screen())
