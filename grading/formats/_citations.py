"""The citations of a sentence, from whatever form a track writes them in to document ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from examcore import json_kind, shown_json
from grading.formats._file_faults import Fault


@dataclass(frozen=True)
class RecordPlace:
    """A place in a file and, inside its record, a path; faults found there are added to the list."""

    place: str
    faults: list[Fault]
    inside: str = ""

    def fault(self, sort: str, message: str, *, stops: bool = True) -> None:
        """Note what is wrong here."""
        self.faults.append(Fault(self.place, sort, f"{self.inside}: {message}" if self.inside else message, stops))


def cited(value: object, here: RecordPlace, references: Sequence[str] | None, *, indexed: bool) -> tuple[str, ...]:
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
