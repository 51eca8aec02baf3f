"""Wrong keys: found where planted, not suggested on noise, and the documented one of SAT12."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import irt
from irt.checks import miskeys
from irt.kernels import ItemParameters


def answered(
    draw: Any, students: int, count: int, seed: int, useless: int = 0
) -> tuple[irt.ResponseMatrix, pd.DataFrame]:
    """Right answers choose option 'A', wrong ones 'B' to 'D' at random; the first items may be answered at random."""
    one = draw(students, count, seed=seed)
    rng = np.random.default_rng(seed)
    scores = one.data.scores.copy()
    scores[:, :useless] = rng.random((students, useless)) < 0.4
    wrong = rng.choice(list("BCD"), scores.shape)
    options = pd.DataFrame(np.where(scores == 1, "A", wrong), columns=list(one.data.items))
    return irt.ResponseMatrix(scores, one.data.students, one.data.items), options


def rekeyed(data: irt.ResponseMatrix, options: pd.DataFrame, key: dict[str, str]) -> irt.ResponseMatrix:
    return irt.ResponseMatrix((options == pd.Series(key)).to_numpy(float), data.students, data.items)


def test_a_wrong_key_is_found_and_the_right_one_suggested(draw: Callable[..., Any]) -> None:
    data, options = answered(draw, 60, 40, seed=0)
    key = dict.fromkeys(data.items, "A") | {"q5": "B", "q11": "D"}
    table = miskeys(rekeyed(data, options, key), options, key)
    assert table["item"][table["flag"]].tolist() == ["q11", "q5"] or set(table["item"][:2]) == {"q5", "q11"}
    assert table["suggested"][:2].tolist() == ["A", "A"]
    assert (table["suggested"][2:] == "").all()
    assert "is probably keyed wrongly" in table["sentence"][0]
    assert "check whether 'A' is right" in table["sentence"][0]


def test_nothing_is_suggested_on_noise(draw: Callable[..., Any]) -> None:
    suggested, flagged = [], []
    for seed in range(40):
        data, options = answered(draw, 40, 30, seed=seed, useless=10)
        table = miskeys(data, options, dict.fromkeys(data.items, "A"))
        suggested.append((table["suggested"] != "").any())
        flagged.append(table["flag"].any())
    assert np.mean(suggested) < 0.12
    assert np.mean(flagged) < 0.2


def test_without_options_a_falling_item_is_flagged(draw: Callable[..., Any]) -> None:
    one = draw(80, 30, seed=1)
    scores = one.data.scores.copy()
    steep = int(np.argmax(one.items.a * (np.abs(one.items.b) < 1)))
    name, other = f"q{steep}", f"q{(steep + 1) % 30}"
    scores[:, steep] = 1 - scores[:, steep]
    scores[:, (steep + 1) % 30] = 1
    table = miskeys(irt.ResponseMatrix(scores, one.data.students, one.data.items), items=one.items).set_index("item")
    assert table.index[table["flag"]].tolist() == [name]
    assert table.loc[name, "sentence"] == (
        f"Item '{name}' is answered worse by better students: check its key, or drop it."
    )
    assert table["rest_correlation"].isna().sum() == 1
    assert table.loc[other, "note"].startswith("answers that do not vary")


def test_a_negative_estimate_that_the_answers_do_not_bear_out_is_no_wrong_key() -> None:
    """Clean tables, a third of their items flat: 1 in 20 tables may name an item, not every one below 0."""
    tables = []
    for seed in range(60):
        one = irt.simulate(60, 12, seed=seed, mean_a=1.5)
        scores, rng = one.data.scores.copy(), np.random.default_rng(seed)
        scores[:, :4] = rng.random((60, 4)) < 0.5
        items = ItemParameters(*(getattr(one.truth, name) for name in "abcd"))
        below = items._replace(a=np.where(np.arange(12) < 4, -0.1, items.a))
        tables.append(miskeys(irt.ResponseMatrix(scores, one.data.students, one.data.items), items=below))
    named = [bool(table["flag"].any()) for table in tables]
    assert np.mean(named) < 0.12
    assert all((table["flag"] == (table["p_adjusted"].astype(float) < 0.05)).all() for table in tables)


def test_options_are_matched_by_student_and_incomplete_ones_refused(draw: Callable[..., Any]) -> None:
    data, options = answered(draw, 60, 40, seed=0)
    key = dict.fromkeys(data.items, "A") | {"q5": "B"}
    scored = rekeyed(data, options, key)
    shuffled = options.set_axis(list(data.students)).sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(miskeys(scored, shuffled, key), miskeys(scored, options, key))
    with pytest.raises(ValueError, match="found one of options and key; wanted both"):
        miskeys(data, options)
    with pytest.raises(ValueError, match="the chosen options have no column for item 'q3'"):
        miskeys(data, options.drop(columns="q3"), key)
    with pytest.raises(ValueError, match="the key has no option for item 'q5'"):
        miskeys(data, options, {name: "A" for name in data.items if name != "q5"})
    with pytest.raises(ValueError, match="the chosen options have 59 rows; wanted 60"):
        miskeys(data, options[1:], key)
    others = options.set_axis([f"other{row}" for row in range(60)])
    with pytest.raises(ValueError, match="the chosen options have no row of student 's0'"):
        miskeys(data, others, key)
    more = pd.concat([shuffled, others])
    pd.testing.assert_frame_equal(miskeys(scored, more, key), miskeys(scored, options, key))


@pytest.mark.parametrize(("name", "wanted"), [("SAT12", {"Item.32": "3"}), ("SAT12_fixed32", {})])
def test_only_the_documented_wrong_key_of_sat12_is_found(
    classic: Callable[..., Any], name: str, wanted: dict[str, str]
) -> None:
    data, items, _, folder = classic(name, "2PL")
    options = pd.read_csv(folder / "sat12_raw_options.csv").replace(8, np.nan)
    key = dict(zip(data.items, (folder / "sat12_key.txt").read_text().strip().split(","), strict=True))
    if not wanted:
        key["Item.32"] = "3"
    table = miskeys(data, options, key, items)
    found = table[table["flag"]]
    assert dict(zip(found["item"], found["suggested"], strict=True)) == wanted
