import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from exam_gen.review import (
    FAULTS,
    Judgment,
    audit_result,
    audit_sheet,
    draw_audit_sample,
    labelled,
    missing_judgments,
    read_judgments,
)
from exam_gen.review._audit import AuditSample, combined
from examcore import Dropped, Exam, IntervalEstimate, Question, wilson

EXAM = Exam(tuple(Question(f"q{n}", f"Stem {n}?", ("a", "b", "c", "d"), n % 4, context="text") for n in range(50)))
DROPPED = [
    *(Dropped("leak: 3", "raw", "c", Question(f"d{n}", f"Drop {n}?", ("k", "l", "m", "n"), 0)) for n in range(70)),
    *(Dropped("unparsable: x", "raw", "c") for _ in range(9)),
    Dropped("duplicate choices", "raw", "c", Question("twice", "Twice?", ("a", "a"), 0)),
]


def number(drawn: AuditSample, survived: bool) -> int:
    return sum((one.reason is None) == survived for one in drawn.items)


def share(right: int, total: int) -> IntervalEstimate:
    return IntervalEstimate(right / total, *wilson(right / total, total))


def test_the_draw_depends_on_the_seed_alone_and_holds_as_many_of_each() -> None:
    one, same, other = (
        draw_audit_sample(EXAM, DROPPED, 40, 1),
        draw_audit_sample(EXAM, DROPPED, 40, 1),
        draw_audit_sample(EXAM, DROPPED, 40, 2),
    )
    assert one == same
    assert one.id == same.id != other.id
    assert (number(one, True), number(one, False)) == (40, 40)
    assert one.of == {"survivors": 50, "drops": 70}
    assert one.incomplete == 10
    assert len({item.question.id for item in one.items}) == 80


def test_a_draw_of_fewer_than_asked_for_says_why() -> None:
    assert missing_judgments(draw_audit_sample(EXAM, DROPPED, 50, 1)) == ""
    few = missing_judgments(draw_audit_sample(EXAM, DROPPED, 60, 1))
    assert few == "60 of each were asked for and there are only 50 survivors to judge"
    assert missing_judgments(draw_audit_sample(EXAM, DROPPED, 80, 1)) == (
        "80 of each were asked for and there are only 50 survivors and 70 drops to judge; "
        "10 more drops hold no complete question"
    )


def test_every_survivor_and_drop_is_drawn_equally_often_and_anywhere() -> None:
    counts: Counter[str] = Counter()
    first: Counter[bool] = Counter()
    for seed in range(400):
        drawn = draw_audit_sample(EXAM, DROPPED, 10, seed)
        counts.update(item.question.id for item in drawn.items)
        first[drawn.items[0].reason is None] += 1
    # Binomial(400, 1/5) and (400, 1/7): five standard deviations.
    assert all(40 <= counts[one] <= 120 for one in EXAM.ids)
    assert all(22 <= counts[f"d{n}"] <= 92 for n in range(70))
    assert 150 <= first[True] <= 250


def test_the_place_of_the_key_does_not_tell_a_drop() -> None:
    keys = [
        item.question.key
        for seed in range(30)
        for item in draw_audit_sample(EXAM, DROPPED, 40, seed).items
        if item.reason
    ]
    assert all(0.2 <= np.mean(np.array(keys) == place) <= 0.3 for place in range(4))


def test_the_sheet_holds_nothing_that_tells_a_drop() -> None:
    drawn = draw_audit_sample(EXAM, DROPPED, 5, 1)
    rows = audit_sheet(drawn, {"": "other text"})
    assert {tuple(row) for row in rows} == {("audit", "item", "question", "choices", "answer", "passage")}
    assert [row["item"] for row in rows] == list(range(1, 11))
    assert {row["passage"] for row in rows} == {"text", "other text"}
    assert "leak" not in json.dumps(rows)


def test_too_few_drops_are_all_drawn_and_none_is_refused() -> None:
    assert number(draw_audit_sample(EXAM, DROPPED[:3], 40, 0), False) == 3
    with pytest.raises(ValueError, match="none of 9 drops holds a complete question"):
        draw_audit_sample(EXAM, DROPPED[70:79], 40, 0)
    with pytest.raises(ValueError, match="0 of each; wanted at least 1"):
        draw_audit_sample(EXAM, DROPPED, 0, 0)


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090)],
)
def test_the_difference_has_newcombes_published_interval(
    one: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    found = combined([share(*one), share(*other)], (1, -1))
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


def test_the_interval_of_the_unfiltered_share_covers_it() -> None:
    rng = np.random.default_rng(0)
    truth, weights = (0.85, 0.4), (0.3, 0.7)
    counts = [rng.binomial(40, p, 4000) for p in truth]
    goal = sum(w * p for w, p in zip(weights, truth, strict=True))
    found = [combined([share(int(a), 40), share(int(b), 40)], weights) for a, b in zip(*counts, strict=True)]
    assert 0.935 <= np.mean([one.low <= goal <= one.high for one in found]) <= 0.975


def test_the_result_counts_sound_items_by_their_hidden_label() -> None:
    drawn = draw_audit_sample(EXAM, DROPPED, 40, 3)
    judged = {
        number: Judgment(
            drawn.id,
            number,
            () if item.reason is None or number % 2 else ("wrong key", "garbled"),
            chosen=item.question.key,
        )
        for number, item in enumerate(drawn.items, start=1)
    }
    found = audit_result(drawn, judged)
    drops = [number for number, item in enumerate(drawn.items, start=1) if item.reason is not None]
    odd = sum(number % 2 for number in drops)
    survivors, lost = found.parts["survivors"], found.parts["drops"]
    assert (survivors.sound, survivors.judged, lost.sound) == (40, 40, odd)
    assert (lost.share.low, lost.share.high) == wilson(odd / 40, 40)
    assert lost.faults == {"wrong key": 40 - odd, "garbled": 40 - odd}
    assert survivors.chose_key == survivors.asked == 40
    assert found.unfiltered.estimate == pytest.approx((50 + 70 * odd / 40) / 120)
    assert any("10 drops hold no complete question" in line for line in found.lines())
    assert [one["reason"] for one in labelled(drawn, judged)] == [item.reason for item in drawn.items]


def test_an_audit_without_judgments_claims_nothing() -> None:
    found = audit_result(draw_audit_sample(EXAM, DROPPED, 4, 0), {})
    assert found.record()["difference"] == {"estimate": None, "low": None, "high": None}
    assert found.lines()[1:4] == ["survivors: none judged", "drops: none judged", "survivors minus drops: not judged"]
    assert math.isnan(combined([IntervalEstimate(math.nan, math.nan, math.nan)], (1,)).estimate)


def test_of_two_judgments_the_last_counts_and_other_draws_are_passed_over(tmp_path: Path) -> None:
    drawn = draw_audit_sample(EXAM, DROPPED, 4, 0)
    path = tmp_path / "audit.jsonl"
    lines = [
        {"audit": drawn.id, "item": 2, "faults": ["garbled"]},
        {"audit": "another", "item": 99, "faults": []},
        {"audit": drawn.id, "item": 2, "faults": [], "chosen": -1},
        {"audit": drawn.id, "item": 3, "faults": list(FAULTS)},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"audit": "' + drawn.id)
    found = read_judgments(path, drawn)
    assert {number: one.faults for number, one in found.items()} == {2: (), 3: tuple(FAULTS)}
    assert found[2].chosen == -1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"faults": ["ugly"]}, r":1: faults are ugly; wanted a list, empty or of wrong key"),
        ({"faults": None}, r":1: faults are null"),
        ({"audit": 3}, r":1: audit is 3; wanted the id of a draw"),
        ({"item": "2"}, r':1: item is "2"; wanted its number'),
        ({"item": 9}, r": item 9; wanted 1 to 8"),
        ({"chosen": "A"}, r':1: chosen is "A"; wanted the index'),
        ({"chosen": 4}, r": item 1: chosen is 4; wanted -1 \(none\) to 3"),
    ],
)
def test_a_line_that_is_no_judgment_is_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    drawn = draw_audit_sample(EXAM, DROPPED, 4, 0)
    path = tmp_path / "audit.jsonl"
    path.write_text(json.dumps({"audit": drawn.id, "item": 1, "faults": []} | change) + "\n")
    with pytest.raises(ValueError, match=r"audit\.jsonl" + message):
        read_judgments(path, drawn)
