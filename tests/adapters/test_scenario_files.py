"""A scenario's files: every fault named, all of them together."""

import csv
import shutil

import pytest
import yaml

from flows.adapters.scenario_files import load_scenario, scenario_ids
from flows.common.errors import ConfigError, Problems
from flows.schema.scenario import Dimensions, Severity

HEAD = {
    "scenario_id": "s",
    "title": "A test",
    "synthetic": True,
    "licence": "CC-BY-4.0",
    "notice": "Invented.",
    "assignment": "Write it.",
    "documents": ["01-order.txt"],
}


def item(item_id="i1", **changes):
    return {
        "item_id": item_id,
        "step": "facts",
        "tier": 1,
        "severity": "important",
        "requirement": "States the strength",
        "ground_truth": "The strength is 40.",
        "pass_condition": "The figure is right.",
        "fail_condition": "Anything else.",
        "source": [{"document": "01-order.txt", "quote": "strength 40"}],
        "rationale": "It sizes the lift.",
        **changes,
    }


@pytest.fixture
def scenario(tmp_path):
    folder = tmp_path / "s"

    def write(head=HEAD, items=None, labels=None, documents=("01-order.txt",), rubric_text=None):
        (folder / "documents").mkdir(parents=True, exist_ok=True)
        for name in documents:
            (folder / "documents" / name).write_text("strength 40", encoding="utf-8")
        (folder / "scenario.yaml").write_text(yaml.safe_dump(head), encoding="utf-8")
        text = yaml.safe_dump([item()] if items is None else items) if rubric_text is None else rubric_text
        (folder / "rubric.yaml").write_text(text, encoding="utf-8")
        if labels is not None:
            (folder / "controls").mkdir(exist_ok=True)
            (folder / "controls" / "strong.md").write_text("Strength 40.", encoding="utf-8")
            with (folder / "controls" / "labels.csv").open("w", newline="") as file:
                csv.writer(file).writerows([("item_id", "strong"), *labels])
        return folder

    return write


def faults(folder):
    with pytest.raises(Problems) as caught:
        load_scenario(folder)
    return "\n".join(caught.value.lines)


def test_a_whole_scenario_is_read(scenario):
    found = load_scenario(scenario(labels=[("i1", "pass")]))
    assert found.items[0].severity == Severity.important
    assert found.items[0].source[0].quote == "strength 40"
    assert found.controls["strong"].labels == {"i1": True}


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ([item(), item()], "'i1' twice"),
        ([item(severity="fatal")], "critically_important"),
        ([item(step="weather")], "environment"),
        ([item(tier=4)], "1, 2, 3"),
        ([item(tier=True)], "tier: True"),
        ([item(requirement=" ")], "requirement"),
        ([item(severity="detrimental")], "no item of a positive severity"),
        ([item(source=[])], "source"),
        ([item(source=[{"document": "other.txt", "quote": "x"}])], "other.txt"),
        ([item(points=3)], "points: 3; expected a severity instead"),
        ([item(weight=3)], "weight: no such field"),
        ([{"item_id": "i1"}], "missing"),
        (["a line"], "a str"),
        ({"i1": item()}, "a list of items"),
    ],
)
def test_a_broken_rubric_is_refused_by_name(scenario, items, said):
    message = faults(scenario(items=items))
    assert said in message
    assert "rubric.yaml" in message


def test_a_misspelt_field_is_one_fault(scenario):
    changed = item()
    changed["rationael"] = changed.pop("rationale")
    (line,) = faults(scenario(items=[changed])).splitlines()
    assert "rationael: no such field" in line
    assert "rationale" in line.split("no such field")[1]


HANDOVER = Dimensions(
    steps=("situation", "open_tasks"),
    tiers=("stated", "inferred"),
    severities=("vital", "useful"),
    wrong_moves=("harmful",),
    optional=("tier", "severity", "pass_condition", "fail_condition", "source", "rationale", "ground_truth"),
)


def test_a_benchmark_has_dimensions_of_its_own(scenario):
    rows = [
        item(step="situation", tier=2, severity="vital"),
        item("i2", step="open_tasks", severity="harmful"),
        {"item_id": "i3", "step": "situation", "requirement": "Names the ward."},
        {"item_id": "i4", "step": "situation", "requirement": "Invents a drug.", "points": -4},
    ]
    found = load_scenario(scenario(items=rows[:2]), HANDOVER)
    assert [one.is_error for one in found.items] == [False, True]
    assert [one.severity for one in found.items] == ["vital", "harmful"]
    assert found.dimensions is HANDOVER
    found = load_scenario(scenario(items=rows[2:]), HANDOVER)
    assert [one.points for one in found.items] == [1.0, -4.0]
    assert [one.is_error for one in found.items] == [False, True]
    assert found.items[0].source == ()


def test_a_class_of_another_benchmark_is_refused(scenario):
    with pytest.raises(Problems, match="one of vital, useful, harmful"):
        load_scenario(scenario(items=[item(step="situation")]), HANDOVER)
    with pytest.raises(Problems, match="one of situation, open_tasks"):
        load_scenario(scenario(items=[item(severity="vital")]), HANDOVER)


def test_faults_of_all_files_are_told_together(scenario):
    message = faults(scenario(head={**HEAD, "documents": ["02-gone.pdf"]}, items=[item(tier=9)]))
    assert "02-gone.pdf" in message
    assert "tier" in message


@pytest.mark.parametrize("name", ["../secret.txt", "/etc/passwd", "a/b.txt"])
def test_a_document_outside_the_folder_is_refused(scenario, name):
    assert "plain file name" in faults(scenario(head={**HEAD, "documents": [name]}))


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([], "no label for i1"),
        ([("i1", "pass"), ("i2", "pass")], "unknown i2"),
        ([("i1", "pass"), ("i1", "fail")], "two labels for i1"),
        ([("i1", "yes")], "pass or fail"),
    ],
)
def test_labels_cover_each_item_once(scenario, labels, said):
    assert said in faults(scenario(labels=labels))


@pytest.mark.parametrize("text", ["- [", "\x00", ": :\n  - :"])
def test_a_file_that_is_no_yaml_is_named(scenario, text):
    assert "rubric.yaml" in faults(scenario(rubric_text=text))


def test_scenarios_are_found_by_name(scenario, tmp_path):
    scenario()
    assert scenario_ids(tmp_path, None) == ["s"]
    assert scenario_ids(tmp_path, ["s"]) == ["s"]
    with pytest.raises(ConfigError, match="one of s"):
        scenario_ids(tmp_path, ["t"])
    with pytest.raises(ConfigError, match="no such folder"):
        scenario_ids(tmp_path / "gone", None)


@pytest.mark.parametrize("name", ["strong.md", "labels.csv"])
def test_a_control_that_is_not_utf_8_is_named(scenario, name):
    folder = scenario(labels=[("i1", "pass")])
    (folder / "controls" / name).write_bytes(b"f\xfcr")
    assert f"{name}: not UTF-8 at byte 1" in faults(folder)


def test_a_misspelt_key_is_one_problem(tmp_path, project):
    shutil.copytree(project / "data/smoke/ferry_relief", tmp_path / "ferry_relief")
    rubric = tmp_path / "ferry_relief" / "rubric.yaml"
    text = rubric.read_text(encoding="utf-8")
    for key, written in (("requirement", "requirment"), ("severity", "sevrity"), ("source", "sources")):
        rubric.write_text(text.replace(f"  {key}:", f"  {written}:", 1), encoding="utf-8")
        with pytest.raises(Problems) as raised:
            load_scenario(tmp_path / "ferry_relief")
        (line,) = [line for line in raised.value.lines if "labels.csv" not in line]
        assert f"{written}: no such field; expected {key}" in line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "- item_id: i1\n  requirement: States: forty\n",
            (
                "rubric.yaml: not YAML: mapping values are not allowed in this context at line 2, column 22. "
                "A value with a colon and a space in it needs quotes"
            ),
        ),
        (
            "- [a\n- b\n",
            (
                "rubric.yaml: not YAML: while parsing a flow sequence at line 1, column 3 "
                "did not find expected ',' or ']' at line 3, column 1"
            ),
        ),
    ],
)
def test_where_a_rubric_is_no_yaml_is_said(scenario, text, said):
    assert faults(scenario(rubric_text=text)).endswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title: [\n", "not YAML"),
        ("# nothing yet\n", "empty; expected a mapping"),
        ("{}", "empty; expected a mapping"),
        ("- a\n", "a list; expected a mapping"),
    ],
)
def test_a_scenario_file_without_keys_is_one_fault(scenario, text, said):
    folder = scenario()
    (folder / "scenario.yaml").write_text(text)
    (line,) = faults(folder).splitlines()
    assert said in line


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("synthetic", "false", "synthetic 'false'; expected true or false, without quotes"),
        ("synthetic", None, "synthetic None; expected true or false"),
        ("title", "", "title ''; expected a text"),
        ("title", [1, 2], "title [1, 2]; expected a text"),
        ("licence", 5, "licence 5; expected a text"),
        ("assignment", " ", "assignment ' '; expected a text"),
    ],
)
def test_a_value_of_another_type_is_named(scenario, key, value, said):
    (line,) = faults(scenario(head={**HEAD, key: value})).splitlines()
    assert said in line


@pytest.mark.parametrize("documents", [None, 3, []])
def test_a_scenario_without_a_list_of_documents_says_nothing_of_the_evidence(scenario, documents):
    folder = scenario()
    head = yaml.safe_load((folder / "scenario.yaml").read_text())
    head["documents"] = documents
    (folder / "scenario.yaml").write_text(yaml.safe_dump(head))
    (line,) = faults(folder).splitlines()
    assert f"documents: {documents}; expected a list of file names" in line
