"""What the page says of variance components, of longer exams, and of questions for and against a component."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import irt
from examcore import Question
from examcore.page import chance, percent
from ragexam.report._component_verdicts import FacetVerdict, judge_all
from ragexam.report._fitted_model import FittedModel, read_fitted_model
from ragexam.report._response_scores import read_scores
from ragexam.report._variance_section import variance_section
from tests.irt.quick_gibbs import quick_fit

QUESTIONS = tuple(
    Question(id=item, stem=f"What of {item}?", choices=("a", "b"), key=0, chunk_id="", document_id="", context="")
    for item in quick_fit().data.items
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> FittedModel:
    folder = tmp_path_factory.mktemp("fit")
    quick_fit().save(folder)
    return read_fitted_model(folder, {"retriever0": "another name"})


@pytest.fixture(scope="module")
def verdicts(model: FittedModel, tmp_path_factory: pytest.TempPathFactory) -> tuple[FacetVerdict, ...]:
    table = tmp_path_factory.mktemp("table") / "responses.csv"
    irt.write_responses(quick_fit().data, table)
    scores = read_scores(table)
    scores["retriever"] = scores["retriever"].replace({"retriever0": "another name"})
    return judge_all(scores, model.draws)


def test_each_source_is_named_in_plain_words(model: FittedModel, verdicts: tuple[FacetVerdict, ...]) -> None:
    (table,) = variance_section(model, verdicts, QUESTIONS).tables
    shares = model.fit.variance_components().table["share"]
    cells = [row.cells for row in table.rows]  # type: ignore[union-attr]
    assert [row[0].text for row in cells] == [
        "Which language model",
        "Which retriever",
        "Pipelines beyond the sum of their parts",
        "Which question: its difficulty",
        "Which language model suits which question",
        "Which retriever suits which question",
        "Chance in a single answer",
    ]
    assert [row[2].text.partition(" (")[0] for row in cells] == [percent(share) for share in shares]


def test_what_more_questions_buy_is_the_study_of_the_fit(
    model: FittedModel, verdicts: tuple[FacetVerdict, ...]
) -> None:
    lines = variance_section(model, verdicts, QUESTIONS).sentences
    assert len(lines) == 2
    study = model.fit.d_study("llm", tuple(verdicts[1].chances[at][0] for at in (0, 1)), questions=[40, 80])  # type: ignore[arg-type]
    assert verdicts[1].facet == "llm"
    now, doubled = study.table["right_order"]
    assert f"with probability {chance(now)}, one with 40 more questions {chance(doubled)}." in lines[1]


def test_pipelines_that_vary_ask_for_more_components(model: FittedModel, verdicts: tuple[FacetVerdict, ...]) -> None:
    draws = {**model.fit.draws, "residual_scale": np.full_like(model.fit.draws["residual_scale"], 9.0)}
    varied = replace(model, fit=replace(model.fit, draws=draws))
    line = variance_section(varied, verdicts, QUESTIONS).sentences[1]
    assert "comes from pipelines that do better or worse than the sum of their parts" in line
    assert line.endswith("No number of questions gives 90\u00a0%: try them with more retrievers.")


def test_questions_for_and_against_are_linked(model: FittedModel, verdicts: tuple[FacetVerdict, ...]) -> None:
    (table,) = variance_section(model, verdicts, QUESTIONS).folded
    effects = model.fit.level_items("retriever").groupby("level", sort=False)
    shown = {row.cells[1].text: row.cells for row in table.rows}  # type: ignore[union-attr]
    first, last = effects.get_group("retriever0").iloc[[0, -1]]["item"]
    assert [shown["another name"][at].text for at in (2, 4)] == [f"What of {first}?", f"What of {last}?"]
    assert shown["another name"][2].link == f"#question-{model.fit.data.items.index(first) + 1}"


def test_a_fit_without_effects_says_nothing(model: FittedModel, verdicts: tuple[FacetVerdict, ...]) -> None:
    design = replace(model.fit.design, item_facets=())
    section = variance_section(replace(model, fit=replace(model.fit, design=design)), verdicts, QUESTIONS)
    assert not section.tables
    assert not section.sentences
    assert not variance_section(None, verdicts, QUESTIONS).tables
