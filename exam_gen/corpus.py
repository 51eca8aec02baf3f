"""Corpora: where documents come from."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable
from pathlib import Path

from exam_gen.formats import TEXT_SUFFIXES, read_page, suffix
from exam_gen.lines import Record
from exam_gen.manual import python_manual
from exam_gen.records import Document
from exam_gen.tables import TABLE_SUFFIXES, documents, first_line, read_table

_Placed = tuple[str, Document]


def read_corpus(source: str | Path, *, sample: int | None = None, seed: int = 0) -> list[Document]:
    """The documents of a corpus, in the source's order, with unique ids and text that is not blank.

    `source` is one of
    - a folder: every .txt .md .rst .html .pdf file below it (hidden ones left out), sorted; the id is the path inside
      the folder, the topic its first folder, the title the `<title>`, first heading or file name. A folder of tables
      alone (.json .jsonl .csv .parquet) is read table by table;
    - a table file, one document per record (fields: `exam_gen.tables.documents`), or a single text file;
    - `hf:NAME` or `hf:NAME:SPLIT`: a data set of the hub or a local folder of one (default split: train);
    - `python-docs`: the language reference every Python carries.
    File names may end in `.gz`. `sample` keeps that many documents, chosen by `seed`; a larger sample with the same
    seed contains the smaller one.

    Raises `FileNotFoundError` for a missing source and `ValueError`, in one line naming file, line, what was found
    and what was wanted, for anything unreadable. Blank text files are left out with a warning.
    """
    if sample is not None and sample < 1:
        raise ValueError(f"sample: found {sample}; wanted a whole number of at least 1")
    found = _unique(_read(source))
    if not found:
        raise ValueError(f"{source}: the corpus is empty; wanted at least one document")
    return _sample(found, sample, seed)


def _read(source: str | Path) -> Iterable[_Placed]:
    name = str(source)
    if name == "python-docs":
        return [("python-docs", document) for document in python_manual()]
    if name.startswith("hf:"):
        return documents(_hub(name))
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(
            f"{name}: no such file or folder; wanted a folder, a file, hf:NAME[:SPLIT] or python-docs"
        )
    return _folder(path) if path.is_dir() else _file(path, path.name)


def _unique(placed: Iterable[_Placed]) -> list[Document]:
    places: dict[str, str] = {}
    found = []
    for place, document in placed:
        if document.id in places:
            raise ValueError(
                f"{place}: document id {document.id!r} already stands at {places[document.id]}; wanted unique ids"
            )
        places[document.id] = place
        found.append(document)
    return found


def _sample(found: list[Document], size: int | None, seed: int) -> list[Document]:
    if size is None or size >= len(found):
        return found

    def lot(document: Document) -> bytes:
        return hashlib.sha256(f"{seed}\0{document.id}".encode("utf-8", "surrogatepass")).digest()

    chosen = {document.id for document in sorted(found, key=lot)[:size]}
    return [document for document in found if document.id in chosen]


def _folder(folder: Path) -> list[_Placed]:
    paths = [path for path in _walk(folder) if suffix(path) in TEXT_SUFFIXES]
    paths = paths or [path for path in _walk(folder) if suffix(path) in TABLE_SUFFIXES]
    if not paths:
        wanted = " ".join(sorted(TEXT_SUFFIXES | TABLE_SUFFIXES))
        raise ValueError(f"{folder}: the corpus is empty, no readable file in the folder; wanted files of {wanted}")
    return [placed for path in paths for placed in _file(path, path.relative_to(folder).as_posix())]


def _walk(folder: Path) -> list[Path]:
    """The files below a folder, sorted by their path inside it, without hidden ones; links to folders not followed."""
    found = []
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(root, name) for name in names if not name.startswith(".")]
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def _file(path: Path, name: str) -> list[_Placed]:
    ending = suffix(path)
    if ending in TABLE_SUFFIXES:
        return list(documents(read_table(path)))
    if ending not in TEXT_SUFFIXES:
        wanted = " ".join(sorted(TEXT_SUFFIXES | TABLE_SUFFIXES))
        raise ValueError(f"{path}: unknown file type {ending or '(none)'!r}; wanted one of {wanted}, each also .gz")
    page = read_page(path)
    if not page.text.strip():
        warnings.warn(f"{path}: the file has no text and is left out", stacklevel=2)
        return []
    stem = path.name.removesuffix(".gz").removesuffix(ending)
    topic = name.split("/")[0] if "/" in name else ""
    title = page.title or stem.replace("_", " ").replace("-", " ").strip() or first_line(page.text)
    return [(str(path), Document(id=name, title=title, text=page.text, source=str(path), topic=topic))]


def _hub(source: str) -> list[Record]:
    import datasets

    name, _, split = source.removeprefix("hf:").rpartition(":")
    # A colon inside a path (a drive, a folder name) does not start a split.
    if not name or "/" in split or "\\" in split:
        name, split = source.removeprefix("hf:"), "train"
    try:
        table = datasets.load_dataset(name, split=split)
    except Exception as error:  # the hub client raises many unrelated types
        reason = (str(error).strip() or type(error).__name__).split("\n")[0]
        raise ValueError(
            f"hf:{name}: cannot load split {split!r} ({reason}); wanted a data set and its split"
        ) from None
    return [Record(f"hf:{name}:{split} record {number}", dict(row)) for number, row in enumerate(table, start=1)]
