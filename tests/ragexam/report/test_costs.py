"""The frontier of quality and cost: closed forms, ties, bounds left out, and prices from the configuration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rag.servers import Price
from ragexam.report._component_names import pipeline_names
from ragexam.report._costs_section import cost_frontier, costs_section, frontier, pipeline_costs, prices_of
from ragexam.report._run_figures import cost_figure

SHARES = {"cheap": 0.5, "middle": 0.45, "dear": 0.8, "oracle": 1.0}


def scores() -> pd.DataFrame:
    rows = [(name, f"q{n}", float(n < 100 * share), "m", name) for name, share in SHARES.items() for n in range(100)]
    return pd.DataFrame(rows, columns=["student", "item", "score", "llm", "retriever"])


def costs(**seconds: float) -> pd.DataFrame:
    rows = [(name, 100.0, spent, np.nan) for name, spent in seconds.items()]
    return pd.DataFrame(rows, columns=["student", "tokens", "seconds", "cost"])


SPENT = {"cheap": 1.0, "middle": 2.0, "dear": 3.0, "oracle": 0.5}


def test_a_dearer_pipeline_that_is_no_better_is_off_the_frontier() -> None:
    found = frontier(scores(), costs(**SPENT), "seconds").set_index("student")
    assert list(found.index) == ["cheap", "middle", "dear"]
    assert found["on"].tolist() == [True, False, True]
    assert found.loc["cheap", "chance"] == 1.0
    assert found.loc["dear", "chance"] == 1.0


def test_of_two_at_one_price_only_the_better_is_on_the_frontier() -> None:
    found = frontier(scores(), costs(**{**SPENT, "dear": 2.0}), "seconds").set_index("student")
    assert found["on"].to_dict() == {"cheap": True, "middle": False, "dear": True}
    same = frontier(scores(), costs(cheap=1.0, middle=1.0, dear=1.0), "seconds").set_index("student")
    assert same["on"].to_dict() == {"cheap": False, "middle": False, "dear": True}


def test_chance_of_the_frontier_follows_the_sampling_error() -> None:
    rng = np.random.default_rng(0)
    table = scores()
    table = table[table["retriever"].isin(["cheap", "dear"])].copy()
    table["score"] = (rng.random(len(table)) < 0.5).astype(float)
    equal = table.groupby("student")["score"].mean()
    found = frontier(table, costs(cheap=1.0, dear=3.0), "seconds").set_index("student")
    assert 0.02 < found.loc["dear", "chance"] < 0.98
    assert found.loc["dear", "on"] == (equal["dear"] > equal["cheap"])


def test_cost_is_tokens_at_the_price_of_the_model() -> None:
    answers = pd.DataFrame(
        {
            "student": ["a", "a", "b"],
            "item": ["q1", "q2", "q1"],
            "prompt_tokens": [100, 300, 50],
            "seconds": [1.0, 2.0, 0.0],
        }
    )
    table = pd.DataFrame({"student": ["a", "b"], "item": "q1", "score": 1.0, "llm": ["paid", "own"]})
    found = pipeline_costs(answers, table, {"paid": Price(2.0, 8.0)}).set_index("student")
    assert found.loc["a", "tokens"] == 200
    assert found.loc["a", "cost"] == pytest.approx(200 * 1000 * 2.0 / 1e6)
    assert np.isnan(found.loc["b", "cost"])
    assert np.isnan(found.loc["b", "seconds"])


def test_prices_are_those_of_the_configured_servers() -> None:
    server = {"base_url": "http://127.0.0.1:1/v1", "price_per_million": {"prompt": 3.0, "written": 9.0}}
    grid = {"llms": [{"name": "paid", "model": "openai:m", "server": server}, "gpt2"], "retrievers": ["bm25"]}
    assert prices_of({"grid": grid}) == {"paid": Price(3.0, 9.0)}
    assert prices_of({}) == {}


def test_configured_prices_make_the_frontier_one_of_cost(tmp_path: Path) -> None:
    priced = costs(**SPENT).assign(cost=[4.0, 2.0, 3.0, 1.0])
    found = cost_frontier(scores(), priced)
    assert found is not None
    section = costs_section(scores(), priced, found, cost_figure(found, pipeline_names(scores()), tmp_path))
    assert "costs of 1,000 questions" in str(section.sentences)
    assert any(head.text == "cost of 1,000" for head in section.tables[0].heads)
    assert (tmp_path / "quality_and_cost.csv").is_file()


def test_without_a_store_nothing_is_said_about_cost() -> None:
    unknown = pipeline_costs(None, scores(), {})
    assert cost_frontier(scores(), unknown) is None
    assert "costs are unknown" in str(costs_section(scores(), unknown, None, None).sentences)
