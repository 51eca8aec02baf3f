"""ResearchRubrics: compliance by hand, negative criteria, systems compared, bad files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grading.scores._rubrics import JudgedCriterion, avoided, compliance, failed, read_rubrics
from tests.command_line import ragexam_here


def judged(task: str, title: str, weight: float, score: float | None, **more: object) -> dict[str, Any]:
    """A line of the published results."""
    verdict = "Satisfied" if score else "Not Satisfied"
    told = {"confidence": 0.9, "reasoning": "…", "tokens_used": 10, "cost": 0.0, "success": True}
    return {
        "sample_id": task,
        "rubric_title": title,
        "verdict": verdict,
        "score": score,
        **told,
        "weight": weight,
        **more,
    }


def written(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


ONE = (judged("t1", "names it", 4, 1), judged("t1", "dates it", 2, 0), judged("t1", "invents it", -3, 1))


def test_negative_criteria_count_against_and_not_in_the_denominator() -> None:
    criteria = [JudgedCriterion("a", 4, 1), JudgedCriterion("b", 2, 0), JudgedCriterion("c", -3, 1)]
    assert compliance(criteria) == pytest.approx((4 - 3) / 6)
    assert avoided(criteria) == 0
    assert avoided([*criteria, JudgedCriterion("d", -1, 0)]) == 0.5
    assert compliance(criteria[1:]) == pytest.approx(-3 / 2)


def test_a_criterion_that_the_judge_failed_on_takes_no_part(tmp_path: Path) -> None:
    lost = judged("t1", "cites it", 6, 0, success=False)
    read = read_rubrics(written(tmp_path / "a.jsonl", *ONE, lost))
    assert failed(read) == 1
    assert compliance(read["t1"]) == pytest.approx(1 / 6)


def test_systems_are_ranked_by_compliance_and_compared(tmp_path: Path) -> None:
    other = (judged("t1", "names it", 4, 1), judged("t1", "dates it", 2, 1), judged("t2", "is short", 1, 1))
    files = written(tmp_path / "a.jsonl", *ONE), written(tmp_path / "b.jsonl", *other)
    found = json.loads(ragexam_here("grade", "rubrics", *files, "--json").stdout)
    assert list(found["systems"]) == ["b", "a"]
    assert found["systems"]["b"]["compliance"]["estimate"] == 1
    assert found["systems"]["a"]["per_query"] == {"t1": pytest.approx(1 / 6), "t2": 0.0}
    assert found["systems"]["b"]["avoided"]["estimate"] is None
    printed = ragexam_here("grade", "rubrics", *files).stdout
    assert "Tasks that a skips, counted 0" in printed


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (judged("t1", "is long", 0, 1), "a.jsonl:2: weight 0; wanted one above 0, or below"),
        (judged("t1", "is long", 1, 3), "a.jsonl:2: score 3; wanted 0 to 1"),
        (judged("t1", "names it", 4, 1), "stands twice in its task; wanted it once"),
        ({"sample_id": "t1", "rubric_title": "x", "score": 1}, "a.jsonl:2: no 'weight'; wanted a number"),
    ],
)
def test_what_is_wrong_is_named_by_line(tmp_path: Path, record: dict[str, Any], message: str) -> None:
    found = ragexam_here("grade", "rubrics", written(tmp_path / "a.jsonl", ONE[0], record))
    assert found.returncode == 2
    assert message in found.stderr


def test_a_file_without_a_verdict_is_refused(tmp_path: Path) -> None:
    found = ragexam_here("grade", "rubrics", written(tmp_path / "a.jsonl", judged("t1", "x", 1, None)))
    assert found.returncode == 2
    assert "no criterion has a verdict" in found.stderr
