"""ARGUE's flow and scores: the paper's worked example, every branch, several citations, zero denominators."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from grading._records import BankQuestion, KeyAnswer, Sentence, SystemReport
from grading.reports._argue import Citations, SentenceOutcome, absence_nuggets, argue, bound_answers
from grading.reports._argue_scores import ReportScore, completed, f1, score_reports, score_runs
from grading.reports._judging_material import Ask, Decision, InTurn, ReportMaterial
from grading.reports._judgments import HumanJudge, judgment_line, read_judgments
from tests.grading import films


def human(
    tmp_path: Path, lines: Sequence[object], reports: Sequence[SystemReport], nuggets: Sequence[BankQuestion]
) -> HumanJudge:
    path = tmp_path / "judgments.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return read_judgments(path, ReportMaterial(reports, nuggets))


def report(*sentences: tuple[str, ...], run: str = "r", topic: str = "t") -> SystemReport:
    """One sentence for each tuple: its text, then what it cites."""
    return SystemReport(run, topic, tuple(Sentence(one[0], tuple(one[1:])) for one in sentences))


def nugget(name: str, *answers: KeyAnswer, combine: str = "or", importance: str = "vital") -> BankQuestion:
    return BankQuestion(name, "t", f"Question {name}?", answers, combine, importance)  # type: ignore[arg-type]


def key(text: str, *documents: str) -> KeyAnswer:
    return KeyAnswer(text, frozenset(documents))


def run(
    tmp_path: Path,
    one: SystemReport,
    nuggets: Sequence[BankQuestion],
    lines: Sequence[object],
    citations: Citations = "any",
) -> tuple[list[SentenceOutcome], ReportScore]:
    judged = argue([one], nuggets, human(tmp_path, lines, [one], nuggets), citations=citations)
    (score,) = score_reports([one], judged, nuggets)
    return judged, score


def test_the_worked_example_comes_out_sentence_by_sentence(tmp_path: Path) -> None:
    judged, score = run(tmp_path, films.REPORT, films.NUGGETS, films.judgments())
    assert [one.outcome for one in judged] == [outcome for _, _, outcome, _ in films.FIGURE4]
    assert [{name for name, _ in one.stated} for one in judged] == [
        {nugget} if nugget else set() for _, _, _, nugget in films.FIGURE4
    ]
    assert score.outcomes == {1: 0, 2: 2, 3: 5, 4: 5, 5: 0, 6: 4, 7: 0, 8: 0}
    assert score.ratios["precision"] == (5, 16 - 11)
    assert score.ratios["recall"] == (3, 5)
    assert score.credited == ("2", "3", "5")
    assert score.value("precision") == 1.0
    assert score.value("recall") == pytest.approx(0.6)
    assert score.value("f1") == pytest.approx(2 * 0.6 / 1.6)
    assert score.ratios["sentence_support"] == (7, 7)
    assert "occurred before and counts once" in judged[10].why
    assert "occurred before" not in judged[9].why


@pytest.mark.parametrize(
    ("sentence", "line", "outcome", "why"),
    [
        (("A.", "D1"), {"supported": False}, 1, "not supported by D1"),
        (("A.", "D1"), {"supported": True, "nuggets": []}, 2, "answers no nugget bound"),
        (("A.", "D1"), {"supported": True, "nuggets": ["n"]}, 3, "answers nugget n ('one')"),
        (("A.", "D2"), {"supported": True, "nuggets": ["n"]}, 2, "answers no nugget bound"),
        (("A.",), {"needs_citation": False}, 4, "needs no citation"),
        (("A.",), {"needs_citation": True, "repeats": False}, 5, "for the first time"),
        (("A.",), {"needs_citation": True, "first": False}, 6, "occurred before"),
        (("A.",), {"claims_absence": True, "nuggets": []}, 7, "which no nugget asks for"),
        (("A.",), {"claims_absence": True, "nuggets": ["gap"]}, 8, "absence that nugget gap asks for"),
        (("A.",), {"claims_absence": True, "nuggets": ["n"]}, 7, "which no nugget asks for"),
        (("A.", "D1"), {"claims_absence": True, "nuggets": ["gap"]}, 8, "absence that nugget gap asks for"),
    ],
)
def test_each_branch_leads_to_its_outcome(
    tmp_path: Path, sentence: tuple[str, ...], line: dict[str, object], outcome: int, why: str
) -> None:
    nuggets = [nugget("n", key("one", "D1")), nugget("gap")]
    (judged,), score = run(tmp_path, report(sentence), nuggets, [{"sentence": 0, **line}])
    assert judged.outcome == outcome
    assert why in judged.why
    effect = {1: "penalised", 5: "penalised", 7: "penalised", 3: "rewarded", 8: "rewarded"}.get(outcome, "ignored")
    assert judged.why.endswith(effect)
    counted = outcome not in {2, 4, 6}
    assert score.ratios["precision"] == (float(outcome in {3, 8}), float(counted))
    assert score.ratios["recall"] == (float(outcome in {3, 8}), 2.0)


@pytest.mark.parametrize(
    ("citations", "units", "precision"),
    [("any", [3], (1, 1)), ("all", [1], (0, 1)), ("micro", [3, 1, 2], (1, 2))],
)
def test_several_citations_count_as_they_are_told_to(
    tmp_path: Path, citations: Citations, units: list[int], precision: tuple[int, int]
) -> None:
    nuggets = [nugget("n", key("one", "D1", "D2"))]
    line = {"sentence": 0, "supported": {"D1": True, "D2": False, "D3": True}, "nuggets": ["n"]}
    (judged,), score = run(tmp_path, report(("A.", "D1", "D2", "D3")), nuggets, [line], citations)
    assert [one.outcome for one in judged.units] == units
    assert score.ratios["precision"] == precision
    assert score.ratios["citation_support"] == (2, 3)
    assert score.ratios["sentence_support"] == (0 if citations == "all" else 1, 1)
    assert score.ratios["recall"] == (0 if citations == "all" else 1, 1)


def test_a_sentence_with_one_citation_is_the_same_by_all_three_rules(tmp_path: Path) -> None:
    every = [run(tmp_path, films.REPORT, films.NUGGETS, films.judgments(), one) for one in ("any", "all", "micro")]
    assert len({tuple(one.outcome for one in judged) for judged, _ in every}) == 1
    assert len({tuple(score.ratios.items()) for _, score in every}) == 1


def test_a_nugget_whose_answers_are_all_wanted_counts_once_they_are_all_there(tmp_path: Path) -> None:
    nuggets = [nugget("n", key("one", "D1"), key("two", "D2"), combine="and")]
    both = report(("One.", "D1"), ("Two.", "D2"))
    judged, score = run(
        tmp_path, both, nuggets, [{"sentence": at, "supported": True, "nuggets": ["n"]} for at in (0, 1)]
    )
    assert [one.outcome for one in judged] == [3, 3]
    assert (score.credited, score.partly) == (("n",), ())
    assert "occurred before" not in judged[1].why
    half = report(("One.", "D1"), ("Two again.", "D1"))
    lines = [{"sentence": at, "supported": True, "nuggets": {"n": ["one"]}} for at in (0, 1)]
    judged, score = run(tmp_path, half, nuggets, lines)
    assert (score.credited, score.partly) == ((), ("n",))
    assert score.ratios["recall"] == (0, 1)
    assert "nugget n occurred before" in judged[1].why


def test_importance_weighs_recall(tmp_path: Path) -> None:
    nuggets = [nugget("v", key("one", "D1")), nugget("o", key("two", "D1"), importance="okay")]
    _, score = run(tmp_path, report(("A.", "D1")), nuggets, [{"sentence": 0, "supported": True, "nuggets": ["v"]}])
    assert score.value("recall") == 0.5
    assert score.value("recall_weighted") == pytest.approx(2 / 3)


def test_an_absence_nugget_has_no_answer_that_is_bound() -> None:
    bound, blank, loose = nugget("b", key("x", "D1")), nugget("none"), nugget("loose", key("not known"))
    assert [one.id for one in absence_nuggets([bound, blank, loose])] == ["none", "loose"]
    assert [one.id for one in absence_nuggets([blank, loose])] == ["none"]
    assert bound_answers([bound, blank, loose], ["D9"]) == [(loose, 0)]
    assert completed({("none", -1)}, blank) == (True, True)


def test_a_zero_denominator_is_undefined_and_not_zero_or_one(tmp_path: Path) -> None:
    _, score = run(
        tmp_path, report(("A.",)), [nugget("n", key("one", "D1"))], [{"sentence": 0, "needs_citation": False}]
    )
    assert np.isnan(score.value("precision"))
    assert np.isnan(score.value("sentence_support"))
    assert score.value("recall") == 0.0
    assert np.isnan(score.value("f1"))
    assert f1(0.0, 0.0) == 0.0
    assert np.isnan(f1(np.nan, 0.0))
    assert f1(0.5, 0.5) == pytest.approx(0.5)
    assert f1(1.0, 0.6) == pytest.approx(0.75)
    (over,) = score_runs([score], [nugget("n", key("one", "D1"))])
    assert np.isnan(over.macro["precision"].estimate)
    assert over.undefined["precision"] == ("t",)
    assert np.isnan(over.macro["recall"].low)


def test_an_empty_sentence_keeps_its_place_and_is_not_scored(tmp_path: Path) -> None:
    one = report((" ",), ("A.", "D1"))
    judged, score = run(tmp_path, one, [nugget("n", key("x", "D1"))], [{"sentence": 1, "supported": False}])
    assert [unit.outcome for each in judged for unit in each.units] == [None, 1]
    assert judged[0].why == "not scored: the sentence is empty"
    assert (score.unjudged, score.ratios["precision"]) == (1, (0, 1))


@pytest.mark.parametrize(
    ("sentence", "lines", "match"),
    [
        (("A.", "D1"), [], r"run r, topic t, sentence 0 'A\.': not judged; wanted 'supported' of document 'D1'"),
        (("A.", "D1"), [{"supported": True}], r"wanted 'nuggets' \(whether it answers nugget 'n'\)"),
        (("A.", "D1", "D2"), [{"supported": {"D1": True}, "nuggets": []}], "wanted 'supported' of document 'D2'"),
        (("A.",), [{"claims_absence": False}], "not judged; wanted 'needs_citation'"),
        (("A.",), [{"needs_citation": True}], "wanted 'repeats'"),
        (("A.",), [{"claims_absence": True}], r"wanted 'nuggets' \(whether it answers nugget 'gap'\)"),
    ],
)
def test_a_missing_judgement_is_named_or_left_out(
    tmp_path: Path, sentence: tuple[str, ...], lines: list[dict[str, object]], match: str
) -> None:
    nuggets = [nugget("n", key("x", "D1")), nugget("gap")]
    one = report(sentence, ("B.",))
    rest = [{"sentence": 1, "needs_citation": True, "repeats": False}]
    judge = human(tmp_path, [*({"sentence": 0, **each} for each in lines), *rest], [one], nuggets)
    with pytest.raises(ValueError, match=match):
        argue([one], nuggets, judge)
    judged = argue([one], nuggets, judge, skip_unjudged=True)
    assert [each.outcome for each in judged] == [None, 5]
    (score,) = score_reports([one], judged, nuggets)
    assert (score.unjudged, score.ratios["precision"]) == (1, (0, 1))


class Scripted:
    """Answers from a dictionary of question to verdict; keeps what it was asked."""

    def __init__(self, verdicts: dict[str, bool]) -> None:
        self.verdicts, self.rounds = verdicts, list[int]()

    def decide(self, asks: Sequence[Ask]) -> list[Decision]:
        self.rounds.append(len(asks))
        return [Decision(self.verdicts.get(one.kind), "scripted") for one in asks]


def test_questions_are_asked_in_rounds_and_only_where_they_matter() -> None:
    nuggets = [nugget("n", key("x", "D1"), key("y", "D2"))]
    judge = Scripted({"claims_absence": False, "supported": True, "answers": True, "needs_citation": False})
    judged = argue([report(("A.", "D1"), ("B.",), ("C.", "D1", "D2"))], nuggets, judge)
    assert [one.outcome for one in judged] == [3, 4, 3]
    assert judge.rounds == [3, 4, 3]


def test_judges_in_turn_answer_what_is_left_open() -> None:
    first, second = Scripted({"claims_absence": False}), Scripted({"needs_citation": False, "claims_absence": True})
    judged = argue([report(("A.",))], [], InTurn([first, second]))
    assert [one.outcome for one in judged] == [4]
    assert second.rounds == [1]


def test_a_decision_comes_back_from_the_line_it_is_written_as(tmp_path: Path) -> None:
    nuggets = [nugget("n", key("x", "D1"), key("y", "D1"))]
    one = report(("A.", "D1"), ("B.",))
    asks = [
        Ask("supported", "r", "t", 0, document="D1"),
        Ask("answers", "r", "t", 0, nugget="n", answer=1),
        Ask("answers", "r", "t", 0, nugget="n", answer=0),
        Ask("needs_citation", "r", "t", 1),
        Ask("repeats", "r", "t", 1),
    ]
    made = [Decision(at % 2 == 0, "said") for at in range(len(asks))]
    judge = human(tmp_path, [judgment_line(*pair) for pair in zip(asks, made, strict=True)], [one], nuggets)
    assert [found.verdict for found in judge.decide(asks)] == [found.verdict for found in made]
    with pytest.raises(ValueError, match="repeats: left open; wanted a decision"):
        judgment_line(asks[4], Decision(None))


def over_topics(seed: int, topics: int = 40) -> tuple[list[ReportScore], list[BankQuestion]]:
    """Reports drawn at random: each sentence is right with probability 0.7, each of 5 nuggets found with 0.4."""
    rng = np.random.default_rng(seed)
    scores = []
    for at in range(topics):
        right, of, found = rng.binomial(8, 0.7), 8, rng.binomial(5, 0.4)
        ratios = {"precision": (float(right), float(of)), "recall": (float(found), 5.0)}
        ratios |= dict.fromkeys(("recall_weighted", "sentence_support", "citation_support"), (1.0, 1.0))
        scores.append(ReportScore("r", str(at), of, dict.fromkeys(range(1, 9), 0), 0, ratios))
    return scores, []


def test_intervals_cover_the_true_precision_and_recall() -> None:
    precision, recall = [], []
    for seed in range(30):
        (one,) = score_runs(*over_topics(seed))
        precision.append(one.macro["precision"].low <= 0.7 <= one.macro["precision"].high)
        recall.append(one.macro["recall"].low <= 0.4 <= one.macro["recall"].high)
    # Of 30 intervals of 90 % at least 21 cover with a probability beyond 0.999.
    assert sum(precision) >= 21
    assert sum(recall) >= 21


def test_micro_sums_counts_and_macro_means_values() -> None:
    scores, _ = over_topics(1, topics=6)
    (one,) = score_runs(scores, [])
    pairs = np.array([each.ratios["recall"] for each in scores])
    assert one.micro["recall"].estimate == pytest.approx(pairs[:, 0].sum() / pairs[:, 1].sum())
    assert one.macro["recall"].estimate == pytest.approx(np.mean(pairs[:, 0] / pairs[:, 1]))
    assert one.micro["f1"].estimate == pytest.approx(f1(one.micro["precision"].estimate, one.micro["recall"].estimate))
    assert one.macro["f1"].low < one.macro["f1"].estimate < one.macro["f1"].high


def test_a_run_without_a_report_on_a_topic_gets_no_recall_there(tmp_path: Path) -> None:
    nuggets = [nugget("n", key("x", "D1")), BankQuestion("m", "u", "Question?", (key("x", "D1"),))]
    reports = [report(("A.", "D1")), report(("A.", "D1"), topic="u"), report(("A.", "D1"), run="other")]
    lines = [
        {
            "run": one.run,
            "topic": one.topic,
            "sentence": 0,
            "supported": True,
            "nuggets": ["m" if one.topic == "u" else "n"],
        }
        for one in reports
    ]
    judged = argue(reports, nuggets, human(tmp_path, lines, reports, nuggets))
    scores = score_reports(reports, judged, nuggets)
    whole, partial = score_runs(scores, nuggets)
    assert (whole.missing, partial.missing) == ((), ("u",))
    assert (whole.macro["recall"].estimate, partial.macro["recall"].estimate) == (1.0, 0.5)
    assert partial.macro["f1"].estimate == 0.5
    assert partial.macro["precision"].estimate == 1.0
    assert partial.micro["recall"].estimate == 0.5
    _, kept = score_runs(scores, nuggets, missing="skip")
    assert (kept.macro["recall"].estimate, kept.missing, kept.filled) == (1.0, ("u",), False)
