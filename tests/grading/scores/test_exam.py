"""EXAM, n-EXAM and ROUGE-1: the definitions by hand, and a second implementation."""

from __future__ import annotations

import math
import string
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examcore import Exam, Question
from grading._records import Sampling
from grading.formats._answers import read_answers
from grading.scores._exam_scores import exam_score, n_exam
from grading.scores._rouge import read_articles, rouge_1_f1, rouge_scores, words
from rag import Answer, AnswerStore, Pipeline

BANK = {"q1": ["a", "b", "c", "d"], "q2": ["e"], "q3": ["f", "g"]}


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_wrong_unanswered_and_skipped_count_zero_over_the_whole_bank() -> None:
    found = exam_score("s", {"q1": {"a": True, "b": False, "c": None}, "q2": {"e": True, "z": True}}, BANK)
    assert found.scores == {"q1": 0.25, "q2": 1.0, "q3": 0.0}
    assert (found.skipped, found.unanswered) == (("q3",), 2)


def test_n_exam_is_a_ratio_of_sums_and_may_exceed_one() -> None:
    ours, gold = {"1": 0.5, "2": 1.0, "3": 0.0}, {"1": 0.25, "2": 0.5, "3": 0.25}
    found = n_exam(ours, gold)
    assert found.estimate == pytest.approx(1.5 / 1.0)
    assert found.estimate != pytest.approx(np.mean([0.5 / 0.25, 1.0 / 0.5, 0.0]))
    assert found.low <= found.estimate <= found.high
    assert math.isnan(n_exam(ours, dict.fromkeys("123", 0.0)).estimate)
    assert n_exam(gold, gold)[:3] == pytest.approx((1, 1, 1))


def test_the_interval_of_n_exam_covers_the_true_ratio_nine_times_in_ten() -> None:
    # Gold articles answer 60 % on average, the system 45 %: the ratio of means is 0.75.
    rng = np.random.default_rng(1)
    inside = 0
    for seed in range(200):
        gold = rng.binomial(10, 0.6, size=40) / 10
        ours = rng.binomial(10, 0.45, size=40) / 10
        found = n_exam(dict(enumerate(ours)), dict(enumerate(gold)), Sampling(draws=400, seed=seed))  # type: ignore[arg-type]
        inside += found.low <= 0.75 <= found.high
    assert 0.84 <= inside / 200 <= 0.95


def test_answers_are_read_under_their_usual_names(tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", "system,topic,question,correct\nA,1,x,1\nA,1,y,\nB,1,x,false\nB,2,z,TRUE\n")
    assert read_answers(table) == {
        "A": {"1": {"x": True, "y": None}},
        "B": {"1": {"x": False}, "2": {"z": True}},
    }
    one = write(tmp_path / "a.jsonl", '{"query_id": "1", "question_id": "x", "question": "Why?", "score": 1.0}\n')
    assert read_answers(one) == {"system": {"1": {"x": True}}}


def test_answers_of_a_pipeline_find_their_query_by_the_bank(tmp_path: Path) -> None:
    table = write(tmp_path / "responses.csv", "student,item,score,llm\nm+bm25,a,1,m\nm+bm25,e,0,m\nm+bm25,x,,m\n")
    assert read_answers(table, BANK) == {"m+bm25": {"q1": {"a": True}, "q2": {"e": False}, "all": {"x": None}}}
    assert read_answers(table) == {"m+bm25": {"all": {"a": True, "e": False, "x": None}}}


def test_counts_of_right_answers_are_read(tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", "system,query,correct,total\nA,1,3,4\nA,2,0,2\n")
    asked = read_answers(table)["A"]
    assert {query: (sum(bool(one) for one in answers.values()), len(answers)) for query, answers in asked.items()} == {
        "1": (3, 4),
        "2": (0, 2),
    }
    with pytest.raises(ValueError, match=r"a\.csv:2: 5 right of 4; wanted whole numbers, at most the total"):
        read_answers(write(tmp_path / "a.csv", "query,correct,total\n1,5,4\n"))
    with pytest.raises(ValueError, match=r"a\.csv:3: 5 questions of query 'q1'; wanted the 4 of .*a\.csv:2"):
        read_answers(write(tmp_path / "a.csv", "system,query,correct,total\nA,q1,2,4\nB,q1,2,5\n"))


def test_the_answer_store_of_a_sat_exam_is_read(tmp_path: Path) -> None:
    exam = Exam((Question("a", "?", ("1", "2"), 0), Question("e", "?", ("1", "2"), 1)))
    one = Pipeline("llm", "bm25", 0)
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        store.begin(exam, {one: {}})
        for name, right in (("a", True), ("e", False)):
            store.add(Answer(one.id, name, 0, right, "", (), (), (), (), 1, 0.1))
    found = read_answers(tmp_path / "answers.sqlite", BANK)
    assert found == {one.id: {"q1": {"a": True}, "q2": {"e": False}}}
    with pytest.raises(FileNotFoundError, match=r"none\.sqlite: no such file"):
        read_answers(tmp_path / "none.sqlite")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question,correct\nx,0.5\n", r'a\.csv:2: correct "0\.5"; wanted 0, 1, true, false or nothing'),
        ("question,correct\nx,maybe\n", r'a\.csv:2: correct "maybe"; wanted a number'),
        ("question,answer\nx,1\n", r"a\.csv:2: no correct or score or grade with a value in any row"),
        (
            "query,question,correct\nq,x,1\nq,x,0\n",
            r'a\.csv:3: question "x" of query "q" is answered twice by "system"',
        ),
    ],
)
def test_bad_answers_are_refused_at_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_answers(write(tmp_path / "a.csv", text))


def test_words_are_lemmas_in_lower_case_without_stop_words_and_punctuation() -> None:
    assert words("The Dogs were running, and the geese?") == ["dog", "run", "goose"]
    assert rouge_1_f1("A dog runs.", "dogs, running far!") == pytest.approx(2 * 2 / (2 + 3))


def test_rouge_knows_what_it_cannot_say() -> None:
    assert math.isnan(rouge_1_f1("words", "the of and ."))
    assert rouge_1_f1("", "words") == 0.0
    assert rouge_scores({"1": "skin"}, {"1": "skin", "2": "bone"}) == {"1": 1.0, "2": 0.0}


@settings(deadline=None, max_examples=40)
@given(*[st.text(alphabet=string.ascii_lowercase[:5] + "  ", min_size=1, max_size=30)] * 2)
def test_rouge_is_that_of_the_rouge_score_package(article: str, gold: str) -> None:
    scorer = pytest.importorskip("rouge_score.rouge_scorer")

    class Words:
        def tokenize(self, text: str) -> list[str]:
            return words(text)

    if words(gold):
        theirs = scorer.RougeScorer(["rouge1"], tokenizer=Words()).score(gold, article)["rouge1"].fmeasure
        assert rouge_1_f1(article, gold) == pytest.approx(theirs)


def test_a_second_article_on_a_query_is_refused(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "system,query,text\nA,1,skin\nA,1,bone\n")
    with pytest.raises(ValueError, match=r't\.csv:3: "A" has a second article on "1"; wanted one'):
        read_articles(table)
