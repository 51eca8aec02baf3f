"""Corpora: where documents come from."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from exam_gen.corpora._formats import TEXT_SUFFIXES, read_page, suffix
from exam_gen.corpora._hub import PREFIX, hub_records
from exam_gen.corpora._python_reference import python_manual
from exam_gen.corpora._record_layouts import LAYOUTS
from exam_gen.corpora._selection import Selection, select
from exam_gen.corpora._tables import BLANK, TABLE_SUFFIXES, LocatedDocument, first_line, read_table, shortened
from examcore import ENGLISH, Document, JsonRecord, UnreadableError, find_language, language_named, unique_ids

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
    language: str | None = None,
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
    contains the smaller one. `language` is the code of the documents' language; without it, each has the one that its
    text is found to be in, and the commonest of all where that cannot be told.

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
    documents = in_languages(unique_ids(chosen.documents), language)
    return Corpus(documents, chosen.left_out, tuple(unreadable))


def in_languages(documents: Sequence[Document], named: str | None = None) -> list[Document]:
    """The documents with their languages: the one named, or the one found, or the commonest of those."""
    if named is not None:
        return [replace(one, language=language_named(named).code) for one in documents]
    told = [find_language(one.text) for one in documents]
    characters: Counter[str] = Counter()
    for one, code in zip(documents, told, strict=True):
        if code is not None:
            characters[code] += len(one.text)
    usual = characters.most_common(1)[0][0] if characters else ENGLISH
    return [replace(one, language=code or usual) for one, code in zip(documents, told, strict=True)]


def need_source(source: str | Path) -> None:
    """Raise, as `gather` does, for a source on this machine that is missing or holds no file of a known type."""
    if str(source) != "python-docs" and not str(source).startswith(PREFIX):
        _files(source)


def _read(source: str | Path, layout: Layout, unreadable: list[str]) -> Iterator[LocatedDocument]:
    if str(source) == "python-docs":
        yield from (LocatedDocument("python-docs", document) for document in python_manual())
        return
    if str(source).startswith(PREFIX):
        yield from layout(hub_records(str(source)))
        return
    is_folder = Path(source).is_dir()
    for path in _files(source):
        if suffix(path) in TABLE_SUFFIXES:
            yield from layout(read_table(path))
            continue
        try:
            yield _page(path, path.relative_to(source).as_posix() if is_folder else path.name)
        except UnreadableError as error:
            if not is_folder:
                raise
            unreadable.append(str(error))
            yield LocatedDocument(str(path), None, error.reason)


def _files(source: str | Path) -> list[Path]:
    """The file that a source is; of a folder the text files below it, or else its tables."""
    path, known = Path(source), TEXT_SUFFIXES | TABLE_SUFFIXES
    wanted = " ".join(sorted(known))
    if not path.exists():
        raise FileNotFoundError(
            f"{source}: no such file or folder; wanted a folder, a file, hf:NAME[:SPLIT] or python-docs"
        )
    if not path.is_dir():
        if (ending := suffix(path)) not in known:
            raise ValueError(f"{path}: unknown file type {ending or '(none)'!r}; wanted one of {wanted}, each also .gz")
        return [path]
    below = _walk(path)
    for endings in (TEXT_SUFFIXES, TABLE_SUFFIXES):
        if found := [one for one in below if suffix(one) in endings]:
            return found
    raise ValueError(f"{path}: the corpus is empty, no readable file in the folder; wanted files of {wanted}")


def _walk(folder: Path) -> list[Path]:
    """The files below a folder, sorted by their path inside it, without hidden ones; links to folders not followed."""
    found = []
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(root, name) for name in names if not name.startswith(".")]
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


def _page(path: Path, name: str) -> LocatedDocument:
    page = read_page(path)
    if not page.text.strip():
        return LocatedDocument(str(path), None, BLANK)
    stem = path.name.removesuffix(".gz").removesuffix(suffix(path))
    topic = name.split("/")[0] if "/" in name else ""
    title = shortened(page.title) or stem.replace("_", " ").replace("-", " ").strip() or first_line(page.text)
    return LocatedDocument(str(path), Document(id=name, title=title, text=page.text, source=str(path), topic=topic))
