"""Files of human judgements: several forms of one statement, and what is wrong with them by its place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from grading._records import BankQuestion, KeyAnswer, Sentence, SystemReport
from grading.reports._argue import argue
from grading.reports._argue_files import ArgueResult
from grading.reports._argue_scores import score_reports, score_runs
from grading.reports._judging_material import Ask, ReportMaterial
from grading.reports._judgments import HumanJudge, read_judgments

NUGGETS = (
    BankQuestion("n", "t", "Q?", (KeyAnswer("one", frozenset({"D1"})), KeyAnswer("two", frozenset({"D1"})))),
    BankQuestion("m", "t", "Why?", (KeyAnswer("so", frozenset({"D2"})),)),
    BankQuestion("gap", "t", "Where?"),
)
REPORT = SystemReport("r", "t", (Sentence("A.", ("D1", "D2")), Sentence("B."), Sentence("C.")))
MATERIAL = ReportMaterial([REPORT], NUGGETS)


def read(tmp_path: Path, *lines: dict[str, object], material: ReportMaterial = MATERIAL) -> HumanJudge:
    path = tmp_path / "judgments.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return read_judgments(path, material)


def outcomes(judge: HumanJudge) -> list[int | None]:
    return [one.outcome for one in argue([REPORT], NUGGETS, judge)]


WHOLE: list[dict[str, object]] = [
    {"run": "r", "topic": "t", "sentence": 0, "supported": {"D1": True, "D2": False}, "nuggets": ["n"]},
    {"sentence": 1, "needs_citation": True, "repeats": False},
    {"sentence": 2, "claims_absence": True, "nuggets": ["gap"]},
]


@pytest.mark.parametrize(
    "lines",
    [
        WHOLE,
        [
            {"sentence": 0, "supported": ["D1"], "nuggets": "n"},
            {"sentence_index": 1, "requires_citation": "yes", "first": "yes"},
            {"index": "2", "absence": 1, "nugget_ids": ["gap"]},
        ],
        [
            {"sentence": 0, "kind": "supported", "document": "D1", "value": "supported"},
            {"sentence": 0, "kind": "supported", "doc": "D2", "value": "not supported"},
            {"sentence": 0, "kind": "answers", "nugget": "n", "answer": "two"},
            {"sentence": 1, "kind": "needs_citation", "label": "need citation"},
            {"sentence": 1, "kind": "first"},
            {"sentence": 2, "kind": "absence"},
            {"sentence": 2, "kind": "answers", "nugget": "gap"},
        ],
        [
            {"sentence": 0, "outcome": 3, "nuggets": {"n": [0]}},
            {"sentence": 1, "outcome": "5"},
            {"sentence": 2, "outcome": "#8", "nugget": "gap"},
        ],
    ],
)
def test_every_form_says_the_same(tmp_path: Path, lines: list[dict[str, object]]) -> None:
    assert outcomes(read(tmp_path, *lines)) == [3, 5, 8]


@pytest.mark.parametrize(("number", "needed"), [(1, 0), (2, 0), (4, 1), (6, 1), (7, 2)])
def test_an_outcome_stands_for_the_judgements_that_lead_to_it(tmp_path: Path, number: int, needed: int) -> None:
    lines: list[dict[str, object]] = [{"sentence": needed, "outcome": number}]
    lines += [one for one in WHOLE if one["sentence"] != needed]
    assert outcomes(read(tmp_path, *lines))[needed] == number


def test_a_table_holds_one_decision_a_row(tmp_path: Path) -> None:
    (tmp_path / "judgments.csv").write_text(
        "topic,run,sentence,kind,document,nugget,value\n"
        "t,r,0,supported,D1,,yes\nt,r,0,supported,D2,,no\nt,r,0,answers,,n,yes\n"
        "t,r,1,needs_citation,,,no\nt,r,2,needs_citation,,,yes\nt,r,2,repeats,,,yes\n"
    )
    assert outcomes(read_judgments(tmp_path / "judgments.csv", MATERIAL)) == [3, 4, 6]
    (tmp_path / "wide.tsv").write_text('sentence\tsupported\tnuggets\n0\t{"D1": true, "D2": true}\t["n", "m"]\n')
    judge = read_judgments(tmp_path / "wide.tsv", MATERIAL)
    assert [one.verdict for one in judge.decide([Ask("answers", "r", "t", 0, nugget="m", answer=0)])] == [True]


@pytest.mark.parametrize(
    ("lines", "match"),
    [
        ([{"sentence": 3}], r"judgments.jsonl:1: sentence 3; wanted a number from 0 to 2"),
        ([{"sentence": -1}], "sentence -1; wanted a number from 0 to 2"),
        ([{"sentence": 0, "supported": {"D9": True}}], "judges support by 'D9'; wanted one of D1, D2"),
        ([{"sentence": 1, "supported": {"D1": True}}], "wanted none, for the sentence cites nothing"),
        ([{"sentence": 0, "nuggets": ["x"]}], "nugget 'x'; wanted one of topic 't'"),
        ([{"sentence": 0, "nuggets": {"n": ["three"]}}], "answer 'three' of nugget 'n'; wanted its text or an index"),
        ([{"sentence": 0, "nuggets": True}], "nuggets are true; wanted a list of nugget ids"),
        ([{"sentence": 0, "supported": "partly"}], 'supported is "partly"; wanted true or false'),
        ([{"sentence": 1, "needs_citation": 2}], "needs_citation is 2; wanted true or false"),
        ([{"sentence": 1, "needs_citation": []}], "needs_citation is a list; wanted true or false"),
        ([{"sentence": 1, "kind": "importance"}], "kind 'importance'; wanted supported, answers"),
        ([{"sentence": 1, "kind": "answers"}], "kind 'answers' and no 'nugget'"),
        ([{"sentence": 0, "kind": "supported"}], "no 'document'; wanted text"),
        ([{"sentence": 1, "outcome": 9}], "outcome 9; wanted a number from 1 to 8"),
        ([{"sentence": 0, "outcome": 3}], "outcome 3 and no 'nuggets'"),
        ([{"sentence": 0, "text": "Another."}], 'text "Another." is not that of the sentence; wanted "A."'),
        (
            [{"sentence": 1, "needs_citation": True}, {"sentence": 1, "needs_citation": False}],
            r"judgments.jsonl:2: 'needs_citation' is no, and yes at .*judgments.jsonl:1; wanted one of them",
        ),
        (
            [{"sentence": 0, "nuggets": ["n"]}, {"sentence": 0, "nuggets": {"n": False}}],
            "nugget 'n' is no, and yes at",
        ),
        ([{"run": "r"}], "no sentence or sentence_index"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_line(
    tmp_path: Path, lines: Sequence[dict[str, object]], match: str
) -> None:
    with pytest.raises(ValueError, match=match):
        read(tmp_path, *lines)


def test_what_has_no_effect_is_said(tmp_path: Path) -> None:
    lines: list[dict[str, object]] = [
        {"sentence": 0, "supported": {"D1": True, "D2": False}, "nuggets": ["n", "m"], "mood": "good"},
        {"run": "x", "sentence": 0, "supported": True},
        *WHOLE[1:],
    ]
    judge = read(tmp_path, *lines)
    assert outcomes(judge) == [3, 5, 8]
    unread, foreign = map(str, judge.remarks)
    assert "judgments.jsonl:2: judges run 'x' on topic 't', of which there is no report" in foreign
    assert "judgments.jsonl:1: field 'mood' says nothing here" in unread
    (vain,) = map(str, judge.without_effect())
    assert "judgments.jsonl:1: nugget 'm': no document that supports the sentence" in vain


def test_run_and_topic_must_be_named_where_there_are_several(tmp_path: Path) -> None:
    both = ReportMaterial([REPORT, SystemReport("s", "t", REPORT.sentences)], NUGGETS)
    with pytest.raises(ValueError, match=r"judgments\.jsonl:1: no 'run'; wanted text"):
        read(tmp_path, {"sentence": 0, "supported": True}, material=both)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"sentence": 1, "need_citations": True}, "field 'need_citations' says nothing here and is not read"),
        ({"run": "s", "sentence": 1, "outcome": 5}, "judges run 's' on topic 't', of which there is no report"),
    ],
)
def test_a_line_that_may_have_been_meant_is_named_where_a_judgement_is_missing(
    tmp_path: Path, line: dict[str, object], reason: str
) -> None:
    judge = read(tmp_path, WHOLE[0], line, WHOLE[2])
    with pytest.raises(ValueError, match=rf"sentence 1 'B\.': not judged \(.*jsonl:2: {reason}\); wanted"):
        argue([REPORT], NUGGETS, judge)


def test_citations_that_count_by_themselves_are_numbered_each(tmp_path: Path) -> None:
    judged = argue([REPORT], NUGGETS, read(tmp_path, *WHOLE), citations="micro")
    scores = score_reports([REPORT], judged, NUGGETS)
    shown = "\n".join(ArgueResult(judged, scores, score_runs(scores, NUGGETS)).lines())
    assert "    0  #3 + #1 -  A." in shown
    assert "    1  #5 -  B." in shown
