"""A site of conditions that a seeded generator made, with texts, reasons that quote them, and documents."""

from dataclasses import replace
from pathlib import Path

from flows.adapters.objects import ObjectStore
from flows.pipeline.results.leaderboard import build_leaderboard
from flows.pipeline.results.pages.site import write_site
from flows.schema.document import Block, BlockKind, Document
from flows.schema.scenario import Evidence
from tests.support.paper_results import SEVERITY, make_graded, make_scenarios

HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)"><a href="https://x.example">go</a>'
JUDGE = {
    "name": "judge", "digest": "j", "members": [], "effort": "medium", "mode": "failed_only", "prompt": "v1",
}  # fmt: skip


def make_results(folder, *, n_models=4, n_scenarios=3, n_items=24, n_seeds=2, n_words=300):
    """Return the board, what was graded, and the scenarios. Requirements and reasons hold markup."""
    scenarios = {
        name: replace(one, documents=("order.docx",), items=tuple(map(_item, one.items)))
        for name, one in make_scenarios(n_scenarios, n_items).items()
    }
    graded = [
        _whole(entry, n_words)
        for entry in make_graded(scenarios, n_models=n_models, n_seeds=n_seeds, second=False, repeats=False)
    ]
    board = build_leaderboard(graded, scenarios, SEVERITY, ObjectStore(Path(folder) / "objects"))
    return board, graded, scenarios


def make_site(folder, *, n_items=24, **sizes):
    """Write the site of `make_results` below a folder; return its first page."""
    board, graded, scenarios = make_results(folder, n_items=n_items, **sizes)
    blocks = tuple(
        Block(BlockKind.paragraph, f"Paragraph {at} orders determination {at}.", f"paragraph {at}")
        for at in range(n_items)
    )
    document = Document("order.docx", "docx", "0" * 64, "docx/1", blocks)
    return write_site(
        Path(folder), board, graded, scenarios, scoring=SEVERITY,
        documents=dict.fromkeys(scenarios, (document,)),
    )  # fmt: skip


def _item(item):
    number = int(item.item_id.removeprefix("I-"))
    return replace(
        item,
        requirement=f"{item.requirement} {HOSTILE}",
        ground_truth=f"Truth {number} {HOSTILE}",
        source=(Evidence("order.docx", f"orders determination {number}."),),
    )


def _whole(entry, n_words):
    condition, judge = entry.about["condition"], entry.about["judge"]
    about = {
        **entry.about,
        "condition": {**condition, "digest": condition["label"]},
        "judge": {**judge, **JUDGE},
        "self_judged": False,
        "model_note": "",
    }
    briefs = [{**brief, **_text(brief, n_words), "detail": "", "report": None, "word_counter": "w1"}
              for brief in entry.briefs]  # fmt: skip
    reason = f'It says "the relief column of sentence {{}} moves at once" {HOSTILE.replace(chr(34), chr(39))}'
    verdicts = [
        replace(verdict, reason=reason.format(int(verdict.item_id[2:])))
        if verdict.passed is False
        else verdict
        for verdict in entry.verdicts
    ]
    return replace(entry, about=about, briefs=briefs, verdicts=verdicts, known={})


def _text(brief, n_words):
    if brief["text"] is None:
        return {}
    sentences = [f"- In **short**, the relief column of sentence {at} moves at once {HOSTILE}"
                 for at in range(n_words // 12)]  # fmt: skip
    return {"text": f"# Brief {brief['seed']}\n\n" + "\n".join(sentences)}
