"""Agreement of two sets of judgements: files of several forms, a second implementation, what is left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from grading._records import Sampling
from grading.leaderboards._agreement import agree, read_judgements


def test_the_kappas_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    grades = rng.integers(4, size=120)
    other = np.where(rng.random(120) < 0.6, grades, rng.integers(4, size=120))
    first = {"t": {f"d{at}": float(grade) for at, grade in enumerate(grades)}}
    second = {"t": {f"d{at}": float(grade) for at, grade in enumerate(other)}}
    found = agree(first, second)
    assert found.n == 120
    assert found.interval_over == "pairs"
    assert found.agreement.estimate == pytest.approx(np.mean(grades == other))
    assert found.kappa.estimate == pytest.approx(cohen_kappa_score(grades, other))
    assert found.kappa_quadratic.estimate == pytest.approx(cohen_kappa_score(grades, other, weights="quadratic"))
    assert sum(found.confusion[1.0].values()) == np.sum(grades == 1)
    for one in (found.kappa, found.kappa_quadratic, found.alpha, found.alpha_ordinal, found.alpha_interval):
        assert one.low < one.estimate < one.high


def test_the_binary_kappa_divides_the_grades_at_the_threshold() -> None:
    rng = np.random.default_rng(2)
    grades, other = rng.integers(4, size=(2, 200))
    judged = [{"t": {f"d{at}": float(grade) for at, grade in enumerate(row)}} for row in (grades, other)]
    for threshold in (1, 1.5, 3):
        found = agree(*judged, threshold=threshold).kappa_binary
        assert found is not None
        assert found.estimate == pytest.approx(cohen_kappa_score(grades >= threshold, other >= threshold))
        assert found.low < found.estimate < found.high
    assert agree(*judged).kappa_binary is None


def test_two_grades_make_every_alpha_the_same() -> None:
    first = {"t": {str(at): float(at % 2) for at in range(30)}}
    second = {"t": {str(at): float(at % 3 == 0) for at in range(30)}}
    found = agree(first, second)
    assert found.alpha == pytest.approx(found.alpha_ordinal)
    assert found.alpha == pytest.approx(found.alpha_interval)
    assert found.kappa == pytest.approx(found.kappa_quadratic)


def test_what_one_file_alone_judges_is_named() -> None:
    found = agree({"1": {"a": 1, "b": 0}, "2": {"a": 1}}, {"1": {"a": 1, "c": 0}})
    assert found.n == 1
    assert found.only_in_a.pairs == (("1", "b"), ("2", "a"))
    assert found.only_in_a.topics == ("2",)
    assert found.only_in_b.pairs == (("1", "c"),)
    assert found.only_in_b.topics == ()
    assert np.isnan(found.kappa.estimate)


def test_topics_are_resampled_from_ten_on_unless_asked_otherwise() -> None:
    rng = np.random.default_rng(1)

    def judged(topics: int) -> dict[str, dict[str, float]]:
        return {str(topic): {str(at): float(rng.integers(2)) for at in range(5)} for topic in range(topics)}

    assert agree(judged(9), judged(9), Sampling(draws=20)).interval_over == "pairs"
    assert agree(judged(10), judged(10), Sampling(draws=20)).interval_over == "topics"
    assert agree(judged(9), judged(9), Sampling(draws=20), over="topics").interval_over == "topics"
    assert agree(judged(20), judged(20), Sampling(draws=20), over="pairs").interval_over == "pairs"


def test_files_without_a_common_pair_are_refused() -> None:
    with pytest.raises(ValueError, match="judgements: no topic and passage is judged by both"):
        agree({"1": {"a": 1}}, {"2": {"a": 1}})


def test_qrels_and_tables_say_the_same(tmp_path: Path) -> None:
    wanted = {"1": {"d1": 2, "d2": 0}, "2": {"d1": 1}}
    files = {
        "a.qrels": "1 0 d1 2\n1 0 d2 0\n\n2 0 d1 1\n",
        "a.tsv": "topic\tdocno\tgrade\n1\td1\t2\n1\td2\t0\n2\td1\t1\n",
        "a.csv": "query,passage,relevance\n1,d1,2\n1,d2,0\n2,d1,1\n",
        "a.jsonl": '{"topic": "1", "passage": "d1", "grade": 2}\n{"topic": "1", "passage": "d2", "grade": 0}\n'
        '{"topic": "2", "passage": "d1", "grade": 1}\n',
    }
    for name, text in files.items():
        path = tmp_path / name
        path.write_text(text)
        assert read_judgements(path) == (wanted, 0), name


def test_rows_without_a_grade_are_counted_and_questions_tell_passages_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("topic,passage,question,grade\n1,d1,q1,3\n1,d1,q2,\n1,d1,q3,0\n")
    assert read_judgements(path) == ({"1": {"d1 by q1": 3, "d1 by q3": 0}}, 1)
    path.write_text("topic,passage,grade\n1,d1,3\n1,d1,2\n")
    with pytest.raises(ValueError, match=r"a.csv:3: 'd1' of topic '1' occurs twice; wanted it once"):
        read_judgements(path)
    path.write_text("topic,passage,mark\n1,d1,3\n")
    with pytest.raises(ValueError, match=r"a.csv: no row has a grade; wanted a column 'grade'"):
        read_judgements(path)
