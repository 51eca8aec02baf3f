import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from ragexam._settings import read


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    size: int = 3


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    inner: Inner = Inner()
    names: list[str] = []


def write(folder: Path, text: str) -> Path:
    path = folder / "config.yaml"
    path.write_text(text)
    return path


def test_a_value_of_the_wrong_type_is_placed_at_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "name: x\ninner:\n  size: many\n")
    with pytest.raises(ValueError, match=r"config\.yaml:3: inner\.size: 'many'; wanted a valid integer$"):
        read(path, Outer)


def test_an_unknown_setting_is_placed_at_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "name: x\ninner:\n  sise: 3\n")
    with pytest.raises(ValueError, match=r"config\.yaml:3: unknown setting 'inner\.sise'"):
        read(path, Outer)


def test_overrides_by_name_are_those_of_the_command_line_and_stay_as_they_were(tmp_path: Path) -> None:
    path = write(tmp_path, "name: x\n")
    changes = {"inner": {"size": 4}, "inner.size": 5, "names": ["a=b", "c"]}
    assert read(path, Outer, changes) == read(path, Outer, ["inner={size: 4}", "inner.size=5", "names=[a=b, c]"])
    assert changes["inner"] == {"size": 4}
    with pytest.raises(ValueError, match=r"--set inner\.size: inner\.size: 'many'"):
        read(path, Outer, {"inner.size": "many"})


def test_a_missing_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"config\.yaml:1: no setting 'name'"):
        read(write(tmp_path, "names: [a]\n"), Outer)


def test_a_list_element_is_placed_at_its_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"config\.yaml:4: names\.1"):
        read(write(tmp_path, "name: x\nnames:\n  - a\n  - [b]\n"), Outer)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: [\n", r"config\.yaml:\d: .*wanted YAML"),
        ("- a\n- b\n", r"config\.yaml:1: list; wanted a mapping"),
        ("", r"config\.yaml:1: NoneType; wanted a mapping"),
        ("name: x\nnames: &all [a, *all]\n", r"config\.yaml:2: found an alias inside what it stands for; wanted YAML"),
        ("name: " + 5000 * "[" + 5000 * "]", r"config\.yaml:1: nested too deep; wanted YAML"),
        ("name: 2026-13-01\n", r"config\.yaml:1: month must be in 1\.\.12; wanted YAML"),
    ],
)
def test_what_is_not_a_mapping_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(write(tmp_path, text), Outer)


def test_aliases_of_aliases_are_refused_at_once(tmp_path: Path) -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"a{n}: &a{n} [{', '.join(9 * [f'*a{n - 1}'])}]\n" for n in range(1, 30))
    merged = "b0: &b0 {k: v}\n" + "".join(
        f"b{n}: &b{n} {{<<: [{', '.join(9 * [f'*b{n - 1}'])}]}}\n" for n in range(1, 30)
    )
    began = time.monotonic()
    for text in (bomb, merged):
        with pytest.raises(
            ValueError, match=r"config\.yaml:6: found aliases that stand for more than 100,000 values; wan"
        ):
            read(write(tmp_path, text), Outer)
    with pytest.raises(ValueError, match=r"--set names=\{a0.* is not YAML; wanted it in quotes"):
        read(write(tmp_path, "name: x\n"), Outer, ["names={" + bomb.replace("\n", ", ") + "}"])
    assert time.monotonic() - began < 1


def test_ordinary_anchors_aliases_and_merges_are_read(tmp_path: Path) -> None:
    text = "names: &all [a, b]\ninner: &one {size: 4}\nname: &it x\n"
    assert read(write(tmp_path, text), Outer) == Outer(name="x", inner=Inner(size=4), names=["a", "b"])
    text = "inner: &one {size: 4}\nname: &it x\nnames: [*it, *it]\n"
    assert read(write(tmp_path, text), Outer).names == ["x", "x"]
    assert read(write(tmp_path, "<<: {name: y, inner: {<<: {size: 5}}}\n"), Outer) == Outer(
        name="y", inner=Inner(size=5)
    )
    many = "name: &x x\nnames: [" + ", ".join(5000 * ["*x"]) + "]\n"
    assert len(read(write(tmp_path, many), Outer).names) == 5000


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.yaml: no such file"):
        read(tmp_path / "none.yaml", Outer)


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_bytes(b"name: \xff\n")
    with pytest.raises(ValueError, match=r"byte 6 is not UTF-8"):
        read(path, Outer)


def test_overrides_reach_nested_settings_with_their_types(tmp_path: Path) -> None:
    path = write(tmp_path, "name: x\n")
    settings = read(path, Outer, ["inner.size=7", "names=[a, b]", "name=y"])
    assert (settings.inner.size, settings.names, settings.name) == (7, ["a", "b"], "y")


@pytest.mark.parametrize("override", ["size", "=3", "name.part=3"])
def test_an_override_that_is_not_name_equals_value_is_refused(tmp_path: Path, override: str) -> None:
    with pytest.raises(ValueError, match=f"--set {override}"):
        read(write(tmp_path, "name: x\n"), Outer, [override])


@dataclass(frozen=True)
class Bounds:
    least: int = 0

    def __post_init__(self) -> None:
        if self.least < 0:
            raise ValueError(f"bounds: least is {self.least}; wanted 0 or more")


class Wide(BaseModel):
    model_config = ConfigDict(extra="forbid")
    inner: Inner | None = None
    bounds: Bounds = Bounds()


def test_a_value_that_a_group_refuses_is_named_whole_and_placed_at_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, "bounds:\n\n  least: -3\n")
    with pytest.raises(ValueError, match=r"config\.yaml:3: bounds\.least is -3; wanted 0 or more"):
        read(path, Wide)
    with pytest.raises(ValueError, match=r"--set bounds\.least: bounds\.least is -4; wanted 0 or more"):
        read(write(tmp_path, "inner: null\n"), Wide, ["bounds.least=-4"])


@pytest.mark.parametrize(
    ("name", "meant"),
    [("inner.sise", "inner.size"), ("size", "inner.size"), ("bounds.leest", "bounds.least"), ("iner", "inner")],
)
def test_the_nearest_setting_is_suggested(tmp_path: Path, name: str, meant: str) -> None:
    with pytest.raises(ValueError, match=rf"unknown setting '{name}'; did you mean {meant}\?"):
        read(write(tmp_path, "bounds: {}\n"), Wide, [f"{name}=1"])


def test_a_setting_like_no_other_gets_no_suggestion(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"unknown setting 'zzz'; wanted inner, bounds$"):
        read(write(tmp_path, "zzz: 1\n"), Wide)


def test_a_folder_of_documents_is_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is a folder; wanted a YAML configuration .*; generate takes folders"):
        read(tmp_path, Wide)
