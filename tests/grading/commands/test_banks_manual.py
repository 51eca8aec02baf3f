"""What the page on banks shows is run, in its order and in one folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from tests.command_line import block_here, snippet_here

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PAGE = (ROOT / "docs" / "free-text" / "banks.md").read_text(encoding="utf-8")

SHOWN = "embedded:qwen2.5-coder-1.5b"


def test_the_commands_and_the_snippet_run_in_their_order(tmp_path: Path) -> None:
    blocks = re.findall(r"^```(sh|python)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert sum(language == "sh" for language, _ in blocks) >= 4
    for language, block in blocks:
        if language == "sh":
            block_here(tmp_path, block.replace(SHOWN, "python:assessors:seeker"))
        else:
            snippet_here(tmp_path, block)
    assert {"bank.jsonl", "written.jsonl", "graded", "verified", "judged", "edits.jsonl"} <= {
        one.name for one in tmp_path.iterdir()
    }


def test_every_rule_and_grader_stands_on_the_page() -> None:
    from grading.banks._bank_lint import RULES
    from grading.graders._grading_run import GraderName

    assert all(f"`{name}`" in PAGE for name in (*RULES, *get_args(GraderName)))
