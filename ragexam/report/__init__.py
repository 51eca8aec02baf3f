"""The report: one self-contained page about a run, and the numbers it is judged by."""

from ragexam.report._page import write_report
from ragexam.report._run_findings import RunFindings, RunSummary, analyse_run, summarize

__all__ = ["RunFindings", "RunSummary", "analyse_run", "summarize", "write_report"]
