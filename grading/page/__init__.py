"""The page of free-text grading: which system answers most, how sure that is, and what became of every reply."""

from grading.page._evidence import Sources
from grading.page._page import write_grading_report

__all__ = [
    "Sources",
    "write_grading_report",
]
