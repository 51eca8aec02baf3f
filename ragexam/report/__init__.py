"""The report: one self-contained page about a run, and the numbers it is judged by."""

from ragexam.report._claim_scores import claim_line
from ragexam.report._free_text import DECLINED, LABELS, FreeTextAnswers, label_of, read_free_text, read_hand_labels
from ragexam.report._page import write_report
from ragexam.report._run_figures import draw_costs, draw_retrieval
from ragexam.report._run_findings import RunFindings, analyse_run

__all__ = [
    "DECLINED",
    "LABELS",
    "FreeTextAnswers",
    "RunFindings",
    "analyse_run",
    "claim_line",
    "draw_costs",
    "draw_retrieval",
    "label_of",
    "read_free_text",
    "read_hand_labels",
    "write_report",
]
