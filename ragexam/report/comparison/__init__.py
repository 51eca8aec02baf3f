"""Two runs side by side: what changed between them, and what cannot be compared."""

from ragexam.report.comparison._page import ComparisonPage, write_comparison

__all__ = ["ComparisonPage", "write_comparison"]
