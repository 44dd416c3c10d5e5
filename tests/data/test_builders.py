"""What sources of documents may hold, read back from the files that are built from them."""

import subprocess
import sys
from pathlib import Path

from flows.readers import read_document

ROOT = Path(__file__).parents[2]
SOURCE = "---\ntitle: Order\n---\nThe force {-arrives on 4 May-}{+arrives on 6 May+} with ~~12~~ craft.\n"
SCENARIO = """\
scenario_id: tiny
title: Tiny
synthetic: true
licence: CC-BY-4.0
notice: Invented.
assignment: Write.
documents: [01-order.docx]
"""


def test_tracked_changes_and_struck_text_are_in_the_word_file(tmp_path):
    folder = tmp_path / "tiny"
    (folder / "sources").mkdir(parents=True)
    (folder / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    (folder / "sources" / "01-order.docx.md").write_text(SOURCE, encoding="utf-8")
    subprocess.run([sys.executable, ROOT / "data" / "build_documents.py", folder], check=True)
    document = read_document(folder / "documents" / "01-order.docx")
    assert "The force arrives on 6 May with ~~12~~ craft." in document.text
    revised = [notice.detail for notice in document.notices if notice.kind == "revisions"]
    assert revised[0] == "1 tracked insertion, 1 deletion, 0 moves"
    assert revised[1].endswith("arrives on 4 May")
