"""Grades from files: every way to write them, unparsed ones, and the rubric workbench's exam files."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest

from grading._records import Grade
from grading.formats._bank_files import read_bank, read_bank_questions
from grading.formats._grades import read_grades


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def workbench(path: Path, *queries: tuple[str, list[dict[str, Any]]]) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps([query, passages]) + "\n" for query, passages in queries)
    return path


def entry(prompt: str = "Rating", llm: str = "flan", **fields: Any) -> dict[str, Any]:
    return {
        "correctAnswered": [],
        "wrongAnswered": [],
        "answers": [],
        "llm": llm,
        "prompt_info": {"prompt_class": prompt},
        **fields,
    }


WANTED = (Grade("1", "p#1", "r1", 5.0, "skin"), Grade("1", "p2", "r1", 0.0))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.csv", "query,passage,question,grade,answer\n1,p#1,r1,5,skin\n1,p2,r1,0,\n"),
        ("g.tsv", "topic\tdocid\tnugget_id\tself_rating\tanswer\n1\tp#1\tr1\t5\tskin\n1\tp2\tr1\t0\t\n"),
        (
            "g.jsonl",
            '{"qid": 1, "query": "the skin", "paragraph_id": "p#1", "question_id": "r1", "question": "What?", '
            '"rating": 5, "answer": "skin"}\n{"qid": "1", "paragraph_id": "p2", "question_id": "r1", "rating": 0.0}\n',
        ),
    ],
)
def test_a_table_is_read_under_the_usual_names_and_an_id_goes_before_a_text(
    tmp_path: Path, name: str, text: str
) -> None:
    assert read_grades(write(tmp_path / name, text)).grades == WANTED


@pytest.mark.parametrize("blank", ["", "null", "NaN", "unparsed"])
def test_a_blank_grade_is_unparsed_and_counted(tmp_path: Path, blank: str) -> None:
    found = read_grades(write(tmp_path / "g.csv", f"query,passage,question,grade\n1,p,r1,{blank}\n1,p,r2,3\n"))
    assert math.isnan(found.grades[0].grade)
    assert (found.unparsed, found.highest) == (1, 3.0)
    assert found.questions == {"1": ("r1", "r2")}


def test_null_and_truth_values_of_json_are_grades(tmp_path: Path) -> None:
    lines = "".join(
        f'{{"query": "1", "passage": "p", "question": "r{place}", "grade": {value}}}\n'
        for place, value in enumerate(["null", "true", "false", "NaN", '"yes"'])
    )
    found = [one.grade for one in read_grades(write(tmp_path / "g.jsonl", lines)).grades]
    assert found[1:3] + found[4:] == [1.0, 0.0, 1.0]
    assert math.isnan(found[0])
    assert math.isnan(found[3])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "query,passage,question\n1,p,r\n",
            r"g\.csv:2: no grade or rating .* with a value in any row; wanted a column of grades",
        ),
        ("query,question,grade\n1,r,1\n", r"g\.csv:2: found query, question, grade; wanted passage_id or"),
        ("query,passage,question,grade\n1,p,r,-1\n", r'g\.csv:2: grade "-1"; wanted 0 or more'),
        ("query,passage,question,grade\n1,p,r,the epidermis\n", r'g\.csv:2: grade "the epidermis"; wanted a number'),
        (
            "query,passage,question,grade\n1,p,r,1\n1,q,r,1\n1,p,r,1\n",
            r'g\.csv:4: question "r" is graded twice for passage "p" of query "1" \(first at 2\); wanted one grade',
        ),
    ],
)
def test_bad_grades_are_refused_at_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_grades(write(tmp_path / "g.csv", text))


def test_the_workbench_is_read_by_ratings_before_right_and_wrong(tmp_path: Path) -> None:
    ratings = [{"question_id": "r1", "self_rating": 4}, {"nugget_id": "r2", "question_id": None, "self_rating": 0}]
    rated = entry(self_ratings=ratings, correctAnswered=["r1"], answers=[["r1", "three layers"]])
    checked = entry("Checked", correctAnswered=["r1"], wrongAnswered=["r2"])
    file = workbench(
        tmp_path / "exam.jsonl.gz",
        (
            "q1",
            [{"paragraph_id": "p1", "text": "…", "exam_grades": [rated, checked]}, {"paragraph_id": "p2", "text": ""}],
        ),
    )
    with pytest.raises(
        ValueError, match=r"grades by 2 prompts \(Rating:flan, Checked:flan\); wanted --prompt with one"
    ):
        read_grades(file)
    found = read_grades(file, "Rating")
    assert found.grades == (Grade("q1", "p1", "r1", 4.0, "three layers"), Grade("q1", "p1", "r2", 0.0))
    assert found.notes == (
        f"{file}: read the grades by Rating:flan; others are there by Rating:flan, Checked:flan.",
        f"{file}: 1 passages have no exam grades and count as not graded.",
    )
    assert [one.grade for one in read_grades(file, "Checked:flan").grades] == [1.0, 0.0]
    with pytest.raises(ValueError, match=r"no grades by prompt Other; found Rating:flan, Checked:flan"):
        read_grades(file, "Other")


def test_two_models_under_one_prompt_are_ambiguous(tmp_path: Path) -> None:
    both = [entry(llm="small", correctAnswered=["r"]), entry(llm="large", wrongAnswered=["r"])]
    file = workbench(tmp_path / "exam.jsonl.gz", ("q", [{"paragraph_id": "p", "exam_grades": both}]))
    with pytest.raises(ValueError, match="grades by 2 prompts"):
        read_grades(file, "Rating")
    assert read_grades(file, "Rating:large").grades == (Grade("q", "p", "r", 0.0),)


def test_direct_relevance_prompts_are_one_question(tmp_path: Path) -> None:
    told = {"correctAnswered": True, "answer": "Yes.", "llm": "flan", "prompt_info": {"prompt_class": "HELM"}}
    rated = {**told, "correctAnswered": False, "self_ratings": 2, "prompt_info": {"prompt_class": "Thomas"}}
    lost = {**told, "llm_response_error": "…"}
    passages = [{"paragraph_id": "p", "grades": [told, rated]}, {"paragraph_id": "s", "grades": [lost]}]
    file = workbench(tmp_path / "exam.jsonl.gz", ("q", passages))
    yes, unparsed = read_grades(file, "HELM").grades
    assert yes == Grade("q", "p", "direct", 1.0, "Yes.")
    assert math.isnan(unparsed.grade)
    assert [one.grade for one in read_grades(file, "Thomas").grades] == [2.0]


def test_a_reply_that_the_workbench_could_not_use_is_unparsed_and_not_zero(tmp_path: Path) -> None:
    failed = entry(wrongAnswered=["r1", "r2"], llm_response_errors={"r2": {"failure_reason": "…"}})
    file = workbench(tmp_path / "exam.jsonl.gz", ("q", [{"paragraph_id": "p", "exam_grades": [failed]}]))
    found = read_grades(file)
    assert found.grades[0].grade == 0.0
    assert math.isnan(found.grades[1].grade)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        # A text in the place of a list would be read letter by letter, as the published reader does with gold answers.
        (
            {"correctAnswered": "r12"},
            r'exam\.jsonl\.gz:1 \(passage 1\): correctAnswered "r12"; wanted a list of question',
        ),
        ({"self_ratings": [{"self_rating": 3}]}, r"self-rating a object; wanted a question_id or nugget_id"),
        ({"self_ratings": [{"question_id": "r", "self_rating": "5"}]}, r'self_rating "5" of r; wanted a number from 0'),
        ({"correctAnswered": ["r"], "wrongAnswered": ["r"]}, r'question "r" is graded twice for passage "p"'),
    ],
)
def test_a_damaged_workbench_file_is_refused(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    file = workbench(tmp_path / "exam.jsonl.gz", ("q", [{"paragraph_id": "p", "exam_grades": [entry(**fields)]}]))
    with pytest.raises(ValueError, match=message):
        read_grades(file)


def test_a_list_of_another_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"g\.jsonl:1: found JSON list; wanted a list of a query and its passages"):
        read_grades(write(tmp_path / "g.jsonl", "[1]\n"))
    with pytest.raises(ValueError, match=r"a table of grades; wanted a file of the rubric workbench for --prompt P"):
        read_grades(write(tmp_path / "g.csv", "query,passage,question,grade\n1,p,r,1\n"), "P")


def test_banks_of_every_tool_give_the_questions_of_each_query(tmp_path: Path) -> None:
    rows = write(
        tmp_path / "bank.jsonl", '{"id": "r1", "query": "q", "question": "Why?"}\n{"id": "r2", "query": "q"}\n'
    )
    assert read_bank_questions(rows) == {"q": {"r1": "Why?", "r2": ""}}
    facets = write(
        tmp_path / "facets.jsonl",
        '{"query_id": "q", "facet_id": "f1", "items": [{"question_id": "r1", "question_text": "Why?"}]}\n'
        '{"query_id": "q", "facet_id": "f2", "items": [{"nugget_id": "r2", "nugget_text": "So."}]}\n',
    )
    assert read_bank_questions(facets) == {"q": {"r1": "Why?", "r2": "So."}}
    exam = write(
        tmp_path / "exam.jsonl", '{"id": "x1", "question": "Which?", "choices": ["a", "b"], "answer": 0, "topic": ""}\n'
    )
    assert read_bank_questions(exam) == {"all": {"x1": "Which?"}}
    plain = write(tmp_path / "plain.jsonl", '{"query": "q", "questions": ["Why?", "How?"]}\n')
    assert read_bank_questions(plain, {"q": ["Why?", "How?"]}) == {"q": {"Why?": "Why?", "How?": "How?"}}
    assert [*read_bank_questions(plain)["q"]] == [one.id for one in read_bank(plain)]
    twice = write(tmp_path / "twice.jsonl", '{"query": "q", "questions": ["Why?", "How?", "Why?", "Why?"]}\n')
    assert [*read_bank_questions(twice)["q"]] == [one.id for one in read_bank(twice)]
    with pytest.raises(ValueError, match=r"bare\.jsonl:1: found query; wanted id or question_id"):
        read_bank_questions(write(tmp_path / "bare.jsonl", '{"query": "q"}\n'))


def test_a_bank_with_a_question_twice_is_refused(tmp_path: Path) -> None:
    twice = write(tmp_path / "bank.csv", "query,id\nq,r1\nq,r1\n")
    with pytest.raises(ValueError, match=r'bank\.csv:3: question "r1" stands twice for query "q"; wanted once'):
        read_bank_questions(twice)
    with pytest.raises(ValueError, match=r"bank\.jsonl:1: items is empty; wanted at least one question"):
        read_bank_questions(write(tmp_path / "bank.jsonl", '{"query_id": "q", "items": []}\n'))
