"""Extractive readers: the best span by its definition, null scores, windows, and a tiny model in the hub's layout."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from examcore import ReplyStore
from grading._records import BankQuestion, KeyAnswer
from grading.formats._passages import Passage, PassageQuestion
from grading.graders._extractive import Span, TransformersReader, best_span, extractive_grader, load_reader
from ragexam.cli import app

WORDS = "the outer layer of skin is called epidermis . what ? moon raises tides a baker kneads bread with salt".split()  # noqa: SIM905


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT of two layers with a question-answering head, and a tokenizer of whole words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForQuestionAnswering, PreTrainedTokenizerFast

    torch.set_num_threads(1)
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    raw = Tokenizer(models.WordLevel({word: number for number, word in enumerate(names)}, unk_token="[UNK]"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    raw.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]"
    )
    config = BertConfig(
        vocab_size=len(names),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        initializer_range=0.8,
    )
    place = tmp_path_factory.mktemp("reader") / "tiny-reader"
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = BertForQuestionAnswering(config)
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


def test_the_best_span_is_the_best_of_all_spans() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        start, end = rng.normal(size=(2, 9))
        allowed = rng.random(9) < 0.7
        longest = int(rng.integers(1, 6))
        spans = {
            (i, j): start[i] + end[j]
            for i, j in product(range(9), repeat=2)
            if i <= j < i + longest and allowed[i] and allowed[j]
        }
        first, last, score = best_span(start, end, allowed, longest)
        if spans:
            assert (first, last) == max(spans, key=spans.__getitem__)
            assert score == spans[(first, last)]
        else:
            assert score == -np.inf


class Fixed:
    """A reader that finds `epidermis` with a score of 2 above the null score."""

    name = "fixed"

    def __init__(self) -> None:
        self.settings = {"window": 1}
        self.read_passages: list[str] = []

    def read(self, question: str, passage: str) -> Span:
        self.read_passages.append(passage)
        at = passage.find("epidermis")
        return Span(at, at + 9, 5.0, 3.0) if at >= 0 else Span(0, 1, 1.0, 3.0)


def graded(texts: list[str], store: ReplyStore, threshold: float = 0.0, reader: Fixed | None = None) -> list[Any]:
    question = BankQuestion("q1", "skin", "What is the outer layer called?", (KeyAnswer("the epidermis"),))
    pairs = [PassageQuestion(question, Passage("skin", f"p{n}", text)) for n, text in enumerate(texts)]
    found = extractive_grader(reader or Fixed(), store, threshold).grade(pairs)
    return [(one.grade.grade, one.rule, one.grade.answer) for one in found]


def test_a_span_above_the_null_score_is_verified_and_one_below_is_no_answer(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path / "r.sqlite")
    right, none = graded(["It is the epidermis.", "Bread has salt."], store)
    assert right == (1, "match", "epidermis")
    assert none == (0, "unanswerable", "")
    assert graded(["It is the epidermis."], store, threshold=2.0) == [(0, "unanswerable", "")]


def test_a_span_is_read_once(tmp_path: Path) -> None:
    store, reader = ReplyStore(tmp_path / "r.sqlite"), Fixed()
    first = graded(["It is the epidermis."], store, reader=reader)
    assert graded(["It is the epidermis.", "new"], store, reader=reader)[:1] == first
    assert reader.read_passages == ["It is the epidermis.", "new"]


def test_a_model_reads_as_its_logits_say(folder: Path) -> None:
    """Short passage, one window: the span and the null score straight from the model."""
    import torch
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    question, passage = "what is the outer layer ?", "the outer layer of skin is called epidermis ."
    span = load_reader(str(folder), "cpu").read(question, passage)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForQuestionAnswering.from_pretrained(folder).eval()
    given = tokenizer(question, passage, return_tensors="pt", return_offsets_mapping=True)
    offsets = given.pop("offset_mapping")[0].tolist()
    side = given.sequence_ids(0)
    with torch.inference_mode():
        found = model(**given)
    start, end = found.start_logits[0].tolist(), found.end_logits[0].tolist()
    inside = [place for place, one in enumerate(side) if one == 1]
    best = max(((start[i] + end[j], i, j) for i in inside for j in inside if i <= j), key=lambda one: one[0])
    assert span.score == pytest.approx(best[0], abs=1e-5)
    assert (span.start, span.end) == (offsets[best[1]][0], offsets[best[2]][1])
    assert span.null == pytest.approx(start[0] + end[0], abs=1e-5)


def test_a_long_passage_is_read_in_overlapping_windows(folder: Path) -> None:
    """The highest span and the lowest null score of windows that are cut by hand."""
    import torch
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    question, words = "what is the outer layer ?", [WORDS[7 * n % len(WORDS)] for n in range(120)]
    span = load_reader(str(folder), "cpu").read(question, " ".join(words))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForQuestionAnswering.from_pretrained(folder).eval()
    size, step = 32 - 6 - 3, 32 - 6 - 3 - 8
    found, nulls = [], []
    for begin in range(0, len(words) - 8, step):
        part = words[begin : begin + size]
        with torch.inference_mode():
            logits = model(**tokenizer(question, " ".join(part), return_tensors="pt"))
        start, end = logits.start_logits[0].tolist(), logits.end_logits[0].tolist()
        nulls.append(start[0] + end[0])
        spans = product(range(len(part)), repeat=2)
        found += [(start[8 + i] + end[8 + j], begin + i, begin + j) for i, j in spans if i <= j]
    score, first, last = max(found)
    assert span.score == pytest.approx(score, abs=1e-4)
    assert span.null == pytest.approx(min(nulls), abs=1e-4)
    assert " ".join(words)[span.start : span.end] == " ".join(words[first : last + 1])


def test_a_question_longer_than_a_window_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"question '.*': too long for tiny-reader; wanted at most \d+ tokens"):
        load_reader(str(folder), "cpu").read(" ".join(WORDS * 4), "the moon")


def test_what_is_no_reader_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"reader .*nowhere: cannot be loaded"):
        load_reader(str(tmp_path / "nowhere"))
    from transformers import AutoTokenizer, BertModel

    model = BertModel.from_pretrained(folder)
    model.save_pretrained(tmp_path / "headless")
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "headless")
    with pytest.raises(ValueError, match=r"headless: its weights have no question-answering head; wanted a SQuAD 2.0"):
        load_reader(str(tmp_path / "headless"))


def test_windows_overlap(folder: Path) -> None:
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    model, tokenizer = AutoModelForQuestionAnswering.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    assert TransformersReader(model, tokenizer, "tiny").settings == {"window": 32, "stride": 8, "longest": 30}


def test_the_command_grades_with_a_reader_and_reads_nothing_twice(folder: Path, tmp_path: Path) -> None:
    bank, passages, out = tmp_path / "bank.csv", tmp_path / "passages.csv", tmp_path / "out"
    bank.write_text("query,id,question,answer\nskin,q1,what is the outer layer ?,epidermis\nskin,q2,what is salt ?,\n")
    passages.write_text(
        "query,passage,text\nskin,p1,the outer layer of skin is called epidermis\nskin,p2,bread with salt\n"
    )
    words = ["grade", "run", str(bank), str(passages), "--grader", "reader", "--model", str(folder), "--device", "cpu"]
    told = [CliRunner().invoke(app, [*words, "--out", str(out), "--json"], catch_exceptions=False) for _ in range(2)]
    assert told[0].stdout == told[1].stdout
    result = json.loads(told[0].stdout)
    assert (result["n"], result["without_key"], result["unparsed"]) == (2, 2, 0)
    assert result["settings"] == {"window": 32, "stride": 8, "longest": 30, "threshold": 0.0}
    with ReplyStore(out / "replies.sqlite") as store:
        assert len(store) == 2
