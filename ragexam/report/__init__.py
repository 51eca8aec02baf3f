"""The report: one self-contained page about a run, and the numbers it is judged by."""

from ragexam.report._claim_files import read_claim_labels, read_claim_nuggets
from ragexam.report._claim_scores import CLAIM_LABELS, ClaimFindings
from ragexam.report._claimed_answers import LABELS, label_of, unrelated_texts
from ragexam.report._free_text import FreeTextAnswers, read_free_text, read_hand_labels
from ragexam.report._page import write_report
from ragexam.report._run_figures import draw_costs, draw_retrieval
from ragexam.report._run_findings import RunFindings, analyse_run

__all__ = [
    "CLAIM_LABELS",
    "LABELS",
    "ClaimFindings",
    "FreeTextAnswers",
    "RunFindings",
    "analyse_run",
    "draw_costs",
    "draw_retrieval",
    "label_of",
    "read_claim_labels",
    "read_claim_nuggets",
    "read_free_text",
    "read_hand_labels",
    "unrelated_texts",
    "write_report",
]
