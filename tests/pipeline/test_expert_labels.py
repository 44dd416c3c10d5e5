"""Experts' labels from a file, and judges and raters held against them."""

import pytest

from flows.adapters.labels import read_labels
from flows.common.errors import ConfigError, Problems, StaffbenchError
from flows.pipeline.results.agreement.labels import label_faults, labels_agreement
from flows.pipeline.results.graded import Graded
from flows.schema.scenario import Evidence, Item, Scenario, Severity, Step, Tier
from flows.schema.verdict import ExpertLabel, Verdict, VerdictStatus

HEAD = "condition,scenario_id,seed,item_id,label"


def file_of(tmp_path, *lines):
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def item(name, severity=Severity.important):
    texts = dict.fromkeys(("requirement", "ground_truth", "pass_condition", "fail_condition"), "x")
    return Item(
        item_id=name,
        step=Step.facts,
        tier=Tier.stated,
        severity=severity,
        source=(Evidence("a", "b"),),
        rationale="r",
        **texts,
    )


ITEMS = (item("A"), item("B"), item("W", Severity.detrimental))
SCENARIO = Scenario("port", "t", "a", (), ITEMS, {}, synthetic=True, licence="CC-BY-4.0")


def graded(judge, passed, condition="m-default"):
    about = {"condition": {"label": condition, "model": "m"}, "judge": {"label": judge}}
    verdicts = [
        Verdict(
            "port",
            1,
            name,
            VerdictStatus.unparsed if value is None else VerdictStatus.graded,
            value,
        )
        for name, value in passed.items()
    ]
    return Graded(about, [], verdicts)


def label(name, *, passed, rater="ann"):
    return ExpertLabel(rater, "m-default", "port", 1, name, passed)


def test_a_file_is_read_with_raters_or_without_and_abstentions_are_left_out(tmp_path):
    plain = file_of(
        tmp_path, HEAD, "m-default,port,1,A,pass", "m-default,port,1,B,", "m-default,port,2,A,fail"
    )
    assert read_labels([plain], {}) == [
        ExpertLabel("expert", "m-default", "port", 1, "A", passed=True),
        ExpertLabel("expert", "m-default", "port", 2, "A", passed=False),
    ]
    rated = file_of(
        tmp_path, f"\ufeff{HEAD},rater,why", "m,port,1,A,pass,ann,clear", "m,port,1,A,fail,bob,not there"
    )
    assert [(one.rater, one.passed) for one in read_labels([rated], {})] == [("ann", True), ("bob", False)]


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (
            ["condition,seed", "m,1"],
            "no column scenario_id, item_id, label among condition, seed; expected",
        ),
        ([HEAD, "m,port,1,A,yes"], "labels.csv, line 2: label 'yes'; expected pass or fail"),
        ([HEAD, "m,port,one,A,pass", "m,port,1,A,yes"], "line 2: seed 'one'; expected a number, 1 or more\n"),
        ([HEAD, "m,port,one,A,pass", "m,port,1,A,yes"], "line 3: label 'yes'"),
        (
            [HEAD, "m,port,1,A,pass", "m,port,1,A,fail"],
            "line 3: another label than before by expert; expected one; the first is labels.csv, line 2",
        ),
        ([HEAD, "m,port,1,A,"], "no label"),
        ([HEAD, "m,port,one,A,yes"], "line 2: seed 'one'"),
        ([HEAD, "m,port,one,A,yes"], "line 2: label 'yes'"),
        ([], "labels.csv: empty; expected columns condition, "),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path, lines, fault):
    with pytest.raises(StaffbenchError) as error:
        read_labels([file_of(tmp_path, *lines)], {})
    assert fault in str(error.value)


def test_a_table_with_semicolons_is_read(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("condition;scenario_id;seed;item_id;label\nm, a;port;1;A;pass\n", encoding="utf-8")
    (found,) = read_labels([path], {})
    assert (found.condition, found.item_id, found.passed) == ("m, a", "A", True)


def test_a_missing_file_and_one_that_is_no_text_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        read_labels([tmp_path / "none.csv"], {})
    (tmp_path / "odd.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StaffbenchError, match="can't be read"):
        read_labels([tmp_path / "odd.csv"], {})


def test_judges_and_raters_are_measured_on_what_they_share():
    entries = [
        graded("j1", {"A": True, "B": False, "W": True}),
        graded("j2", {"A": True, "B": None, "W": False}),
    ]
    labels = [
        label("A", passed=True),
        label("B", passed=True),
        label("W", passed=True),
        label("A", passed=True, rater="bob"),
        label("W", passed=False, rater="bob"),
    ]
    found = labels_agreement(labels, entries, {"port": SCENARIO})
    told = [(who, one.labels, one.n, one.n_ungraded, one.accuracy) for who, one in found]
    assert told == [
        ("j1", "labels of ann", 3, 0, 2 / 3),  # A and W agree, B does not
        ("j1", "labels of bob", 2, 0, 1 / 2),
        ("j2", "labels of ann", 2, 1, 1 / 2),  # B has no verdict
        ("j2", "labels of bob", 2, 0, 1.0),
        ("ann", "labels of bob", 2, 0, 1 / 2),
    ]


def test_a_label_on_what_nobody_graded_is_a_fault_that_names_it():
    wrong = "no item 'Z' with a verdict in m-default port 1; expected one of A"
    with pytest.raises(StaffbenchError, match=wrong):
        labels_agreement([label("Z", passed=True)], [graded("j", {"A": True})], {"port": SCENARIO})


def test_unknown_names_are_named_with_all_else_and_each_by_its_wrong_part(tmp_path):
    lines = [
        "m-defalt,port,1,A,pass",
        "m-default,prot,1,A,pass",
        "m-default,port,7,A,pass",
        "m-default,port,1,AA,pass",
        "m-default,port,1,A,yes",
        "m-default,port,1,C,ja",
    ]
    entries = [graded("j", {"A": True, "B": True})]
    files = [file_of(tmp_path, HEAD, *lines), tmp_path / "other.csv"]
    rest = "scenario_id, seed, item_id, label"
    files[1].write_text(f"conditon, {rest}\n".replace(" ", ""), encoding="utf-8")
    with pytest.raises(Problems) as error:
        read_labels(files, {}, lambda read: label_faults(read, entries))
    assert [line.removeprefix("labels.csv, line ") for line in error.value.lines] == [
        "6: label 'yes'; expected pass or fail",
        "7: label 'ja'; expected pass or fail",
        f"{files[1]}: no column condition among conditon, {rest}; expected columns condition, {rest}",
        "2: no condition 'm-defalt' with a verdict; expected m-default",
        "3: no scenario 'prot' with a verdict in m-default; expected port",
        "4: no seed '7' with a verdict in m-default port; expected one of 1",
        "5: no item 'AA' with a verdict in m-default port 1; expected A or B",
        "7: no item 'C' with a verdict in m-default port 1; expected one of A, B",
    ]
