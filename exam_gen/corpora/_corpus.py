"""Corpora: where documents come from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from exam_gen.corpora._formats import TEXT_SUFFIXES, read_page, suffix
from exam_gen.corpora._hub import PREFIX, hub_records
from exam_gen.corpora._python_reference import python_manual
from exam_gen.corpora._record_layouts import LAYOUTS
from exam_gen.corpora._selection import Selection, select
from exam_gen.corpora._tables import BLANK, TABLE_SUFFIXES, LocatedDocument, first_line, read_table, shortened
from examcore import Document, JsonRecord, UnreadableError, unique_ids

Layout = Callable[[Iterable[JsonRecord]], Iterator[LocatedDocument]]
_NAMED = 10
"""Files that cannot be read are named up to this many."""


@dataclass(frozen=True)
class Corpus:
    """The documents of a source that were taken, and how many records were left out, by reason.

    `unreadable` says, a line each, which files of a folder could not be read.
    """

    documents: list[Document]
    left_out: Mapping[str, int]
    unreadable: Sequence[str] = ()

    @property
    def warnings(self) -> list[str]:
        """A line for each file that could not be read, for a few at most."""
        shown = [f"left out: {one}" for one in self.unreadable[:_NAMED]]
        more = len(self.unreadable) - _NAMED
        return [*shown, *([f"left out: {more} more files that cannot be read"] if more > 0 else [])]


def gather(
    source: str | Path,
    *,
    layout: str = "documents",
    selection: Selection | None = None,
    sample: int | None = None,
    seed: int = 0,
) -> Corpus:
    """The chosen documents of a source, in its order, with unique ids and text that is not blank.

    `source` is one of
    - a folder: every .txt .md .rst .html .pdf file below it (hidden ones left out), sorted; the id is the path inside
      the folder, the topic its first folder, the title the `<title>`, first heading or file name. A folder of tables
      alone (.json .jsonl .csv .parquet) is read table by table;
    - a table file of records, or a single text file;
    - `hf:NAME[@REVISION][:[CONFIG:]SPLIT]`: a data set of the hub or a local folder of one (default split: train);
    - `python-docs`: the language reference every Python carries.
    File names may end in `.gz`. `layout` (one of `LAYOUTS`) says how records become documents,
    `selection` which are taken; `sample` keeps that many of these, chosen by `seed`: a larger sample with the same seed
    contains the smaller one.

    Raises `FileNotFoundError` for a missing source and `ValueError`, in one line naming file, line, what was found
    and what was wanted, for a file or table that cannot be read. What is left out is counted, and so are text files and
    PDFs of a folder that cannot be read.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"layout: found {layout!r}; wanted one of {', '.join(LAYOUTS)}")
    unreadable: list[str] = []
    chosen = select(_read(source, LAYOUTS[layout], unreadable), selection, sample=sample, seed=seed)
    if not chosen.documents:
        reasons = ", ".join(f"{count} {reason}" for reason, count in chosen.left_out.items())
        left_out = f" ({reasons})" if reasons else ""
        raise ValueError(f"{source}: the corpus is empty{left_out}; wanted at least one document")
    return Corpus(unique_ids(chosen.documents), chosen.left_out, tuple(unreadable))


def need_source(source: str | Path) -> None:
    """Raise, as `gather` does, for a source on this machine that is missing or holds no file of a known type."""
    if str(source) == "python-docs" or str(source).startswith(PREFIX):
        return
    path = _existing(source)
    if path.is_dir():
        _paths(path)
    elif suffix(path) not in TEXT_SUFFIXES | TABLE_SUFFIXES:
        raise _unknown_type(path)


def _read(source: str | Path, layout: Layout, unreadable: list[str]) -> Iterable[LocatedDocument]:
    name = str(source)
    if name == "python-docs":
        return (LocatedDocument(name, document) for document in python_manual())
    if name.startswith(PREFIX):
        return layout(hub_records(name))
    path = _existing(source)
    return _folder(path, layout, unreadable) if path.is_dir() else _file(path, path.name, layout)


def _existing(source: str | Path) -> Path:
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(
            f"{source}: no such file or folder; wanted a folder, a file, hf:NAME[:SPLIT] or python-docs"
        )
    return path


def _folder(folder: Path, layout: Layout, unreadable: list[str]) -> Iterator[LocatedDocument]:
    for path in _paths(folder):
        name = path.relative_to(folder).as_posix()
        if suffix(path) in TABLE_SUFFIXES:
            yield from _file(path, name, layout)
            continue
        try:
            yield _page(path, name)
        except UnreadableError as error:
            unreadable.append(str(error))
            yield LocatedDocument(str(path), None, error.reason)


def _paths(folder: Path) -> list[Path]:
    """The text files below a folder, or else its tables."""
    paths = [path for path in _walk(folder) if suffix(path) in TEXT_SUFFIXES]
    paths = paths or [path for path in _walk(folder) if suffix(path) in TABLE_SUFFIXES]
    if not paths:
        wanted = " ".join(sorted(TEXT_SUFFIXES | TABLE_SUFFIXES))
        raise ValueError(f"{folder}: the corpus is empty, no readable file in the folder; wanted files of {wanted}")
    return paths


def _walk(folder: Path) -> list[Path]:
    """The files below a folder, sorted by their path inside it, without hidden ones; links to folders not followed."""
    found = []
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(root, name) for name in names if not name.startswith(".")]
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def _file(path: Path, name: str, layout: Layout) -> Iterator[LocatedDocument]:
    ending = suffix(path)
    if ending in TABLE_SUFFIXES:
        yield from layout(read_table(path))
    elif ending in TEXT_SUFFIXES:
        yield _page(path, name)
    else:
        raise _unknown_type(path)


def _unknown_type(path: Path) -> ValueError:
    wanted = " ".join(sorted(TEXT_SUFFIXES | TABLE_SUFFIXES))
    return ValueError(f"{path}: unknown file type {suffix(path) or '(none)'!r}; wanted one of {wanted}, each also .gz")


def _page(path: Path, name: str) -> LocatedDocument:
    page = read_page(path)
    if not page.text.strip():
        return LocatedDocument(str(path), None, BLANK)
    stem = path.name.removesuffix(".gz").removesuffix(suffix(path))
    topic = name.split("/")[0] if "/" in name else ""
    title = shortened(page.title) or stem.replace("_", " ").replace("-", " ").strip() or first_line(page.text)
    return LocatedDocument(str(path), Document(id=name, title=title, text=page.text, source=str(path), topic=topic))
