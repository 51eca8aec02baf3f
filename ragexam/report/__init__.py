"""The report: one self-contained page about a run, and the numbers it is judged by."""

from ragexam.report._page import write_report
from ragexam.report._run_figures import draw_costs, draw_retrieval
from ragexam.report._run_findings import RunFindings, analyse_run

__all__ = ["RunFindings", "analyse_run", "draw_costs", "draw_retrieval", "write_report"]
