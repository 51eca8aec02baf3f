"""Data sets of the hub, or local folders of one, read record by record without a copy of the whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from examcore import JsonRecord

PREFIX = "hf:"
DEFAULT_SPLIT = "train"


class HubSource(NamedTuple):
    """What `hf:NAME[@REVISION][:[CONFIG:]SPLIT]` names; an empty revision or configuration is the data set's own."""

    name: str
    revision: str
    config: str
    split: str

    @property
    def shown(self) -> str:
        """The source as it is named in errors and places."""
        revision = f"@{self.revision}" if self.revision else ""
        config = f"{self.config}:" if self.config else ""
        return f"{PREFIX}{self.name}{revision}:{config}{self.split}"


def hub_source(source: str) -> HubSource:
    """The parts of a source; a colon inside a path (a drive, a folder name) starts no configuration and no split."""
    name, parts = source.removeprefix(PREFIX), list[str]()
    while len(parts) < 2 and not Path(name).exists():
        head, colon, last = name.rpartition(":")
        if not colon or not head or "/" in last or "\\" in last:
            break
        name, parts = head, [last, *parts]
    revision = ""
    if not Path(name).exists():
        name, _, revision = name.partition("@")
    config, split = (["", *parts] if len(parts) < 2 else parts) if parts else ["", DEFAULT_SPLIT]
    return HubSource(name, revision, config, split)


def hub_records(source: str) -> Iterator[JsonRecord]:
    """The rows of a data set's split, class labels by their names.

    A configuration may also be the name of a folder inside the data set: the hub's own Parquet copies
    (`@refs/convert/parquet`) keep each configuration in one. Raises `ValueError` in one line when it cannot be read.
    """
    wanted = hub_source(source)
    try:
        table = _table(wanted)
        kinds = {column: getattr(kind, "names", None) or () for column, kind in (table.features or {}).items()}
        for number, row in enumerate(table, start=1):
            # An unlabelled row has no class label or a negative one.
            labels = {
                column: kinds[column][at]
                for column, at in row.items()
                if isinstance(at, int) and 0 <= at < len(kinds.get(column, ()))
            }
            yield JsonRecord(f"{wanted.shown} record {number}", {**row, **labels})
    except Exception as error:  # the hub client raises many unrelated types
        reason = (str(error).strip() or type(error).__name__).split("\n")[0]
        raise ValueError(
            f"{PREFIX}{wanted.name}: cannot load split {wanted.split!r} ({reason}); wanted a data set and its split"
        ) from None


def _table(wanted: HubSource) -> Any:
    import datasets

    options = {"split": wanted.split, "revision": wanted.revision or None, "streaming": True}
    try:
        return datasets.load_dataset(wanted.name, wanted.config or None, **options)
    except ValueError as error:
        if not wanted.config or "not found" not in str(error):
            raise
        return datasets.load_dataset(wanted.name, data_dir=wanted.config, **options)
