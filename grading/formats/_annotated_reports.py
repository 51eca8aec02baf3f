"""Reports as the annotation tool of the NeuCLIR and RAGTIME tracks keeps them: sentences, and sentences by citation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from examcore import json_object
from grading._file_rows import read_json_object
from grading._records import Sentence, SystemReport
from grading.formats._file_faults import Fault

Texts = Mapping[str, Mapping[str, Mapping[str, str]]]
"""topic -> run -> sentence number -> text."""
Cited = dict[tuple[str, str, str], list[str]]
"""Documents by topic, run and sentence number."""


def is_annotated(value: Mapping[str, object]) -> bool:
    """Whether a JSON object is `topic -> run -> sentence number -> text`."""
    return bool(value) and all(
        isinstance(runs, dict)
        and bool(runs)
        and all(
            isinstance(texts, dict) and all(isinstance(one, str) for one in texts.values()) for texts in runs.values()
        )
        for runs in value.values()
    )


def annotated_reports(
    value: Mapping[str, object], path: Path, sentences_by_citation: str | Path | None, faults: list[Fault]
) -> Iterator[SystemReport]:
    """The reports of both files; a sentence number that is none, a gap and a citation that leads nowhere are faults."""
    texts: Texts = value  # type: ignore[assignment]
    cited = _cited(Path(sentences_by_citation), texts, faults) if sentences_by_citation is not None else {}
    if sentences_by_citation is None:
        message = "holds sentences alone, so that none cites anything; wanted the file of sentences by citation"
        faults.append(Fault(str(path), "no citations", message, stops=False))
    for topic, runs in texts.items():
        for run, sentences in runs.items():
            place = f"{path}, topic {topic}, run {run}"
            yield SystemReport(run, topic, tuple(_sentences(sentences, cited, (topic, run), place, faults)))


def _sentences(
    texts: Mapping[str, str], cited: Cited, of: tuple[str, str], place: str, faults: list[Fault]
) -> Iterator[Sentence]:
    numbers = sorted((one for one in texts if one.isdecimal()), key=int)
    odd = [one for one in texts if not one.isdecimal()]
    if odd or [int(one) for one in numbers] != list(range(len(numbers))):
        found = f"number {odd[0]!r}" if odd else f"numbers {', '.join(numbers[:8])}"
        faults.append(Fault(place, "sentence numbers", f"{found}; wanted 0, 1, 2 and so on without a gap"))
    for number in numbers:
        if not texts[number].strip():
            message = f"sentence {number} is empty; its place is kept, and it is not scored"
            faults.append(Fault(place, "empty sentence", message, stops=False))
        yield Sentence(texts[number], tuple(cited.get((*of, number), ())))


def _cited(path: Path, texts: Texts, faults: list[Fault]) -> Cited:
    """The documents of each sentence, in the file's order."""
    found: Cited = {}
    for topic, documents in read_json_object(path).items():
        for document, runs in json_object(documents, f"{path}, topic {topic}").items():
            place = f"{path}, topic {topic}, document {document}"
            for run, sentences in json_object(runs, place).items():
                for number, text in json_object(sentences, f"{place}, run {run}").items():
                    known = texts.get(topic, {}).get(run, {}).get(number)
                    if known is None:
                        message = f"run {run!r} has no sentence {number}; wanted one of its report"
                    elif known != text:
                        message = f"sentence {number} of run {run!r} reads otherwise; wanted the text of its report"
                    else:
                        found.setdefault((topic, run, number), []).append(document)
                        continue
                    faults.append(Fault(place, "unknown sentence", message))
    return found
