"""A taxonomy of your own, read from YAML: levels with words, wordings and definitions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from ragexam._settings import read
from taxonomy import TAXONOMIES, WORD_PATTERN, Level, Taxonomy

RESERVED = frozenset({"topic", "document", "question", "cluster", *(one.name for one in TAXONOMIES)})
"""Names that questions are grouped by already."""


def read_taxonomy(path: Path) -> Taxonomy:
    """Read a taxonomy; `ValueError` (file:line, found, wanted) for anything that cannot be labelled by."""
    found = read(path, _TaxonomyFile)
    levels = [
        Level(one.name, one.definition, tuple(one.words), tuple(re.compile(p, re.IGNORECASE) for p in one.wordings))
        for one in found.levels
    ]
    return Taxonomy(found.name, found.asks or f"its {found.name}", tuple(levels), found.several, found.otherwise)


def _name(text: str) -> str:
    if not re.fullmatch(r"\S(?:[^\n,;|]*\S)?", text) or text != text.strip():
        raise ValueError("wanted a name without commas, semicolons, bars and line ends")
    return text


def _word(text: str) -> str:
    if WORD_PATTERN.sub("", text).strip(" -") or not WORD_PATTERN.search(text):
        raise ValueError("wanted one or several words of letters; put anything else into 'wordings'")
    return text


def _wording(text: str) -> str:
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is no regular expression ({error}); wanted one") from None
    if pattern.search(""):
        raise ValueError(f"{text!r} matches every text; wanted a regular expression that needs some of it")
    return text


_Name = Annotated[str, AfterValidator(_name)]


class _Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _LevelEntry(_Group):
    name: _Name
    definition: str = ""
    words: list[Annotated[str, AfterValidator(_word)]] = []
    wordings: list[Annotated[str, AfterValidator(_wording)]] = []


class _TaxonomyFile(_Group):
    name: _Name
    asks: str = ""
    several: bool = True
    otherwise: str | None = None
    levels: Annotated[list[_LevelEntry], Field(min_length=2)]

    @model_validator(mode="after")
    def _is_sound(self) -> _TaxonomyFile:
        if self.name in RESERVED:
            raise ValueError(f"name: {self.name!r} is taken; wanted another name")
        names = [one.name.casefold() for one in self.levels]
        twice = next((one.name for one in self.levels if names.count(one.name.casefold()) > 1), None)
        if twice is not None:
            raise ValueError(f"levels: {twice!r} stands twice; wanted distinct names")
        if self.otherwise is not None and self.otherwise not in {one.name for one in self.levels}:
            raise ValueError(f"otherwise: {self.otherwise!r} is no level; wanted one of {', '.join(names)}")
        return self
