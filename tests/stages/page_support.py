"""A board, briefs and verdicts of which pages are made, and a reader of pages."""

from dataclasses import replace
from html.parser import HTMLParser

from flows.schema.brief import Brief, BriefStatus
from flows.schema.document import Block, BlockKind, Document
from flows.schema.leaderboard import JudgeNote, Leaderboard, LeaderboardRow
from flows.schema.report_task import ReportFacts, ReportTask
from flows.schema.scenario import Evidence, Item, Scenario, Severity, Step, Tier
from flows.schema.verdict import BriefScore, FailureMode, Verdict, VerdictStatus
from flows.stages.page.brief import brief_page
from flows.stages.page.condition import condition_page
from flows.stages.page.index import index_page

HOSTILE = (
    '</td><script>alert(1)</script><img src=x onerror="alert(2)">&amp;\u202egnp.exe\u202c zero\u200bwidth\x00'
)


SEEN = (
    '</td><script>alert(1)</script><img src=x onerror="alert(2)">&amp;'
    "U+202Egnp.exeU+202C zeroU+200BwidthU+0000"
)


VOID = {"meta", "br", "input", "img", "link"}


class Page(HTMLParser):
    """Elements and text of a page; fails where an element is not closed."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.text, self.rows = [], [], [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in {"script", "style"}:
            self.text.append(data)
            if {"td", "th"} & set(self.open):
                self.rows[-1][-1] += data

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]

    @property
    def said(self):
        return "".join(self.text)


ROW = LeaderboardRow(
    model="m", effort="default", word_cap=3000, prompt="v1", harness="single_prompt", judge="j",
    score=0.5, ci_low=None, ci_high=None, ci_level=None, ci_method=None, score_low=0.5, score_high=0.5,
    score_clamped=0.5, correct=0.6, passed=0.5, wrong=1.0, n_scenarios=1, n_scenarios_all=1, n_briefs=1,
    n_briefs_all=1, n_ungraded=0, n_refused=0, n_error=0, n_empty=0, n_cut=0, n_cut_by_provider=0,
    n_hidden=0, n_noticed=0,
    words_raw=4.0, words_kept=4.0, self_judged=False, condition="m-default-3000-v0", judge_id="j-medium",
    condition_digest="c" * 64, judge_digest="d" * 64,
)  # fmt: skip


HEAD = ("model", "effort", "cap", "judge", "score", "scenarios", "refused")


SHOWN = [HEAD, ("m", "default", "3000", "j", "0.500", "1", "0")]


def item(item_id, severity=Severity.important, requirement="States it.", **fields):
    item = Item(
        item_id, Step.centers_of_gravity, Tier.synthesis, severity, requirement, "the truth", "if said",
        "if not", (Evidence("01-order.docx", "as ordered"), Evidence("02.pdf", "as seen")), "it matters",
    )  # fmt: skip
    return replace(item, **fields)


DOCUMENTS = (
    Document(
        "01-order.docx", "docx", "0" * 64, "docx/1",
        tuple(Block(BlockKind.paragraph, text, "paragraph") for text in ("Move as", "ordered.")),
    ),
)  # fmt: skip


SCENARIO = Scenario(
    "harbour", "Harbour", "Write it.", ("01-order.docx", "02.pdf"),
    (item("R1"), item("R2"), item("R3"), item("E1", Severity.detrimental)), {}, synthetic=True,
    licence="CC-BY-4.0",
)  # fmt: skip


BRIEF = Brief("harbour", 1, BriefStatus.written, "one two three four", 4, 4, "w/1")


VERDICTS = [
    Verdict("harbour", 1, "R1", VerdictStatus.graded, passed=True),
    Verdict("harbour", 1, "R2", VerdictStatus.graded, passed=False, mode=FailureMode.partial, reason="half"),
    Verdict("harbour", 1, "R3", VerdictStatus.unparsed, passed=None, reason="cut reply"),
    Verdict("harbour", 1, "E1", VerdictStatus.graded, passed=False, mode=FailureMode.committed),
]


PARTLY = BriefScore(
    "harbour", 1, None, None, 0.0, 1 / 3, None, None, None, n_items=4, n_graded=3, n_refused=0, n_unparsed=1,
    n_error=0,
)  # fmt: skip


def board(*rows, stand_in=False):
    judges = tuple(JudgeNote(judge, stand_in, ()) for judge in dict.fromkeys(row.judge_id for row in rows))
    return Leaderboard("ma_bench", "severity", rows, judges, ())


def index(rows=(ROW,), shown=SHOWN, *, stand_in=False, notes=("Note.",), figures=None, left_out=()):
    return index_page(
        board(*rows, stand_in=stand_in), shown, notes, figures=figures or {}, rubrics={}, left_out=left_out
    )


def a_brief(
    brief=BRIEF, verdicts=VERDICTS, score=PARTLY, scenario=SCENARIO, row=ROW, *, is_stand_in=False, **more
):
    settings = {"scoring": "severity", "is_stand_in": is_stand_in, **more}
    return brief_page(row, scenario, brief, score=score, verdicts=verdicts, **settings)


def a_condition(row=ROW, briefs=((BRIEF, PARTLY),), groups=None, *, is_stand_in=False):
    return condition_page(
        row, briefs, groups or {}, scoring="severity", note="a note", is_stand_in=is_stand_in
    )


def written(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


TASK = replace(
    SCENARIO,
    items=tuple(
        replace(
            one, step=None, tier=None, severity=None, ground_truth="", points=-3.0 if one.is_error else 1.0
        )
        for one in SCENARIO.items
    ),
    task=ReportTask("harbour", "1.4", *[None] * 6, (), (), None, "golden.docx", None, "rubric.json"),
)


def a_report(brief=BRIEF, n_calls=7, pictures=(), beside=(None, None), **facts):
    known = {
        "scenario_id": "harbour", "seed": 1, "status": "written", "report": "a" * 64, "ended": "finished",
        "n_calls": n_calls, "word_rule": "r1/w1", "words": 4, "words_body": 4, "words_tables": 0,
        "words_notes": 0, "words_text_boxes": 0, "words_outside": 0, "word_limit": None, "pages": None,
        "page_limit": None, "renderer": None, "detail": "",
    }  # fmt: skip
    return brief_page(
        ROW, TASK, brief, score=PARTLY, verdicts=VERDICTS, scoring="points", is_stand_in=False,
        report=ReportFacts(**{**known, **facts}), pictures=pictures, beside=beside,
    )  # fmt: skip
