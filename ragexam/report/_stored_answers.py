"""What the store of answers knows beyond right and wrong: the choice, whether the source was read, tokens, seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from examcore import Question
from rag import AnswerStore

COLUMNS = ("student", "item", "chosen", "correct", "source", "prompt_tokens", "seconds")


def read_answers(path: Path, questions: Sequence[Question]) -> pd.DataFrame | None:
    """`student,item,chosen,correct,source,prompt_tokens,seconds` of the exam's questions; None without a store.

    `source` is 1 where the passage that the question was written from was read, 0 where it was not, NaN for a question
    that names none. Raises ValueError for a file that is no store.
    """
    if not path.is_file():
        return None
    written_from = {question.id: question.chunk_id for question in questions}
    with AnswerStore(path) as store:
        rows = [
            (
                one.pipeline,
                one.question,
                one.chosen,
                float(one.correct),
                _read(written_from[one.question], one.passages),
                one.prompt_tokens,
                one.seconds,
            )
            for one in store.answers()
            if one.question in written_from
        ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _read(source: str, passages: Sequence[str]) -> float:
    return float(source in passages) if source else math.nan
