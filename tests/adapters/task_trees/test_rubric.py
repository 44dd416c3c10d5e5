import json

import pytest

from flows.adapters.task_trees.rubric import criteria_of
from flows.adapters.task_trees.tree import read_task
from flows.common.errors import Problems
from flows.schema.report_task import Criterion, Polarity


def read(value):
    problems = []
    return criteria_of(value, "rubric.json", problems), [str(problem) for problem in problems]


def row(**changes):
    fields = {"criterion_id": "C1", "points": 2, "polarity": "positive", "criterion": "Says so."}
    return {key: value for key, value in {**fields, **changes}.items() if value is not ...}


WANTED = Criterion("C1", 2.0, Polarity.positive, "Says so.", None, None)


@pytest.mark.parametrize(
    "value",
    [
        [row()],
        {"criteria": [row()]},
        {"rubric": [row()]},
        {"items": [row()], "task_id": "x"},
        {"C1": row(criterion_id=...)},
        {"criteria": {"C1": row(criterion_id=...)}},
        [row(polarity=...)],
        [row(polarity="Required")],
        [{"id": "C1", "weight": 2.0, "kind": "positive", "description": " Says so. "}],
        [{"ID": "C1", "Points": 2, "Text": "Says so.", "rationale": None, "sources": []}],
    ],
)
def test_the_documented_names_and_plain_synonyms_are_read(value):
    assert read(value) == ((WANTED,), [])


def test_numbers_as_ids_several_sources_and_parts_of_points():
    found, problems = read([row(criterion_id=7, points=1.5, source=["a.docx", "b.pdf"], justification="why")])
    assert problems == []
    assert found == (Criterion("7", 1.5, Polarity.positive, "Says so.", "a.docx; b.pdf", "why"),)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"id": "C2"}, "criterion 'C1': id says again what criterion_id is"),
        ({"criterion": ...}, "criterion 'C1': criterion is missing"),
        ({"criterion": "  "}, "criterion 'C1': criterion is '  '"),
        ({"criterion": ["x"]}, "criterion 'C1': criterion is ['x']"),
        ({"criterion_id": ...}, "criterion 1: criterion_id is missing"),
        ({"criterion_id": True}, "criterion True: criterion_id is True"),
        ({"points": ...}, "criterion 'C1': points is missing"),
        ({"points": "2"}, "criterion 'C1': points is '2'"),
        ({"points": True}, "criterion 'C1': points is True"),
        ({"points": 0}, "criterion 'C1': points is 0"),
        ({"points": float("inf")}, "criterion 'C1': points is inf"),
        ({"points": 10**400}, "criterion 'C1': points is 1"),
        ({"polarity": "maybe"}, "criterion 'C1': polarity is 'maybe'"),
        ({"polarity": 1}, "criterion 'C1': polarity is 1"),
        (
            {"points": -2},
            "criterion 'C1': points is -2 and polarity is positive; expected points above 0 where",
        ),
        (
            {"polarity": "penalty"},
            "criterion 'C1': points is 2 and polarity is penalty; expected points below 0 where",
        ),
    ],
)
def test_anything_else_is_refused_by_file_criterion_and_field(changes, said):
    found, problems = read([row(**changes), row(criterion_id="C9")])
    assert [each.criterion_id for each in found] == ["C9"]
    assert len(problems) == 1
    assert problems[0].startswith("rubric.json: " + said)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "an empty list"),
        ({}, "an object with "),
        ("text", "a str"),
        (None, "a NoneType"),
        ([5], "criterion 1 is a int"),
        ({"criteria": [row()], "items": [row()]}, "criteria under criteria and items"),
        ({"criteria": {"C1": 5}}, "criterion 1 is a int"),
        ([row(), row()], "criterion 'C1': criterion_id twice"),
        ([row(points=-1, polarity="negative")], "no criterion with points above 0"),
    ],
)
def test_what_is_no_rubric_is_refused(value, said):
    _, problems = read(value)
    assert len(problems) == 1
    assert said in problems[0]


def test_a_key_twice_or_a_number_that_json_lacks_is_refused(tree):
    tree.write("tests/fixtures/rubric.json", '[{"id": "C1", "id": "C2", "points": 1, "criterion": "x"}]')
    with pytest.raises(Problems, match="key 'id' twice in one object"):
        read_task(tree.root)
    tree.write("tests/fixtures/rubric.json", '[{"id": "C1", "points": NaN, "criterion": "x"}]')
    with pytest.raises(Problems, match="the number NaN"):
        read_task(tree.root)


def test_a_rubric_inside_the_config_must_say_the_same(tree):
    rows = [row(criterion_id="C1"), row(criterion_id="C2", points=1)]
    tree.write("tests/fixtures/rubric.json", rows)
    tree.write("tests/fixtures/config.json", {"rubric": rows})
    assert len(read_task(tree.root).criteria) == 2
    tree.write("tests/fixtures/config.json", {"rubric": [rows[0], row(criterion_id="C2", points=3)]})
    with pytest.raises(Problems, match=r"its rubric differs from rubric\.json in C2"):
        read_task(tree.root)
    (tree.root / "tests/fixtures/rubric.json").unlink()
    task = read_task(tree.root)
    assert (task.rubric_path, task.criteria[1].points) == ("tests/fixtures/config.json", 3.0)


def test_unknown_fields_are_kept_and_a_source_may_be_any_json(tree):
    tree.criteria(colour="red", source={"file": "notes.docx", "line": 2})
    task = read_task(tree.root)
    assert task.criteria[0].source == '{"file": "notes.docx", "line": 2}'
    assert task.unused == {"tests/fixtures/rubric.json: criterion.colour": {"C1": "red"}}


def test_a_rubric_in_the_config_may_be_json_in_a_string(tree):
    rows = [row(criterion_id="C1"), row(criterion_id="C2", points=1)]
    tree.write("tests/fixtures/rubric.json", rows)
    tree.write("tests/fixtures/config.json", {"rubric": json.dumps(rows * 200)})
    with pytest.raises(Problems, match="criterion_id twice"):
        read_task(tree.root)
    tree.write("tests/fixtures/config.json", {"rubric": json.dumps(rows), "judge": '{"model": "m"}'})
    assert read_task(tree.root).judge == {"model": "m"}
    (tree.root / "tests/fixtures/rubric.json").unlink()
    assert [each.criterion_id for each in read_task(tree.root).criteria] == ["C1", "C2"]
    for text, fault in (("[1", "not JSON"), ("x" * 300, "too long"), ("a/" * 9 + "b", "not there")):
        tree.write("tests/fixtures/config.json", {"rubric": text})
        with pytest.raises(Problems, match=fault):
            read_task(tree.root)
