"""10-K filings: the wanted items as documents, from whole filings, from tables of items, or from tables of sentences.

The auto-rag-eval paper counts the items of a filing in order: its sections 1, 2 and 9 are Items 1 (Business), 1A (Risk
Factors) and 7 (Management's Discussion and Analysis).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from operator import itemgetter
from typing import NamedTuple

from exam_gen.corpora._paragraphs import reflow
from exam_gen.corpora._tables import BLANK, LocatedDocument, date_field, document, id_field, string_field
from examcore import Document, JsonRecord

ITEMS: Mapping[str, str] = {"1": "Business", "1A": "Risk Factors", "7": "Management's Discussion and Analysis"}
"""The items that become documents, with the words that name them in titles."""

SHORTEST = 2000
"""Characters: a shorter item only points elsewhere ("incorporated by reference") or stands in a table of contents."""

_BEGINNINGS = {
    "1": ("business", "description of business", "general"),
    "1A": ("risk factors",),
    "1B": ("unresolved",),
    "1C": ("cybersecurity",),
    "2": ("propert", "description of propert"),
    "3": ("legal",),
    "4": ("mine safety", "submission", "(removed", "[removed", "reserved", "(reserved", "[reserved", "removed"),
    "5": ("market for", "market price", "market information"),
    "6": ("selected", "reserved", "[reserved", "(reserved", "removed", "[removed"),
    "7": ("management",),
    "7A": ("quantitative", "qualitative"),
    "8": ("financial statements", "consolidated financial", "index to"),
    "9": ("changes in", "disagreements"),
    "9A": ("controls",),
    "9B": ("other information",),
    "9C": ("disclosure",),
    "10": ("directors",),
    "11": ("executive",),
    "12": ("security",),
    "13": ("certain",),
    "14": ("principal",),
    "15": ("exhibit",),
    "16": ("form 10-k", "summary", "none"),
}
"""The items of Form 10-K in order, and how their titles begin."""

_LABEL = re.compile(
    r"^[^\S\n]{0,80}(?:part[^\S\n]+[iv]{1,3}[^\w\n]{1,5})?items?[^\S\n]{0,9}(\d{1,2}[abc]?)\b"
    r"(?:[^\S\n]{0,3}(?:and|&|,)[^\S\n]{0,3}\d{1,2}[abc]?\b){0,2}[\s.:;)|*—–-]{0,80}",
    re.IGNORECASE | re.MULTILINE,
)
_MENTION = re.compile(r"\b(?:below|above|herein|(?:of|in) (?:this|our))\b|[\"”]|risk factors\s*[–—-]", re.IGNORECASE)
"""What the rest of a line holds when a sentence only speaks of an item."""
_BARE = re.compile(r"\s*ITEM[^\S\n]+\d{1,2}[ABC]?\.[^\S\n]*\n\s*")
_UNTITLED = 0.5
"""What a heading without its title counts, so that one with it is preferred."""
_PER_ITEM = 60
"""Headings of one item that are weighed: a real filing has two or three, a hostile text any number."""


class Heading(NamedTuple):
    """Where an item's heading stands in a filing, and whether its title follows the label."""

    item: str
    start: int
    titled: bool = True


def filings(records: Iterable[JsonRecord]) -> Iterator[LocatedDocument]:
    """The items of `ITEMS` of each filing as documents, titled with company, year and item; the topic is the company.

    A record is a whole filing (`text`), a filing by items (`section_1`, `section_1A` … as in EDGAR-CORPUS) or one
    sentence of one (`sentence, section, docID`, in order). An item that is absent gives no document but a reason.
    """
    for sentences, group in groupby(enumerate(records, start=1), key=lambda one: "sentence" in one[1].fields):
        if sentences:
            yield from _from_sentences(record for _, record in group)
        else:
            for number, record in group:
                has_items = any(f"section_{item}" in record.fields for item in ITEMS)
                yield from _from_items(record, number) if has_items else _from_text(record, number)


def items_of(text: str) -> dict[str, str]:
    """The text of each item of `ITEMS` of a filing, heading included; one that is absent or very short is left out."""
    chain = [*_chain(headings(text), len(text)), Heading("", len(text))]
    found = {one.item: text[one.start : following.start] for one, following in pairwise(chain)}
    return {item: found[item] for item in ITEMS if len(found.get(item, "")) >= SHORTEST}


def headings(text: str) -> list[Heading]:
    """The places that read like the heading of an item: its label at a line's start, then the words of its title.

    A label with a full stop that fills its line ("ITEM 7.") counts as a weaker one: extraction from a printed page may
    have put something else between label and title.
    """
    counts = dict.fromkeys(_BEGINNINGS, 0)
    found = []
    for match in _LABEL.finditer(text):
        item = match.group(1).upper()
        following = text[match.end() : match.end() + 120].lstrip().split("\n", 1)[0].lower()
        if item not in counts or counts[item] >= _PER_ITEM:
            continue
        titled = following.startswith(_BEGINNINGS[item]) and not _MENTION.search(following)
        if titled or _BARE.fullmatch(match.group()):
            counts[item] += 1
            found.append(Heading(item, match.start(), titled))
    return found


def _chain(found: Sequence[Heading], end: int) -> list[Heading]:
    """One heading for each item, in the form's order, the chain with the greatest sum of log lengths.

    A heading's length runs to the next heading of another item: in the table of contents it is tiny, so the chain of
    the true headings wins, and a sentence that begins a line with "Item 7" does not.
    """
    order = {item: number for number, item in enumerate(_BEGINNINGS)}
    best: dict[int, tuple[float, list[Heading]]] = {}
    after = Heading("", end)
    # From the last heading to the first, so that the best chain behind each is known.
    for place, here in reversed(list(enumerate(found))):
        if place + 1 < len(found) and found[place + 1].item != here.item:
            after = found[place + 1]
        value = math.log1p(after.start - here.start) * (1 if here.titled else _UNTITLED)
        later = [best[at] for at in range(place + 1, len(found)) if order[found[at].item] > order[here.item]]
        total, behind = max(later, key=itemgetter(0), default=(0.0, []))
        best[place] = value + total, [here, *behind]
    return max((best[place] for place in range(len(found))), key=itemgetter(0), default=(0.0, []))[1]


def _from_text(record: JsonRecord, number: int) -> Iterator[LocatedDocument]:
    whole = document(record, number)
    if whole.document is None:
        yield whole
        return
    found = items_of(whole.document.text)
    for item in ITEMS:
        yield _item(record.place, whole.document, item, found.get(item, ""))


def _from_items(record: JsonRecord, number: int) -> Iterator[LocatedDocument]:
    filing = _filing(record, id_field(record, number, ("filename", "docID", "id", "cik")))
    for item in ITEMS:
        text = record.fields.get(f"section_{item}")
        yield _item(record.place, filing, item, text if isinstance(text, str) else "")


def _from_sentences(records: Iterable[JsonRecord]) -> Iterator[LocatedDocument]:
    """Neighbouring sentences of one item joined again; other items are passed over."""
    names = {f"section_{item}": item for item in ITEMS}

    def key(record: JsonRecord) -> tuple[str, str]:
        return string_field(record, ("docID", "filename", "cik")), string_field(record, ("section",))

    for (name, section), group in groupby(records, key=key):
        if section not in names:
            continue
        rows = list(group)
        text = "\n\n".join(string_field(row, ("sentence",)) for row in rows)
        yield _item(rows[0].place, _filing(rows[0], name or "filing"), names[section], text, printed=False)


def _filing(record: JsonRecord, own: str) -> Document:
    """The filing that a row speaks of: company and year, without text."""
    company = string_field(record, ("name", "company", "cik")) or own
    year = date_field(record, ("year", "reportDate", "filingDate", "date"))
    title = f"{company} Form 10-K{f', {year[:4]}' if year else ''}"
    return Document(id=own, title=title, text="", source="SEC EDGAR", topic=company, date=year)


def _item(place: str, filing: Document, item: str, text: str, *, printed: bool = True) -> LocatedDocument:
    """An item as a document, lines that a printed page cut joined again; a reason for one without text.

    The company header is its title, which stands above every passage of it.
    """
    if len(text) < SHORTEST:
        return LocatedDocument(place, None, f"no item {item}")
    text = reflow(text) if printed else text
    if not text.strip():
        return LocatedDocument(place, None, BLANK)
    title = f"{filing.title}: {ITEMS[item]}"
    return LocatedDocument(place, replace(filing, id=f"{filing.id}/item-{item}", title=title, text=text))
