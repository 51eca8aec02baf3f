"""What the page says of item covariates: whose mix the verdict is for, and which leads depend on the questions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import irt
from ragexam.report._dependence_section import dependence_section
from ragexam.report._fitted_model import FittedModel, read_fitted_model
from tests.irt.item_covariate_tables import NAME, explained_table

TABLE = explained_table(2, items=60, slope_sd=0.8)
Reader = Callable[..., FittedModel]


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    folder: Path = tmp_path_factory.mktemp("fit")
    irt.fit(TABLE.data, method="map", seed=0, item_covariates=TABLE.known).save(folder)
    return lambda users=None: read_fitted_model(folder, {"retriever3": "oracle"}, users)


def test_without_users_the_verdict_is_for_questions_like_the_exams(read: Reader) -> None:
    model = read()
    lines = dependence_section(model).sentences
    assert lines[0] == f"The verdict is read at the mean of the exam's questions: {NAME} {TABLE.covariate.mean():.2f}."
    assert model.draws[1].contrast("retriever0", "retriever1").estimate == pytest.approx(
        model.fit.contrast("retriever", "retriever0", "retriever1").estimate
    )


def test_with_users_it_is_read_at_their_mix(read: Reader) -> None:
    users = [0.4, 0.9, 1.1]
    model = read({NAME: users, "length": [3.0]})
    assert model.mix == {NAME: pytest.approx(0.8)}
    assert (
        dependence_section(model)
        .sentences[0]
        .startswith(
            f"The verdict, and what a change would gain, are read at the mean of your users' questions: {NAME} 0.80"
        )
    )
    found, wanted = (
        model.draws[1].contrast("retriever0", "retriever1"),
        model.fit.contrast("retriever", "retriever0", "retriever1", at={NAME: users}),
    )
    assert (found.estimate, found.low) == (wanted.estimate, wanted.low)


def test_a_mix_beyond_the_exams_questions_is_not_read(read: Reader) -> None:
    model = read({NAME: [50.0]})
    (first, *_) = dependence_section(model).sentences
    assert "lie beyond them, where nothing was seen (found 'overlap' 50; wanted a mean from" in first
    assert model.draws[0].fit is model.fit


def test_leads_are_listed_the_clearest_first_and_bounds_left_out(read: Reader) -> None:
    model = read()
    (table,) = dependence_section(model).tables
    cells = [[cell.text for cell in row.cells] for row in table.rows]  # type: ignore[union-attr]
    assert len(cells) == 1 + 3 + 3
    assert not any("oracle" in row[2] for row in cells)
    effects = model.fit.covariate_effects().assign(z=lambda rows: (rows["effect"] / rows["sd"]).abs())
    best = effects[(effects["level"] != "retriever3") & (effects["other"] != "retriever3")].nlargest(1, "z").iloc[0]
    assert cells[0][2] == (f"{best['level']} minus {best['other']}" if best["level"] else "–")


def test_a_page_without_covariates_says_nothing(read: Reader) -> None:
    assert not dependence_section(None).tables
    assert read().fit.design.item_covariates is not None
