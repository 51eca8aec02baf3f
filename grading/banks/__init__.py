"""Banks of questions: written, checked, and edited with a history."""

from grading.banks._bank_edits import edited, read_edits, record

__all__ = ["edited", "read_edits", "record"]
