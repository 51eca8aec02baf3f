"""The exam beside people's questions: pairs agreed, silent, contradicted; bad questions; the command and the page."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from exam_gen import PEOPLE_VERSION
from exam_gen.language._spans import sentences
from examcore import (
    Chunk,
    Exam,
    Progress,
    Query,
    Question,
    read_chunks,
    read_dropped,
    read_exam,
    write_chunks,
    write_exam,
)
from rag import build_retriever
from ragexam._config import Config, GridSettings, generate_config
from ragexam._overlap_trend import OverlapTrend
from ragexam._run import HERE, run_all, run_exam, run_sitting
from ragexam.report import analyse_run
from ragexam.report._retrieval_section import validity_sentences
from ragexam.report._verdict_section import UNCHECKED, verdict_warnings
from ragexam.validity import UserQuestion, ValidityTable, compare, overlaps_of_people, read_users
from tests.command_line import ragexam_here
from tests.rag.scripted_author import question_about

CHUNKS = [
    Chunk(f"d{n}#0", f"d{n}", text, 0, len(text), f"Harbour {n}")
    for n in range(80)
    if (text := f"Harbour {n} of port{n} has pilot{n} and tides{n}.")
]


class Sometimes:
    """Finds the source first in a share of the questions that depends on how they begin, else not at all."""

    def __init__(self, name: str, people: float, exam: float) -> None:
        self.name, self._shares = name, {"p": people, "q": exam}

    def retrieve(self, question: Question, k: int) -> list[Chunk]:
        number = int(question.id[1:])
        lucky = random.Random(f"{self.name}{question.id}").random() < self._shares[question.id[0]]
        return [CHUNKS[number if lucky else (number + 1) % 80]][:k]


def users(count: int = 80) -> list[UserQuestion]:
    return [UserQuestion(f"p{n}", f"where is port{n} and its boat?", (f"d{n}",)) for n in range(count)]


def questions() -> list[Question]:
    return [
        Question(
            *(f"q{n}", f"What has harbour {n}?", ("a", "b"), 0, f"d{n}", f"d{n}#0"),
            context=CHUNKS[n].text,
            queries=(Query("question", f"what does port{n} have?"),),
        )
        for n in range(80)
    ]


@pytest.mark.parametrize(
    ("second", "verdict"),
    [((0.3, 0.3), "agreed"), ((0.3, 0.9), "silent"), ((0.3, 1.0), "contradicted"), ((0.9, 0.3), "untold")],
)
def test_a_pair_is_agreed_silent_contradicted_or_untold(second: tuple[float, float], verdict: str) -> None:
    first = (0.9, 0.6) if verdict == "contradicted" else (0.9, 0.9)
    found = compare({"a": Sometimes("a", *first), "b": Sometimes("b", *second)}, questions(), users(), CHUNKS)
    (pair,) = found.differences
    assert pair.verdict == verdict
    assert found.unit == "document"
    assert pair.people.estimate == pytest.approx(found.people["a"] - found.people["b"])
    assert pair.gap.estimate == pytest.approx(pair.exam.estimate - pair.people.estimate)
    assert pair.people.low < pair.people.estimate < pair.people.high
    assert found.overlap_people == pytest.approx(0.5)
    assert found.overlap_exam == pytest.approx(1.0)
    assert sum(found.counted(name) for name in ("agreed", "silent", "contradicted", "untold")) == 1


def test_intervals_hold_the_true_difference() -> None:
    """In 60 draws of retrievers with shares .8 and .5 the 90 % interval of their difference has .3 in most."""
    held = 0
    for trial in range(60):
        pair = {"a": Sometimes(f"a{trial}", 0.8, 0.8), "b": Sometimes(f"b{trial}", 0.5, 0.5)}
        (found,) = compare(pair, questions(), users(), CHUNKS).differences
        held += found.people.low <= 0.3 <= found.people.high
    assert 47 <= held <= 60


def test_tau_is_that_of_scipy() -> None:
    shares = {"a": (0.9, 0.4), "b": (0.7, 0.8), "c": (0.5, 0.6), "d": (0.3, 0.2)}
    found = compare({name: Sometimes(name, *pair) for name, pair in shares.items()}, questions(), users(), CHUNKS)
    wanted = kendalltau(list(found.people.values()), list(found.exam.values())).statistic
    assert found.tau.estimate == pytest.approx(wanted)
    assert -1 <= found.tau.low <= found.tau.estimate <= found.tau.high <= 1
    tied = compare({name: Sometimes(name, 1, 1) for name in "ab"}, questions(), users(), CHUNKS)
    assert json.loads(json.dumps(tied.record(), allow_nan=False))["tau"]["estimate"] is None


def test_the_record_holds_the_table() -> None:
    found = compare({"a": Sometimes("a", 0.9, 0.9), "b": Sometimes("b", 0.3, 0.3)}, questions(), users(), CHUNKS)
    record = json.loads(json.dumps(found.record()))
    assert {"tau", "agreed", "silent", "contradicted", "gaps", "overlap_people", "overlap_exam"} <= record.keys()
    assert set(record["tau"]) == {"estimate", "low", "high"}
    again = ValidityTable.of(record)
    assert again.record() == record
    assert "the exam agrees on 1" in "\n".join(again.lines())


def test_the_trend_over_overlap_is_a_line_in_which_every_question_counts_once() -> None:
    rng = np.random.default_rng(3)
    overlaps, asked = rng.uniform(0.3, 1, 40), [f"q{n}" for n in range(40)]
    lead = 0.4 * overlaps - 0.3 + rng.normal(0, 0.1, 40)
    found = OverlapTrend(np.array([lead, np.zeros(40)]), overlaps, asked)
    slope, start = np.polyfit(overlaps, lead, 1)
    assert found.slope(0, 1).estimate == pytest.approx(slope / 10)
    at = found.difference(0, 1, 0.9)
    assert at.estimate == pytest.approx(start + 0.9 * slope)
    assert at.low < 0.4 * 0.9 - 0.3 < at.high
    assert found.difference(1, 0, 0.9).estimate == pytest.approx(-at.estimate)
    # A question that has a query twice counts as one that has it once.
    twice = OverlapTrend(
        np.array([[*lead, lead[0]], np.zeros(41)]), np.append(overlaps, overlaps[0]), [*asked, asked[0]]
    )
    assert twice.slope(0, 1).estimate == pytest.approx(slope / 10)
    level = OverlapTrend(np.array([lead, np.zeros(40)]), np.full(40, 0.7), asked)
    assert np.isnan(level.difference(0, 1, 0.9).estimate)


def test_intervals_at_another_overlap_hold_the_truth() -> None:
    held = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        overlaps = rng.uniform(0.4, 1, 60)
        values = rng.random((2, 60)) < np.array([0.2 + 0.6 * overlaps, np.full(60, 0.6)])
        found = OverlapTrend(values.astype(float), overlaps, [str(n) for n in range(60)]).difference(0, 1, 0.5)
        held += found.low <= 0.5 - 0.6 <= found.high
    assert 82 <= held <= 97


def test_passages_are_what_is_found_where_all_questions_name_them() -> None:
    asked = [one._replace(documents=(), passages=(f"{one.documents[0]}#0",)) for one in users()]
    pair = {"a": Sometimes("a", 0.9, 0.9), "b": Sometimes("b", 0.3, 0.3)}
    found = compare(pair, questions(), asked, CHUNKS)
    assert found.unit == "passage"
    assert found.people == compare(pair, questions(), users(), CHUNKS).people


def test_of_questions_without_sources_only_the_overlap_is_known() -> None:
    pair = {"a": Sometimes("a", 0.9, 0.9), "b": Sometimes("b", 0.3, 0.3)}
    found = compare(pair, questions(), [one._replace(documents=()) for one in users()], CHUNKS)
    assert found.n_people == 0
    assert found.differences[0].verdict == "untold"
    checked = compare(pair, questions(), users(), CHUNKS).differences[0]
    assert found.differences[0].exam.estimate == checked.exam.estimate
    assert 0 < found.overlap_people < 1
    said = "\n".join(found.lines())
    assert "no questions of people with sources" in said
    assert "people nan" not in said
    assert ValidityTable.of(json.loads(json.dumps(found.record(), allow_nan=False))).lines() == found.lines()
    assert "name no sources" in validity_sentences(found)[0]


def test_too_few_questions_are_refused() -> None:
    with pytest.raises(ValueError, match="users: 9 questions; wanted at least 10"):
        compare({"a": Sometimes("a", 1, 1), "b": Sometimes("b", 1, 1)}, questions(), users(9), CHUNKS)


def lines(folder: Path, *rows: object) -> Path:
    path = folder / "users.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_questions_are_read_with_their_sources(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        {"id": "x", "text": "Where is port1?", "document": "d1", "answer": "north"},
        {"text": "Where is port2?", "passage": ["d2#0", "d3#0"]},
        {"text": "Where is the mayor?"},
    )
    assert read_users(path, CHUNKS) == [
        UserQuestion("x", "Where is port1?", ("d1",), (), "north"),
        UserQuestion("user-2", "Where is port2?", (), ("d2#0", "d3#0")),
        UserQuestion("user-3", "Where is the mayor?"),
    ]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no question; wanted one JSON object a line, with text"),
        ([{"question": "Where is it?"}], "users.jsonl:1: text is None; wanted a question"),
        ([{"text": "?"}], "users.jsonl:1: text is '\\?'; wanted a question"),
        ([{"text": "Where is port1?", "document": "x"}], "users.jsonl:1: document is 'x'; wanted the id of one"),
        ([{"text": "Where is port1?", "passage": 3}], "users.jsonl:1: passage is 3; wanted an id"),
        ([{"text": "Where is port1?", "answer": 3}], "users.jsonl:1: answer is 3; wanted text"),
        ([{"text": "Where is port1?"}, {"text": "where is PORT1 ?"}], None),
        (
            [{"text": "Where is port1?"}, {"text": "where is PORT1"}],
            "users.jsonl:2: text 'where is port1' stands already",
        ),
        ([{"id": "a", "text": "Port1?"}, {"id": "a", "text": "Port2?"}], "users.jsonl:2: id 'a' stands already at"),
    ],
)
def test_a_bad_question_is_refused_in_one_line(tmp_path: Path, rows: Sequence[object], message: str) -> None:
    path = lines(tmp_path, *rows)
    with pytest.raises(ValueError, match=message):
        read_users(path, CHUNKS)


def test_the_command_compares_the_retrievers_of_a_run(tmp_path: Path) -> None:
    write_chunks(tmp_path / "exam" / "chunks.jsonl", CHUNKS)
    write_exam(tmp_path / "exam" / "exam.jsonl", Exam(tuple(questions()[:20])))
    grid = GridSettings.model_validate(
        {"llms": ["python:tests.ragexam.examinees:careful"], "retrievers": ["bm25", "tfidf"], "shots": [0]}
    )
    run_sitting(tmp_path / "exam", grid, tmp_path / "run", HERE, 0, Progress(quiet=True))
    path = lines(tmp_path, *({"text": f"where is port{n}?", "document": f"d{n}"} for n in range(15)))
    done = ragexam_here("validity", tmp_path / "run", path, "--json", "--quiet")
    found = json.loads(done.stdout)
    assert (found["n_people"], found["n_exam"]) == (15, 20)
    assert set(found["people"]) == {"bm25", "tfidf"}
    bad = ragexam_here("validity", tmp_path / "run", lines(tmp_path, {"text": ""}))
    assert bad.returncode == 2
    assert bad.stderr.count("\n") == 1


def test_overlaps_are_those_with_the_source_or_with_the_passage_that_bm25_finds() -> None:
    asked = "where is the boat of port3?"
    assert overlaps_of_people([UserQuestion("a", asked, ("d3",))], CHUNKS) == (0.5,)
    assert overlaps_of_people([UserQuestion("a", asked)], CHUNKS) == (0.5,)
    assert overlaps_of_people([UserQuestion("a", asked, ("d4",))], CHUNKS) == (0.0,)
    assert overlaps_of_people([UserQuestion("a", "of nothing whatever")], CHUNKS) == ()
    assert overlaps_of_people([], CHUNKS) == ()


def test_questions_of_users_with_answers_join_the_exam_and_stay_out_of_its_check(tmp_path: Path) -> None:
    given = {"exam.questions": 12, "corpus.sample": 25, "writer.model": "python:tests.ragexam.examinees:writer"}
    others = ["writer.encoder=null", "pool=0", "exam.completions=0.5"]
    config = generate_config("python-docs", tmp_path / "first", 0, given, others)
    run_exam(config, Progress(quiet=True))
    chunks = [json.loads(line) for line in (tmp_path / "first" / "chunks.jsonl").read_text().splitlines()]
    asked = []
    for one in chunks:
        for sentence in sentences(one["text"])[:1]:
            stem, _, answer = question_about(sentence).partition("\nAnswer: ")
            asked.append({"text": f"{one['title']}. {stem.strip()}", "answer": answer, "passage": one["id"]})
    path = lines(tmp_path, *asked[::4])
    run_exam(config.model_copy(update={"run": tmp_path / "run", "users": path}), Progress(quiet=True))
    exam = read_exam(tmp_path / "run" / "exam.jsonl").questions
    own = [one for one in exam if one.metadata["prompt"] == PEOPLE_VERSION]
    assert own
    assert {one.stem for one in own} <= {one["text"] for one in asked}
    assert all(one.query("question") == one.stem for one in own)
    lost = read_dropped(tmp_path / "run" / "dropped.jsonl")
    assert all(one.reason for one in lost)
    retrievers = {"bm25": build_retriever("bm25", read_chunks(tmp_path / "run" / "chunks.jsonl"))}
    table = compare(
        {**retrievers, "again": retrievers["bm25"]},
        exam,
        read_users(path, read_chunks(tmp_path / "run" / "chunks.jsonl")),
        read_chunks(tmp_path / "run" / "chunks.jsonl"),
    )
    assert 0 < table.n_exam == len(exam) - len(own)
    with pytest.raises(ValueError, match="every question is one of the users; wanted some written from the corpus"):
        compare(retrievers, own, users(), CHUNKS)


def test_a_run_with_users_writes_the_check_and_the_page_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config.model_validate(
        {
            "run": str(tmp_path / "run"),
            "corpus": {"source": "python-docs", "sample": 25},
            "writer": {"model": "python:tests.ragexam.examinees:writer", "encoder": None},
            "exam": {"questions": 8, "completions": 0.5},
            "pool": 0,
            "grid": {"llms": ["python:tests.ragexam.examinees:careful"], "retrievers": ["bm25", "tfidf"], "shots": [0]},
            "fit": {"method": "map"},
            "prune": None,
        }
    )
    first = run_all(config, Progress(quiet=True))
    assert not (tmp_path / "run" / "validity.json").exists()
    assert first.record()["n_questions"] == 8
    exam, lost = read_exam(tmp_path / "run" / "exam.jsonl").questions, read_dropped(tmp_path / "run" / "dropped.jsonl")
    searched = {one.id for one in exam} | {one.question.id for one in lost if one.question and one.question.queries}
    asked = [json.loads(line) for line in (tmp_path / "run" / "chunks.jsonl").read_text().splitlines()][:12]
    path = lines(tmp_path, *({"text": f"{one['text'][:60]}", "document": one["document_id"]} for one in asked))
    again = config.model_copy(update={"run": tmp_path / "again", "users": path})
    run_all(again, Progress(quiet=True))
    found = json.loads((tmp_path / "again" / "validity.json").read_text())
    assert found["n_people"] == len(asked)
    assert len(searched) == found["n_exam"] > len(exam)
    assert f"Checked with {len(asked)} questions of your users" in (tmp_path / "again" / "report.html").read_text()
    monkeypatch.setattr("ragexam.report._run_findings.OWN_WORDS", 1.1)
    assert UNCHECKED in verdict_warnings(analyse_run(tmp_path / "run"))
    assert UNCHECKED not in verdict_warnings(analyse_run(tmp_path / "again"))
