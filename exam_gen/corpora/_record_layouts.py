"""The layouts that records come in: plain documents, arXiv abstracts, questions with answers, 10-K filings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from exam_gen.corpora._filings import filings
from exam_gen.corpora._formats import tidy, visible_text
from exam_gen.corpora._tables import (
    BLANK,
    LocatedDocument,
    date_field,
    document,
    documents,
    id_field,
    shortened,
    string_field,
    text_field,
)
from examcore import Document, JsonRecord, json_kind

ARCHIVES = tuple("cs econ eess math astro-ph cond-mat hep nlin nucl physics q-bio q-fin stat".split())  # noqa: SIM905
"""The thirteen research tags of the auto-rag-eval paper, each with what lies below it (`hep` with hep-th, hep-ph …)."""

_FORMER = {
    old: new
    for new, names in {
        "cs": "cmp-lg",
        "math": "q-alg alg-geom dg-ga funct-an",
        "nlin": "chao-dyn solv-int patt-sol adap-org comp-gas",
        "cond-mat": "mtrl-th supr-con",
        "physics": "acc-phys plasm-ph ao-sci atom-ph chem-ph",
        "stat": "bayes-an",
    }.items()
    for old in names.split()
}
"""Archives that were closed and taken up by others."""


def abstracts(records: Iterable[JsonRecord]) -> Iterator[LocatedDocument]:
    """arXiv metadata (`id, title, abstract, categories`) as documents: the abstract, its archive as topic, its year.

    The topic is the first of the paper's categories that lies in `ARCHIVES`; a paper without one gives no document. The
    year is that of the identifier. Records with a `text` are taken for documents already prepared.
    """
    for number, record in enumerate(records, start=1):
        yield _abstract(record, number) if record.fields.get("abstract") is not None else document(record, number)


def _abstract(record: JsonRecord, number: int) -> LocatedDocument:
    text = " ".join(text_field(record, ("abstract",)).split())
    topic = archive(_tags(record))
    if not text or topic is None:
        return LocatedDocument(record.place, None, "no tag among the thirteen" if text else BLANK)
    own = id_field(record, number)
    title = shortened(string_field(record, ("title",)))
    year = arxiv_year(own)
    return LocatedDocument(
        record.place, Document(own, title, text, "https://arxiv.org/abs/" + own, topic, date_field(record) or year)
    )


def _tags(record: JsonRecord) -> list[str]:
    """The categories: a list or one string, each with one or several names between spaces."""
    value = record.fields.get("categories") or []
    values: Sequence[object] = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in values):
        raise ValueError(f"{record.place}: categories is of type {json_kind(value)}; wanted strings")
    return [tag for one in values for tag in str(one).split()]


def archive(tags: Iterable[str]) -> str | None:
    """The first of `ARCHIVES` among arXiv categories; None when there is none."""
    for tag in tags:
        group = tag.split(".")[0]
        group = _FORMER.get(group, group)
        found = next((one for one in ARCHIVES if group == one or group.startswith(f"{one}-")), None)
        if found is not None:
            return found
    return None


def arxiv_year(identifier: str) -> str:
    """The year an arXiv identifier (`2009.03465v3`, `hep-th/9901001`) tells; empty for any other text."""
    match = re.fullmatch(r"(?:[a-z-]+(?:\.[A-Z]{2})?/)?(\d\d)(?:0[1-9]|1[0-2])(?:\.\d{4,5}|\d{3})(?:v\d+)?", identifier)
    if match is None:
        return ""
    return str((1900 if int(match.group(1)) >= 91 else 2000) + int(match.group(1)))


def threads(records: Iterable[JsonRecord]) -> Iterator[LocatedDocument]:
    """Questions with answers (`qid, question, answers, metadata`, HTML) as documents: question and best answer joined.

    The topic is the site, the source the question's address. Records with a `text` are taken for documents already
    prepared.
    """
    for number, record in enumerate(records, start=1):
        yield _thread(record, number) if record.fields.get("answers") is not None else document(record, number)


def _thread(record: JsonRecord, number: int) -> LocatedDocument:
    question = _readable(text_field(record, ("question", "title")))
    answer = best_answer(record)
    if not question or answer is None or not _readable(answer):
        return LocatedDocument(record.place, None, "no answer" if question else BLANK)
    text = f"Question: {question}\n\nTop answer: {_readable(answer)}"
    address = string_field(record, ("metadata", "source", "url"))
    title = string_field(record, ("title",)) or " ".join(question.split())
    own = id_field(record, number, ("qid", "id"))
    return LocatedDocument(
        record.place,
        Document(
            id=f"{site(address)}/{own}" if address else own,
            title=shortened(title, 100),
            text=text,
            source=address,
            topic=site(address) or string_field(record, ("topic",)),
            date=date_field(record),
        ),
    )


def best_answer(record: JsonRecord) -> str | None:
    """The text of the answer with the highest score; of equal ones the accepted, then the first; None without any.

    Scores are `pm_score` (votes on a logarithmic scale, with a point for acceptance) or `score`; `selected` marks the
    accepted answer.
    """
    answers = record.fields["answers"]
    if not isinstance(answers, list) or not all(isinstance(one, dict) for one in answers):
        raise ValueError(f"{record.place}: answers is of type {json_kind(answers)}; wanted a list of objects")

    def rank(answer: Mapping[str, Any]) -> tuple[float, bool]:
        score = answer.get("pm_score", answer.get("score"))
        return float(score) if isinstance(score, int | float) else 0.0, answer.get("selected") is True

    told = [one for one in answers if isinstance(one.get("text"), str)]
    return str(max(told, key=rank)["text"]) if told else None


def site(address: str) -> str:
    """The site of a question's address: `physics` of https://physics.stackexchange.com/questions/1."""
    match = re.match(r"(?:https?://)?(?:www\.)?([\w-]+)\.", address)
    return match.group(1) if match else ""


def _readable(text: str) -> str:
    return tidy(visible_text(text).text if re.search(r"<[a-zA-Z/!]|&[#\w]+;", text) else text).strip()


LAYOUTS: Mapping[str, Callable[[Iterable[JsonRecord]], Iterator[LocatedDocument]]] = {
    "documents": documents,
    "abstracts": abstracts,
    "threads": threads,
    "filings": filings,
}
"""How records become documents, by the name in a configuration."""
