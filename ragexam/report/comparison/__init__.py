"""Two runs side by side: what changed between them, and what cannot be compared."""

from ragexam.report.comparison._page import write_comparison

__all__ = ["write_comparison"]
