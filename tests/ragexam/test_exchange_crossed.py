"""Grids that cross numbers and lengths of passages go out and come back as they were sat."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rag import Answer, AnswerStore, Sitting, grid_of, sit
from ragexam.exchange import export_exam
from ragexam.exchange._reading import import_answers
from tests.ragexam.exported import hostile_exam, pipeline_of, rows_of, write_samples, write_source

RETRIEVERS: tuple[str | dict[str, str], ...] = ("closed-book", "bm25", "oracle")
RENAMED = ({"name": "none", "kind": "closed-book"}, "bm25", {"name": "source", "kind": "oracle"})


class Sat(NamedTuple):
    """A run folder and its answers, by pipeline and question."""

    run: Path
    answers: dict[tuple[str, str], Answer]

    @property
    def rows(self) -> list[list[str]]:
        return rows_of(self.run / "responses.csv")


def sat(run: Path, model: Any, kinds: Sequence[str | dict[str, str]] = RETRIEVERS, **crossed: list[int]) -> Sat:
    exam, chunks, pool = hostile_exam()
    write_source(run)
    grid = grid_of({"llms": ["hash"], "retrievers": list(kinds), **crossed})
    with AnswerStore(run / "answers.sqlite") as store:
        retrievers = {one.name: one.build(chunks) for one in grid.retrievers}
        behind = {one.name: one.identity for one in grid.retrievers}
        sit(Sitting(exam, grid.pipelines, chunks, {"hash": lambda: model}, retrievers, pool, identities=behind), store)
        store.to_responses_csv(run / "responses.csv", exam, grid.pipelines)
        return Sat(run, {(one.pipeline, one.question): one for one in store.answers()})


def asked(folder: Path) -> Iterator[dict[str, Any]]:
    """The questions of an export."""
    for file in sorted(folder.glob("*.jsonl")):
        yield from (json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line)


CROSSED = [
    {"shots": [0, 2], "passages": [1, 3]},
    {"shots": [0], "passages": [2, 1], "budget": [60, 400]},
    {"shots": [0, 1]},
]


@pytest.mark.parametrize("crossed", CROSSED)
def test_answers_back_from_the_harness_are_the_responses_of_the_sitting(
    tmp_path: Path, hash_model: Any, crossed: dict[str, list[int]]
) -> None:
    found = sat(tmp_path / "run", hash_model, **crossed)
    export_exam(found.run, "lm-eval", tmp_path / "tasks", "crossed")
    samples = []
    for doc in asked(tmp_path / "tasks"):
        sums = found.answers[pipeline_of("hash", doc), doc["id"]].log_likelihoods
        samples.append({"doc": doc, "filtered_resps": [[str(one), "False"] for one in sums]})
    write_samples(tmp_path / "hash" / "samples_crossed_1.jsonl", samples)
    import_answers([str(tmp_path / "hash")], found.run, tmp_path / "back.csv", "character")
    back = rows_of(tmp_path / "back.csv")
    assert back[0] == found.rows[0]
    assert sorted(back) == sorted(found.rows)


@pytest.mark.parametrize("crossed", CROSSED)
def test_answers_back_from_inspect_bear_the_names_and_levels_of_the_sitting(
    tmp_path: Path, hash_model: Any, crossed: dict[str, list[int]]
) -> None:
    found = sat(tmp_path / "run", hash_model, **crossed)
    export_exam(found.run, "inspect", tmp_path / "task")
    samples = []
    for one in asked(tmp_path / "task"):
        right = found.answers[pipeline_of("hash", one["metadata"]), one["id"]].correct
        scores = {"choice": {"value": "C" if right else "I"}}
        samples.append({key: one[key] for key in ("id", "target", "metadata")} | {"scores": scores})
    (tmp_path / "log.json").write_text(json.dumps({"eval": {"model": "mock/hash"}, "samples": samples}))
    import_answers([str(tmp_path / "log.json")], found.run, tmp_path / "back.csv", "character")
    back = rows_of(tmp_path / "back.csv")
    assert back[0] == found.rows[0]
    assert sorted(back[1:]) == sorted(row for row in found.rows[1:] if "+icl0" in row[0])


def test_closed_book_and_oracle_go_out_once(tmp_path: Path, hash_model: Any) -> None:
    found = sat(tmp_path / "run", hash_model, shots=[0], passages=[1, 3])
    for to in ("lm-eval", "inspect"):
        told = export_exam(found.run, to, tmp_path / to, "crossed")
        assert told.passages == ["closed-book", "oracle", "bm25-k1", "bm25-k3"]


@pytest.mark.parametrize(
    ("shots", "wanted"),
    [
        ([0], ["none", "source", "bm25"]),
        ([2], ["none", "source", "none-icl2", "source-icl2", "bm25-icl2"]),
    ],
)
def test_closed_book_and_oracle_go_out_once_under_the_names_of_the_run(
    tmp_path: Path, hash_model: Any, shots: list[int], wanted: list[str]
) -> None:
    found = sat(tmp_path / "run", hash_model, RENAMED, shots=shots)
    told = export_exam(found.run, "lm-eval", tmp_path / "tasks", "renamed")
    assert told.passages == wanted
    assert {one["retriever"] for one in asked(tmp_path / "tasks")} == {"none", "source", "bm25"}


def test_closed_book_and_oracle_that_the_run_lacks_stand_at_a_level_of_its_factors(
    tmp_path: Path, hash_model: Any
) -> None:
    found = sat(tmp_path / "run", hash_model, shots=[2], passages=[3, 1])
    export_exam(found.run, "lm-eval", tmp_path / "tasks", "crossed")
    levels = {(one["retriever"], one["icl"]): one["passages"] for one in asked(tmp_path / "tasks")}
    assert levels["closed-book", 0] == levels["closed-book", 2] == 3
    assert levels["oracle", 0] == levels["oracle", 2] == 3
