"""The pages as MkDocs builds them: whole, linked, and without a network."""

import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from flows.adapters import tables
from tests.docs.sessions import PROJECT


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=PROJECT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_nothing_is_loaded_from_a_network(site):
    pages = list(site.rglob("*.html"))
    loads = re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"?((?:https?:)?//[^\" >]+)")
    assert len(pages) > 60
    assert not {found for page in pages for found in loads.findall(page.read_text(encoding="utf-8"))}
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.findall(r"url\([\"']?(?:https?:)?//[^)]*|@import[^;]*//[^;]*", styles)
    # Material draws diagrams with a script from a network: none may be on a page.
    assert not [page for page in pages if 'class="mermaid"' in page.read_text(encoding="utf-8")]


def test_reference_pages_name_every_option_and_column(site):
    options = (site / "reference/options.html").read_text(encoding="utf-8")
    names = {path.stem for path in (PROJECT / "conf").glob("*/*.yaml") if not path.stem.startswith("_")}
    assert not {name for name in names if f"<code>{name}</code>" not in options}
    keys = yaml.safe_load((PROJECT / "conf/runner/standard.yaml").read_text(encoding="utf-8"))
    assert not {key for key in keys if f"<code>{key}</code>" not in options}
    columns = (site / "reference/files.html").read_text(encoding="utf-8")
    assert not {
        name for name in tables.REPORTS.names + tables.BLOCKS.names if f"<code>{name}</code>" not in columns
    }
    assert "staffbench harbor summarize" in (site / "reference/commands.html").read_text(encoding="utf-8")
    assert not [page for page in site.rglob("*.html") if "generated:" in page.read_text(encoding="utf-8")]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
@pytest.mark.timeout(300)
def test_an_old_name_of_a_command_is_no_command_of_the_page(site):
    page = (site / "reference/commands.html").read_text(encoding="utf-8")
    assert "staffbench track" in page
    assert "staffbench version" not in page


def test_search_works_from_the_disk(site, tmp_path):
    done = subprocess.run(
        [
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            f"--user-data-dir={tmp_path}",
            "--virtual-time-budget=20000",
            "--dump-dom",
            f"{(site / 'index.html').as_uri()}?q=bootstrap",
        ],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert re.search(r"\d+ matching documents", done.stdout)
    assert "<mark>bootstrap</mark>" in done.stdout.lower()
