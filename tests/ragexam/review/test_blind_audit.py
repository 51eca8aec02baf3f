import json
from pathlib import Path
from typing import Any

import pytest

from ragexam.review._blind_audit import BlindAudit
from ragexam.review._server import ConflictError
from tests.ragexam.review.reviewed_run import plain_run


@pytest.fixture
def desk(tmp_path: Path) -> BlindAudit:
    return BlindAudit(plain_run(tmp_path / "run"), 4, 0)


def item(desk: BlindAudit, number: int) -> dict[str, Any]:
    found = desk.reads["item"]({"n": str(number)})
    assert isinstance(found, dict)
    return found


def judge(desk: BlindAudit, number: int, *faults: str) -> None:
    desk.writes["answer"]({"item": number, "chosen": 0})
    desk.writes["judge"]({"item": number, "faults": list(faults), "note": ""})


def test_the_key_shows_after_the_readers_answer_and_the_first_answer_counts(desk: BlindAudit) -> None:
    before = item(desk, 1)
    assert before["answer"] is None
    assert all(kind == "" for _, kind in before["passage"])
    with pytest.raises(ValueError, match="not answered yet"):
        desk.writes["judge"]({"item": 1, "faults": []})
    desk.writes["answer"]({"item": 1, "chosen": 2})
    desk.writes["answer"]({"item": 1, "chosen": 3})
    after = item(desk, 1)
    assert after["answer"] == desk.draw.items[0].question.key
    assert after["chosen"] == 2
    assert any(kind == "key" for _, kind in after["passage"])


def test_no_answer_before_the_end_tells_a_survivor_from_a_drop(desk: BlindAudit) -> None:
    for number in range(1, 8):
        judge(desk, number)
        shapes = {tuple(item(desk, number)) for number in range(1, 9)}
        assert len(shapes) == 1
    said = json.dumps([desk.reads["start"]({}), *(item(desk, number) for number in range(1, 9))])
    assert "leak" not in said
    assert "raw" not in said
    with pytest.raises(ValueError, match="1 items are not judged yet"):
        desk.reads["result"]({})


def test_after_the_end_labels_show_and_no_judgment_changes(desk: BlindAudit) -> None:
    for number in range(1, 9):
        judge(desk, number, *(["wrong key"] if number == 3 else []))
    found = desk.reads["result"]({})
    assert isinstance(found, dict)
    assert [one["reason"] for one in found["items"]] == [one.reason for one in desk.draw.items]
    assert "8 of 8 judged" in found["words"][0]
    with pytest.raises(ConflictError, match="the audit is over"):
        desk.writes["judge"]({"item": 1, "faults": ["garbled"]})


def test_an_audit_goes_on_where_it_was_left(desk: BlindAudit) -> None:
    judge(desk, 2, "garbled", "wrong key")
    again = BlindAudit(desk.files.folder.path, 4, 0)
    assert again.judgments[2].faults == ("wrong key", "garbled")
    assert again.judgments[2].chosen == 0
    assert BlindAudit(desk.files.folder.path, 4, 1).judgments == {}


def test_a_sheet_is_judged_by_any_program(desk: BlindAudit, tmp_path: Path) -> None:
    assert desk.write_sheet(tmp_path / "sheet.jsonl") == 8
    rows = [json.loads(line) for line in (tmp_path / "sheet.jsonl").read_text().splitlines()]
    assert not any(row.keys() & {"id", "reason", "metadata", "raw"} for row in rows)
    with desk.log.open("a") as log:
        for row in rows:
            faults = [] if row["choices"][row["answer"]] in row["passage"] else ["not answerable"]
            log.write(json.dumps({"audit": row["audit"], "item": row["item"], "faults": faults}) + "\n")
    found = desk.result()
    assert found.judged == 8
    assert desk.is_over


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("answer", {"item": 9, "chosen": 0}, "item 9: not drawn; wanted 1 to 8"),
        ("answer", {"item": 1, "chosen": 4}, r"chosen is 4; wanted -1 \(none\) to 3"),
        ("answer", {"item": True, "chosen": 0}, "item is no whole number"),
        ("judge", {"item": 1, "faults": ["ugly"]}, "faults; wanted a list, empty or of wrong key"),
    ],
)
def test_other_requests_are_refused(desk: BlindAudit, name: str, body: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        desk.writes[name](body)
