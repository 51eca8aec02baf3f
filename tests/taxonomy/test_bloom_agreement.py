"""The study of labellers: its files hold the exam's questions, its page shows their numbers."""

import csv
from pathlib import Path

import pytest

from experiments.bloom_agreement.agree import LABELLERS, read, tables
from taxonomy import KNOWLEDGE_DIMENSION, PROCESS_DIMENSION

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "experiments" / "bloom_agreement"


@pytest.mark.parametrize("labeller", LABELLERS)
def test_a_labellers_file_has_the_questions_of_the_released_grid_and_known_levels(labeller: str) -> None:
    def questions(path: Path) -> list[str]:
        return [row["question"] for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]

    released = questions(ROOT / "experiments" / "paper_grid" / "released" / "questions.csv")
    assert questions(FOLDER / f"{labeller}.csv") == released
    for taxonomy in (PROCESS_DIMENSION, KNOWLEDGE_DIMENSION):
        assert all(set(given) <= set(taxonomy.names) for given in read(labeller, taxonomy.name).values())


def test_the_page_shows_the_tables_of_the_files() -> None:
    assert tables() in (FOLDER / "README.md").read_text(encoding="utf-8")
