"""The report: one self-contained page about a run, and the numbers it is judged by."""

from ragexam.report._page import write_report
from ragexam.report._run_findings import summarize

__all__ = ["summarize", "write_report"]
