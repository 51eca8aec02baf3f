"""The commands of the page on the report run as they are shown."""

from __future__ import annotations

import re
from pathlib import Path

from ragexam.report._page import CONTENTS
from tests.command_line import done_in
from tests.ragexam.report.run_folder import write_run

ROOT = Path(__file__).parents[3]
MANUAL = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")


def test_the_commands_of_the_manual_write_their_pages(tmp_path: Path) -> None:
    shown = [line for block in re.findall(r"^```sh\n(.*?)^```", MANUAL, re.M | re.S) for line in block.splitlines()]
    assert len(shown) == 2
    for number, name in enumerate(("quickstart", "before", "after")):
        write_run(tmp_path / "runs" / name, questions=20, answers_seed=number, hostile=False)
    for line in shown:
        assert (tmp_path / done_in(tmp_path, line).strip()).is_file()


def test_every_part_of_the_page_is_explained() -> None:
    explained = {name for cell in re.findall(r"^\| ([^|]+) \|", MANUAL, re.M) for name in cell.split(", ")}
    known = {"Key numbers": "Verdict", "A shorter exam": "Questions", "The exam": "How it was made"}
    for _, name in CONTENTS:
        wanted = {"Kinds of questions": "Kinds", "What to change": "What to change first"}.get(name, name)
        assert known.get(wanted, wanted) in explained, name
