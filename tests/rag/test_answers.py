"""The answer store: exactly once, one writer, one exam, one setting, and earlier answers survive every fault."""

import contextlib
import csv
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from examcore import Exam, FailedError
from rag import Answer, AnswerStore, JudgedReply, Pipeline, PipelineOutcome
from rag.sitting._answer_store import VERSION

GRID = (Pipeline("m", "bm25", 0), Pipeline("m", "oracle", 1))
SETTINGS = {pipeline: {"k": 1, "prompt": "p1"} for pipeline in GRID}
ROOT = Path(__file__).parents[2]


def answer(pipeline: Pipeline = GRID[0], question: str = "q-oder", chosen: int = 0) -> Answer:
    sums = (-1.25, -2.5, -0.1 - 0.2, -1e-17)
    return Answer(pipeline.id, question, chosen, chosen == 0, "sum", sums, (1, 2, 3, 4), sums, ("c-1", "c-é"), 17, 0.5)


def test_answers_come_back_to_the_last_bit(exam: Exam, tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a.sqlite") as store:
        store.begin(exam, SETTINGS)
        store.add(answer(), answer(GRID[1], chosen=2))
    with AnswerStore(tmp_path / "a.sqlite") as store:
        assert store.answers() == [answer(), answer(GRID[1], chosen=2)]
        assert store.settings(GRID[0].id) == {"k": 1, "prompt": "p1"}


def test_pending_lists_what_is_missing_in_grid_and_exam_order(exam: Exam, tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a.sqlite") as store:
        assert store.pending(exam, GRID) == [(pipeline, one) for pipeline in GRID for one in exam.ids]
        store.begin(exam, SETTINGS)
        store.add(answer(question=exam.ids[1]))
        assert store.pending(exam, GRID[:1]) == [(GRID[0], one) for one in exam.ids if one != exam.ids[1]]


def test_second_answer_to_the_same_question_is_refused_with_its_whole_batch(exam: Exam, tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a.sqlite") as store:
        store.begin(exam, SETTINGS)
        store.add(answer())
        with pytest.raises(ValueError, match="an answer is already there"):
            store.add(answer(GRID[1]), answer(chosen=1))
        assert store.answers() == [answer()]


def test_writing_needs_begin(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a.sqlite") as store, pytest.raises(ValueError, match="not begun"):
        store.add(answer())


def test_another_exams_store_is_refused(exam: Exam, tmp_path: Path) -> None:
    other = Exam((replace(exam.questions[0], stem="Another?"), *exam.questions[1:]))
    with AnswerStore(tmp_path / "a.sqlite") as store:
        store.begin(exam, SETTINGS)
    with AnswerStore(tmp_path / "a.sqlite") as store:
        with pytest.raises(ValueError, match=f"holds answers to exam {exam.hash}; wanted exam {other.hash}"):
            store.begin(other, SETTINGS)
        store.begin(exam, SETTINGS)  # the refusal gave the lock back


def test_other_settings_of_a_pipeline_are_refused_and_new_pipelines_welcome(exam: Exam, tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a.sqlite") as store:
        store.begin(exam, SETTINGS)
        store.settle({GRID[0]: {"dtype": "float32"}})
        with pytest.raises(
            ValueError, match=r"m\+bm25\+icl0 answered under other settings \(dtype: stored 'float32', now 'bfloat16'\)"
        ):
            store.settle({GRID[0]: {"dtype": "bfloat16"}})
    with AnswerStore(tmp_path / "a.sqlite") as store:
        with pytest.raises(
            ValueError, match=r"\(k: stored 1, now 2\); wanted those stored \(undo the change\), or another run folder"
        ):
            store.begin(exam, {GRID[0]: {"k": 2, "prompt": "p1"}})
        store.begin(exam, {**SETTINGS, Pipeline("n", "bm25"): {"k": 2}})


def test_responses_follow_grid_and_exam_order_and_leave_unasked_empty(exam: Exam, tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a.sqlite") as store:
        store.begin(exam, SETTINGS)
        store.add(answer(GRID[1], exam.ids[2]), answer(GRID[0], exam.ids[1], chosen=3))
        store.to_responses_csv(tmp_path / "responses.csv", exam, GRID)
    with (tmp_path / "responses.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["student", "item", "score", "llm", "retriever", "icl"]
    assert [row[:2] for row in rows] == [[pipeline.id, one] for pipeline in GRID for one in exam.ids]
    assert [row[2] for row in rows] == ["", "0", "", "", "", "", "1", ""]
    assert rows[-1][3:] == ["m", "oracle", "1"]
    assert [path.name for path in tmp_path.iterdir() if "responses" in path.name] == ["responses.csv"]


def test_a_store_of_version_1_is_read_and_written_on(exam: Exam, tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a.sqlite") as store:
        store.begin(exam, SETTINGS)
        store.add(answer(GRID[0], exam.ids[0]))
    with contextlib.closing(sqlite3.connect(tmp_path / "a.sqlite")) as old:
        old.executescript("ALTER TABLE answers DROP COLUMN reply; ALTER TABLE answers DROP COLUMN cut;")
        old.executescript("DROP TABLE judgments;")
        old.execute("PRAGMA user_version = 1")
    with AnswerStore(tmp_path / "a.sqlite") as store:
        assert store.answers() == [answer(GRID[0], exam.ids[0])]
        store.begin(exam, SETTINGS)
        written = replace(answer(GRID[0], exam.ids[1]), reply="B, I think", cut=7)
        store.add(written)
        assert written in store.answers()
    with contextlib.closing(sqlite3.connect(tmp_path / "a.sqlite")) as old:
        old.executescript("ALTER TABLE answers DROP COLUMN cut; DROP TABLE judgments; PRAGMA user_version = 2;")
    with AnswerStore(tmp_path / "a.sqlite") as store:
        assert replace(written, cut=0) in store.answers()


def test_outcomes_count_what_became_of_each_pipelines_questions(exam: Exam, tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a.sqlite") as store:
        assert store.outcomes() == {}
        store.begin(exam, SETTINGS)
        store.add(answer(GRID[0], exam.ids[0]), replace(answer(GRID[0], exam.ids[1]), chosen=-1, correct=False))
        store.add(replace(answer(GRID[1], exam.ids[0]), correct=True, cut=12))
        first = answer(GRID[0], exam.ids[0]).correct
        assert store.outcomes() == {
            GRID[0].id: PipelineOutcome(2, int(first), 1, 0, 0),
            GRID[1].id: PipelineOutcome(1, 1, 0, 1, 0),
        }


def test_a_judge_decides_where_rules_name_no_choice_and_is_asked_once(exam: Exam, tmp_path: Path) -> None:
    first, second = exam.questions[:2]
    with AnswerStore(tmp_path / "a.sqlite") as store:
        store.begin(exam, SETTINGS)
        store.add(
            replace(answer(GRID[0], first.id), chosen=-1, correct=False, reply="about twelve"),
            replace(answer(GRID[0], second.id), chosen=-2, correct=False, reply="I do not know."),
            replace(answer(GRID[1], first.id), chosen=-1, correct=False, reply="in other words"),
        )
        store.settle({GRID[0]: {"model": {"answers": "text"}}, GRID[1]: {"model": {"answers": "letters"}}})
        assert store.free_text() == {GRID[0].id}
        assert store.unclear(exam, "j") == [(GRID[0].id, first.id, "about twelve")]
        store.judge("j", JudgedReply(GRID[0].id, first.id, first.key, correct=True))
        assert store.unclear(exam, "j") == []
        assert len(store.unclear(exam, "another")) == 1
        assert store.scores(exam)[GRID[0].id, first.id] == 1
        assert store.outcomes()[GRID[0].id] == PipelineOutcome(2, 1, 0, 0, 1)
        judged = next(one for one in store.answers() if one.judge)
        assert (judged.chosen, judged.correct, judged.reply) == (first.key, True, "about twelve")
        store.withdraw_judgments("j")
        assert store.scores(exam)[GRID[0].id, first.id] == 1
        store.withdraw_judgments()
        assert store.scores(exam)[GRID[0].id, first.id] == 0


def test_newer_store_and_foreign_files_are_refused(tmp_path: Path) -> None:
    newer = sqlite3.connect(tmp_path / "newer.sqlite")
    newer.execute(f"PRAGMA user_version = {VERSION + 1}")
    newer.close()
    with pytest.raises(ValueError, match=rf"newer\.sqlite: answer store of version {VERSION + 1}; wanted at most"):
        AnswerStore(tmp_path / "newer.sqlite")
    foreign = sqlite3.connect(tmp_path / "foreign.sqlite")
    foreign.execute("CREATE TABLE t (x)")
    foreign.close()
    with pytest.raises(ValueError, match=r"foreign\.sqlite: another program's database"):
        AnswerStore(tmp_path / "foreign.sqlite")
    (tmp_path / "text.sqlite").write_text("not a database at all, but long enough to be read as one" * 20)
    with pytest.raises(ValueError, match=r"text\.sqlite: .*not a database; wanted an answer store"):
        AnswerStore(tmp_path / "text.sqlite")
    with pytest.raises(OSError, match="unable to open database file"):
        AnswerStore(tmp_path / "no" / "a.sqlite")


def test_full_disk_is_one_line_and_keeps_earlier_answers(exam: Exam, tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a.sqlite") as store:
        store.begin(exam, SETTINGS)
        store.add(answer())
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(FailedError, match=r"a\.sqlite: database or disk is full; earlier answers are intact"):
            store.add(*[replace(answer(GRID[1], f"q{n}"), passages=("x" * 9000,)) for n in range(9)])
        assert store.answers() == [answer()]
    with AnswerStore(tmp_path / "a.sqlite") as store:
        assert store.answers() == [answer()]


def test_store_that_may_not_be_written_says_so(exam: Exam, tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a.sqlite") as store:
        store.begin(exam, SETTINGS)
        store._db.execute("PRAGMA query_only = ON")
        with pytest.raises(OSError, match="attempt to write a readonly database"):
            store.add(answer())


HOLDER = """
    import sys, time
    from pathlib import Path
    from examcore._records import Exam, Question
    from rag.sitting._answer_store import AnswerStore
    store = AnswerStore(Path(sys.argv[1]))
    store.begin(Exam((Question("q", "s?", ("a", "b"), 0),)), {})
    print("held", flush=True)
    time.sleep(60)
"""


def test_second_process_is_refused_until_the_first_is_gone_even_by_kill(tmp_path: Path) -> None:
    from examcore import Question

    exam = Exam((Question("q", "s?", ("a", "b"), 0),))
    path = tmp_path / "a.sqlite"
    command = [sys.executable, "-c", textwrap.dedent(HOLDER), str(path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with AnswerStore(path) as store:
            assert store.answers() == []  # reading is always possible
            with pytest.raises(FailedError, match="another process is writing answers; wanted one writer"):
                store.begin(exam, SETTINGS)
            os.kill(holder.pid, signal.SIGKILL)
            holder.wait()
            store.begin(exam, SETTINGS)
            store.add(answer(question="q"))
