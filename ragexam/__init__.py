"""The face of ragexam: its calls from Python, command line, run folder, configuration, report."""

from ragexam._python_calls import generate, load_run, retrieval, run, sit
from ragexam._run_results import RunResult, SittingResult, WritingResult

__all__ = [
    "RunResult",
    "SittingResult",
    "WritingResult",
    "generate",
    "load_run",
    "retrieval",
    "run",
    "sit",
]
