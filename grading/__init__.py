"""Free-text systems on the same footing as the exam: EXAM, EXAM++, ARGUE."""

from grading._file_rows import FileRow, read_rows
from grading._records import BankQuestion, Grade, KeyAnswer
from grading.formats._bank_files import write_bank
from grading.formats._grades import ReadGrades
from grading.formats._nugget_files import nugget_claim, read_nuggets
from grading.formats._trec import TrecRun
from grading.leaderboards._paired import differences
from grading.scores._cover import cover, exam_labels, exam_qrels

__all__ = [
    "BankQuestion",
    "FileRow",
    "Grade",
    "KeyAnswer",
    "ReadGrades",
    "TrecRun",
    "cover",
    "differences",
    "exam_labels",
    "exam_qrels",
    "nugget_claim",
    "read_nuggets",
    "read_rows",
    "write_bank",
]
