"""What a run of grading came to: its grades, the replies that fit no rule, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from examcore.console import interval_text
from grading._printing import counted_notes, noted
from grading._records import Sampling
from grading.formats._passages import Paired
from grading.graders._choices import MARGIN
from grading.graders._graders import Grader, GradingOutcome, summary


@dataclass(frozen=True)
class GradingResult:
    """What a run graded: by which grader and model, what was left out, and what it cost; `out` are the grades."""

    grader: Grader
    model: str
    outcome: GradingOutcome
    sampling: Sampling
    beyond_limit: int
    paired: Paired
    usage: Mapping[str, Any]
    out: Path

    @cached_property
    def summary(self) -> Mapping[str, Any]:
        """Counts of grades and replies, the unparsed share resampled once."""
        return summary(self.outcome, self.sampling)

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {
            "grader": self.grader.name,
            "model": self.model,
            "settings": self.grader.settings,
            **self.summary,
            "beyond_limit": self.beyond_limit,
            "left_out": {
                "queries_without_questions": self.paired.without_questions,
                "queries_without_passages": self.paired.without_passages,
                "passages": self.paired.passages_left_out,
            },
            "usage": self.usage,
            "out": self.out,
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        outcome, paired, told = self.outcome, self.paired, self.summary
        lines = [f"{self.out}: {len(outcome.graded)} grades by {self.grader.name} with {self.model}"]
        lines += [f"  grade {grade}: {count}" for grade, count in told["grades"].items()]
        lines.append(f"unparsed: {told['unparsed']}, a share of {interval_text(told['unparsed_share'])}")
        lines += [
            f"  {one['query']} {one['passage']} {one['question']}: {one['reply']!r}"
            for one in told["unparsed_examples"]
        ]
        said = {
            "pairs are beyond --limit": self.beyond_limit,
            "pairs have a question without a key": outcome.without_key,
            "passages were longer than the model reads and cut": told["cut_passages"],
            "passages are of queries without questions": paired.passages_left_out,
            "queries of passages have no question": len(paired.without_questions),
            "queries of the bank have no passage": len(paired.without_passages),
        }
        lines += counted_notes(said)
        rule = f"the margin of {MARGIN:g} nats is a rule of thumb; ragexam grade margin sets one for a model"
        return lines + (noted([rule]) if self.grader.settings.get("margin") == MARGIN else [])
