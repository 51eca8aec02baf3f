"""The page of free-text grading: which system answers most, how sure that is, and what became of every reply."""

from grading.page.evidence import Sources
from grading.page.page import write_grading_report

__all__ = ["Sources", "write_grading_report"]
