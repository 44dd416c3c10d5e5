"""Many edits in a row leave a file that Word's schema allows, and that reads as the document does."""

import random
from itertools import pairwise
from pathlib import Path

import pytest

from flows.adapters.report_docx import Block, EditError, ReportDocument

ROOT = Path(__file__).parents[3]
FILES = [
    ROOT / "tests" / "fixtures" / "documents" / "marked.docx",
    ROOT / "tests" / "fixtures" / "documents" / "tables-with-incomplete-rows.docx",
    ROOT / "data/mission_report/tasks/sb-aar-01/steps/answer/workdir/attachments/01-aar-template.docx",
]
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"

# Sequences of ECMA-376 part 1, as far as they are touched: 17.3.2.28, 17.3.1.26, 17.4.70, 17.4.60.
ORDERS = {
    "rPr": "rStyle rFonts b bCs i iCs caps smallCaps strike dstrike noProof vanish color spacing kern "
    "position sz szCs highlight u effect bdr shd vertAlign lang ins del rPrChange",
    "pPr": "pStyle keepNext keepLines pageBreakBefore framePr widowControl numPr pBdr shd tabs autoSpaceDE "
    "autoSpaceDN adjustRightInd snapToGrid spacing ind contextualSpacing jc textAlignment outlineLvl rPr "
    "sectPr pPrChange",
    "tcPr": "cnfStyle tcW gridSpan vMerge tcBorders shd noWrap tcMar vAlign",
    "tblPr": "tblStyle tblpPr tblW jc tblInd tblBorders tblLayout tblCellMar tblLook",
}


def faults(saved):
    """What the schema forbids in the body: properties out of order or twice, cells without a paragraph."""
    found = []
    for name, order in ORDERS.items():
        places = {each: at for at, each in enumerate(order.split())}
        for each in saved.all(name):
            at = [places[child.tag.rpartition("}")[2]] for child in each if child.tag.startswith(W)]
            if any(later <= sooner for sooner, later in pairwise(at)):
                found.append((name, [child.tag for child in each]))
    found += [("tc", len(each)) for each in saved.all("tc") if each[-1].tag not in {W + "p", W + "sdt"}]
    found += [
        (name, 0) for name in ("txbxContent", "sdtContent") for each in saved.all(name) if not len(each)
    ]
    return found


def edit(document, dice):
    place = dice.choice(document.places())
    text = dice.choice(["x", "a\nb\nc", "**b** *i*", "", "[note]", "30 April 2031", "checked"])
    blocks = [
        Block("heading", "H", level=dice.randint(0, 4)),
        Block("paragraph", "p"),
        Block("bullet", "b", level=dice.randint(1, 3)),
        Block("number", "n", level=dice.randint(1, 3)),
        Block("table", rows=(("a", "b"), ("c", "d"))),
    ]
    act = dice.choice(["set", "set", "insert", "row", "delete"])
    if act == "set":
        document.set_text(place.place_id, text)
    elif act == "insert":
        document.insert(dice.choice([place.place_id] * 9 + [None]), dice.sample(blocks, 2))
    elif act == "row":
        document.add_row(place.place_id, ["r"] * dice.randint(1, 4))
    else:
        document.delete(place.place_id)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_thirty_edits(path, seed, saved):
    document = ReportDocument.open(path.read_bytes())
    known = faults(saved(document))
    dice = random.Random(seed)
    done = 0
    for _ in range(30):
        before = document.places()
        try:
            edit(document, dice)
            done += 1
        except EditError:
            assert document.places() == before
    assert done >= 15
    assert ReportDocument.open(document.to_bytes()).places() == document.places()
    assert [each for each in faults(saved(document)) if each not in known] == []
