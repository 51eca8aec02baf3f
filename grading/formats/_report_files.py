"""Reports with citations as TREC RAG, NeuCLIR and RAGTIME write them, checked line by line.

Four shapes are read: `answer[{text, citations}]` with integer indices into `references` (TREC RAG 24);
`metadata{team_id, run_id, topic_id}` with `responses[{text, citations}]`, whose citations are document ids, or scores
by document id (RAGTIME); `request_id, run_id` with `sentences[{text, citations}]` (NeuCLIR 24); and the annotation
tool's `topic -> run -> sentence number -> text`, whose citations stand in a second file,
`topic -> document -> run -> sentence number -> text`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from examcore import json_kind, json_object, shown_json
from grading._file_rows import FileRow, first_record, read_json_records
from grading._records import Sentence, SystemReport
from grading.formats._annotated_reports import annotated_reports, is_annotated
from grading.formats._auto_argue_files import has_auto_argue
from grading.formats._file_faults import Fault, counted, in_words

SENTENCES = ("responses", "answer", "sentences")
OF_REPORTS = frozenset({"metadata", "run_id", "references"})
"""A record with none of these and without sentences is of another kind of file."""
MOST_LISTED = 100
"""Faults that are listed for a reader; a file of another kind has one or more on every line."""
MARK = "#"
"""Divides a document id from the number of its segment in MS MARCO v2.1."""


class ReportsRead(NamedTuple):
    """The reports of a file in its order, and what is wrong with them.

    A report is as whole as its faults allow: a citation that leads nowhere is left out, an empty sentence keeps its
    place, and of two reports by one run on one topic the first stays.
    """

    reports: tuple[SystemReport, ...]
    faults: tuple[Fault, ...]

    @property
    def stopping(self) -> list[Fault]:
        """The faults that the reports are refused for."""
        return [one for one in self.faults if one.stops]

    @property
    def remarks(self) -> list[Fault]:
        """The others."""
        return [one for one in self.faults if not one.stops]

    @property
    def sizes(self) -> dict[str, int]:
        """How many runs, reports, sentences and citations there are."""
        sentences = [one for report in self.reports for one in report.sentences]
        return {
            "runs": len({one.run for one in self.reports}),
            "reports": len(self.reports),
            "sentences": len(sentences),
            "citations": sum(len(one.citations) for one in sentences),
        }

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        kinds = {"faults": counted(self.stopping), "remarks": counted(self.remarks)}
        return {"valid": not self.stopping, **self.sizes, **kinds, "listed": self.faults}

    def lines(self) -> list[str]:
        """The result for a reader."""
        stopping, more = self.stopping, len(self.stopping) - MOST_LISTED
        kinds = ", ".join(f"{name} {count}" for name, count in counted(stopping).items()) or "none"
        return [
            "{reports} reports by {runs} runs, {sentences} sentences, {citations} citations".format(**self.sizes),
            f"faults: {kinds}",
            *(f"  {one}" for one in stopping[:MOST_LISTED]),
            *([f"  and {more} more, which --json lists"] if more > 0 else []),
            "remarks:" if self.remarks else "remarks: none",
            *(f"  {one}" for one in in_words(self.remarks)),
        ]


@dataclass(frozen=True)
class RecordPlace:
    """A place in a file and, inside its record, a path; faults found there are added to the list."""

    place: str
    faults: list[Fault]
    inside: str = ""

    def fault(self, sort: str, message: str, *, stops: bool = True) -> None:
        """Note what is wrong here."""
        self.faults.append(Fault(self.place, sort, f"{self.inside}: {message}" if self.inside else message, stops))


def read_reports(path: str | Path, sentences_by_citation: str | Path | None = None) -> ReportsRead:
    """The reports of a file (JSON lines, a JSON list or object, each optionally .gz), or of all files in a folder.

    `sentences_by_citation` is the annotation tool's second file. Raises `ValueError` for a file without reports and
    `FileNotFoundError`; everything else that is wrong is in `faults`.
    """
    path = Path(path)
    faults: list[Fault] = []
    found: list[tuple[str, SystemReport]] = []
    for file in _files(path):
        found.extend(_file_reports(file, sentences_by_citation, faults))
    if not found and not faults:
        raise ValueError(f"{path}: holds no report; wanted at least one")
    kept = tuple(_without_doubles(found, faults))
    for place, report in kept:
        faults.extend(_remarks(place, report))
    return ReportsRead(tuple(report for _, report in kept), tuple(faults))


def is_reports(path: str | Path) -> bool:
    """Whether a path is a file whose first record has the sentences of a report."""
    first = first_record(Path(path))
    return first is not None and any(isinstance(_unwrapped(first).fields.get(name), list) for name in SENTENCES)


def whole_documents(reports: Sequence[SystemReport]) -> tuple[SystemReport, ...]:
    """The reports with each segment id cut at its `#`, for nuggets that are bound to whole documents."""
    return tuple(
        replace(
            report,
            sentences=tuple(
                Sentence(one.text, tuple(dict.fromkeys(document_of(name) for name in one.citations)))
                for one in report.sentences
            ),
        )
        for report in reports
    )


def document_of(segment: str) -> str:
    """The id of the document that a segment belongs to: what stands before the `#`."""
    return segment.partition(MARK)[0]


def foreign_citations(reports: Sequence[SystemReport], documents: Set[str], name: str) -> list[Fault]:
    """A fault for each cited document that the collection lacks, once per report; `name` is that of the file."""
    return [
        Fault(
            f"{name}, topic {report.topic}, run {report.run}",
            "document not in the collection",
            f"cites {document!r}, which the collection lacks; wanted one of its {len(documents)} documents",
        )
        for report in reports
        for document in sorted({cited for one in report.sentences for cited in one.citations} - documents)
    ]


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    names = (".jsonl", ".json", ".jsonl.gz", ".json.gz")
    found = sorted(one for one in path.iterdir() if one.name.lower().endswith(names))
    if not found:
        raise ValueError(f"{path}: holds no .jsonl or .json file; wanted reports")
    return found


def _file_reports(
    path: Path, sentences_by_citation: str | Path | None, faults: list[Fault]
) -> Iterator[tuple[str, SystemReport]]:
    """Each report and its place."""
    for record in map(_unwrapped, read_json_records(path, faults)):
        if is_annotated(record.fields):
            for report in annotated_reports(record.fields, path, sentences_by_citation, faults):
                yield f"{path}, topic {report.topic}, run {report.run}", report
        elif sentences_by_citation is not None:
            raise ValueError(f"{path}: holds citations of its own; wanted no file of sentences by citation")
        elif (one := _report(record, faults)) is not None:
            yield record.place, one


def _unwrapped(record: FileRow) -> FileRow:
    """The report that Auto-ARGUE keeps with its judgements; any other record as it is."""
    report = record.fields["report"] if has_auto_argue(record.fields) else record.fields
    return FileRow(record.place, json_object(report, record.place))


def _report(record: FileRow, faults: list[Fault]) -> SystemReport | None:
    """The report of a record, or None where it names no run, no topic or no sentences."""
    here = RecordPlace(record.place, faults)
    field = next((name for name in SENTENCES if name in record.fields), None)
    if field is None and not OF_REPORTS & record.fields.keys():
        some = ", ".join(list(record.fields)[:4]) or "nothing"
        here.fault("no report", f"found {some}; wanted run, topic and {' or '.join(SENTENCES)}")
        return None
    head = _head(record.fields, here, strict=field in {None, "responses"})
    references = _references(record.fields, here, needed=field != "sentences")
    if field is None:
        here.fault("missing field", f"no {' or '.join(SENTENCES)}; wanted the sentences of a report")
        return None
    found = record.fields[field]
    if not isinstance(found, list):
        here.fault("wrong type", f"{field} is a JSON {json_kind(found)}; wanted a list of sentences")
        return None
    sentences = tuple(
        _sentence(one, RecordPlace(here.place, faults, f"{field}[{number}]"), references, indexed=field == "answer")
        for number, one in enumerate(found)
    )
    if not sentences:
        here.fault("no sentences", f"{field} is empty; wanted at least one sentence")
    return SystemReport(head[0], head[1], sentences) if all(head) else None


def _head(fields: Mapping[str, object], here: RecordPlace, *, strict: bool) -> tuple[str, str]:
    """Run and topic; RAGTIME's schema wants texts under `metadata`, and a team."""
    metadata = fields.get("metadata")
    if strict and not isinstance(metadata, dict):
        lacks = "no field 'metadata'" if "metadata" not in fields else f"metadata is a JSON {json_kind(metadata)}"
        here.fault("missing field" if "metadata" not in fields else "wrong type", f"{lacks}; wanted an object")
    source: Mapping[str, object] = metadata if isinstance(metadata, dict) else fields
    if isinstance(metadata, dict):
        here = RecordPlace(here.place, here.faults, "metadata")
    if strict and isinstance(metadata, dict):
        _id(source, ("team_id",), here, strict=True)
    run = _id(source, ("run_id",), here, strict=strict)
    topic = _id(source, ("topic_id",) if strict else ("topic_id", "request_id", "narrative_id"), here, strict=strict)
    return run, topic


def _id(source: Mapping[str, object], names: Sequence[str], here: RecordPlace, *, strict: bool) -> str:
    name = next((one for one in names if one in source), None)
    if name is None:
        here.fault("missing field", f"no field {names[0]!r}; wanted a text")
        return ""
    value = source[name]
    number = isinstance(value, int) and not isinstance(value, bool)
    if not isinstance(value, str) and not (number and not strict):
        here.fault("wrong type", f"{name} is {shown_json(value)}; wanted a text")
        return str(value) if number else ""
    text = str(value)
    if not text.strip():
        here.fault("empty id", f"{name} is empty; wanted a text")
    return text.strip()


def _references(fields: Mapping[str, object], here: RecordPlace, *, needed: bool) -> list[str] | None:
    """The references in their order, None where there is no list of texts."""
    if "references" not in fields:
        if needed:
            here.fault("missing field", "no field 'references'; wanted a list of document ids")
        return None
    found = fields["references"]
    if not isinstance(found, list):
        here.fault("wrong type", f"references is a JSON {json_kind(found)}; wanted a list of document ids")
        return None
    for number, one in enumerate(found):
        if not isinstance(one, str):
            here.fault("wrong type", f"references[{number}] is {shown_json(one)}; wanted a document id")
        elif not one.strip():
            here.fault("empty id", f"references[{number}] is empty; wanted a document id")
        elif one in found[:number]:
            message = f"references[{number}] {one!r} already stands at {found.index(one)}; wanted each document once"
            here.fault("duplicate reference", message, stops=False)
    if not found:
        here.fault("empty references", "references is empty; nothing can be cited", stops=False)
    return [one if isinstance(one, str) else "" for one in found]


def _sentence(value: object, here: RecordPlace, references: Sequence[str] | None, *, indexed: bool) -> Sentence:
    if not isinstance(value, dict):
        here.fault("wrong type", f"found JSON {json_kind(value)}; wanted an object with text and citations")
        return Sentence("")
    text = value.get("text")
    if not isinstance(text, str):
        lacks = f"text is {shown_json(text)}" if "text" in value else "no field 'text'"
        here.fault("wrong type" if "text" in value else "missing field", f"{lacks}; wanted a text")
        text = ""
    elif not text.strip():
        here.fault("empty sentence", "the text is empty; its place is kept, and it is not scored", stops=False)
    if "citations" not in value:
        here.fault("missing field", "no field 'citations'; wanted a list, empty for none")
        return Sentence(text)
    return Sentence(text, _cited(value["citations"], here, references, indexed=indexed))


def _cited(value: object, here: RecordPlace, references: Sequence[str] | None, *, indexed: bool) -> tuple[str, ...]:
    """The documents that a sentence cites, each once, in its order; what leads nowhere is a fault and left out.

    A list of document ids, an object from document ids to scores, or (`indexed`) a list of indices into `references`.
    A document that `references` lacks is a fault, too; `references` may be None where the record has none.
    """
    if isinstance(value, dict) and not indexed:
        names = _scored(value, here)
    elif isinstance(value, list):
        names = _listed(value, here, references, indexed=indexed)
    else:
        wanted = "a list of indices" if indexed else "a list of document ids, or scores by document id"
        here.fault("wrong type", f"citations is a JSON {json_kind(value)}; wanted {wanted}")
        return ()
    return tuple(_once(_known(names, here, references), here))


def _scored(value: dict[str, object], here: RecordPlace) -> Iterator[str]:
    for name, score in value.items():
        if isinstance(score, bool) or not isinstance(score, int | float):
            here.fault("wrong type", f"citations[{name!r}] is {shown_json(score)}; wanted a number")
        yield name


def _listed(
    value: Sequence[object], here: RecordPlace, references: Sequence[str] | None, *, indexed: bool
) -> Iterator[str]:
    for one in value:
        if indexed and isinstance(one, int) and not isinstance(one, bool):
            yield from _at(one, here, references)
        elif isinstance(one, str):
            yield one
        else:
            here.fault("wrong type", f"citation {shown_json(one)}; wanted {'an index' if indexed else 'a document id'}")


def _at(index: int, here: RecordPlace, references: Sequence[str] | None) -> Iterator[str]:
    size = len(references or ())
    if 0 <= index < size:
        yield (references or ())[index]
        return
    wanted = f"an index from 0 to {size - 1}" if size else "none, for references is empty"
    here.fault("citation out of range", f"citation {index}; wanted {wanted}")


def _known(names: Iterable[str], here: RecordPlace, references: Sequence[str] | None) -> Iterator[str]:
    for name in names:
        if not name.strip():
            here.fault("empty id", "a citation is empty; wanted a document id")
        elif references is not None and name not in references:
            here.fault("unknown document", f"citation {name!r} is not among the references; wanted one of them")
        else:
            yield name


def _once(names: Iterable[str], here: RecordPlace) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            here.fault("duplicate citation", f"cites {name!r} twice; it counts once", stops=False)
        else:
            seen.add(name)
            yield name


def _without_doubles(
    found: Sequence[tuple[str, SystemReport]], faults: list[Fault]
) -> Iterator[tuple[str, SystemReport]]:
    places: dict[tuple[str, str], str] = {}
    for place, report in found:
        key = (report.run, report.topic)
        if key in places:
            message = f"run {key[0]!r} on topic {key[1]!r} already stands at {places[key]}; wanted one report per topic"
            faults.append(Fault(place, "duplicate report", message))
            continue
        places[key] = place
        yield place, report


def _remarks(place: str, report: SystemReport) -> Iterator[Fault]:
    """What does no harm, once per report."""
    marked = sorted({name for one in report.sentences for name in one.citations if MARK in name})
    if marked:
        message = f"{len(marked)} cited ids hold {MARK!r}, such as {marked[0]!r}; they are segments, kept whole"
        yield Fault(place, "segment ids", message, stops=False)
    if any(one.text.strip() for one in report.sentences) and not any(one.citations for one in report.sentences):
        yield Fault(place, "no citations", "no sentence cites anything", stops=False)
