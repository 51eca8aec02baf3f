"""Counts of the code's structure; `python -m tests.house` prints them, `tests/test_arrows.py` holds the zeros.

A *door* is the `__init__` of a package or one of `PUBLIC`; a *deep import* takes from another room what no door of it
lists in `__all__`.
A *circle* is a set of modules that import one another, at any depth, imports inside functions included.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
ROOMS = ("examcore", "exam_gen", "irt", "taxonomy", "rag", "grading", "ragexam")
"""The packages of the wheel, from the ground floor up."""
THROUGH_DOORS = (*ROOMS, "paper_figs", "experiments", "benchmarks")
"""What imports rooms through their doors alone."""
PUBLIC = ("irt.curves", "irt.kernels", "ragexam.validity")
"""Modules that users import by name; each lists its public names as a door does."""
MOST_PARAMETERS = 10
_SHIPPED = "ragexam/exchange/templates/"
"""Files that exports copy into other tools' folders: they are no modules of ours."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module(NamedTuple):
    """A module's dotted name, its file and its syntax tree."""

    name: str
    path: Path
    tree: ast.Module


class Import(NamedTuple):
    """One imported name: by which module, from which (dotted, as written), and which name of it."""

    by: str
    source: str
    name: str


@cache
def modules(*rooms: str) -> dict[str, Module]:
    """The modules of some rooms, by dotted name; a package goes by its own name."""
    found = {}
    for path in sorted(path for room in rooms for path in (ROOT / room).rglob("*.py")):
        relative = path.relative_to(ROOT)
        if str(relative).startswith(_SHIPPED):
            continue
        name = ".".join(relative.with_suffix("").parts).removesuffix(".__init__")
        found[name] = Module(name, path, ast.parse(path.read_text(encoding="utf-8")))
    return found


def imports(module: Module) -> Iterator[Import]:
    """Every import of a module, at any depth."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (Import(module.name, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (Import(module.name, node.module, alias.name) for alias in node.names)


def arrows(*rooms: str) -> dict[str, set[str]]:
    """The modules that each module imports."""
    known = modules(*rooms)
    found: dict[str, set[str]] = defaultdict(set)
    for module in known.values():
        for one in imports(module):
            target = f"{one.source}.{one.name}" if f"{one.source}.{one.name}" in known else one.source
            # A module that takes a name from its own package's door needs what the door imports.
            if target in known and target != module.name:
                found[module.name].add(target)
    return found


def circles(*rooms: str) -> list[list[str]]:
    """The sets of modules that import one another (Tarjan's strongly connected components)."""
    graph = arrows(*rooms)
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for target in graph[name]:
            if target not in order:
                visit(target)
                low[name] = min(low[name], low[target])
            elif target in stack:
                low[name] = min(low[name], order[target])
        if low[name] == order[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for name in list(modules(*rooms)):
        if name not in order:
            visit(name)
    return found


def door_names(module: Module) -> set[str]:
    """What a door lists in `__all__`."""
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def is_door(module: Module) -> bool:
    """Whether a module is the `__init__` of a package, or one that users import by name."""
    return module.path.name == "__init__.py" or module.name in PUBLIC


def deep_imports(*rooms: str) -> list[Import]:
    """Imports of another room, by modules of some, that pass its doors."""
    known = modules(*ROOMS)
    found = []
    for module in modules(*rooms).values():
        for one in imports(module):
            room = one.source.partition(".")[0]
            if room in ROOMS and room != module.name.partition(".")[0] and not _through_a_door(one, known):
                found.append(one)
    return found


def _through_a_door(one: Import, known: dict[str, Module]) -> bool:
    if one.source not in known or not is_door(known[one.source]):
        return False
    target = known.get(f"{one.source}.{one.name}")
    return not one.name or one.name in door_names(known[one.source]) or (target is not None and is_door(target))


def untrue_doors() -> list[str]:
    """Names that a door lists without having them."""
    found = []
    for module in modules(*ROOMS).values():
        if is_door(module):
            bound = {name for node in module.tree.body for name in _bound(node)}
            found += [f"{module.name}.{name}" for name in sorted(door_names(module) - bound)]
    return found


def _bound(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ImportFrom | ast.Import):
        return [alias.asname or alias.name for alias in node.names]
    if isinstance(node, ast.ClassDef | Function):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [node.target.id] if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else []


def class_places() -> dict[str, list[str]]:
    """The modules that define each class name."""
    found: dict[str, list[str]] = defaultdict(list)
    for module in modules(*ROOMS).values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(module.name)
    return found


def repeated_class_names() -> dict[str, list[str]]:
    """Class names that are defined in more than one place."""
    return {name: places for name, places in class_places().items() if len(places) > 1}


def functions() -> Iterator[tuple[str, Function]]:
    """Every function and method of the rooms, with the module it stands in."""
    for module in modules(*ROOMS).values():
        for node in ast.walk(module.tree):
            if isinstance(node, Function):
                yield module.name, node


def crowded_functions() -> list[str]:
    """Functions of more than ten parameters, `self` and `cls` not counted."""
    found = []
    for module, node in functions():
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        count = sum(one.arg not in ("self", "cls") for one in given)
        if count > MOST_PARAMETERS:
            found.append(f"{module}.{node.name}: {count}")
    return found


def public_modules() -> list[str]:
    """Modules beside the doors whose names do not begin with an underscore; command lines may."""
    commands = ("__main__", "cli")
    named = (one for one in modules(*ROOMS).values() if not is_door(one))
    return [one.name for one in named if not one.path.stem.startswith("_") and one.path.stem not in commands]


def bare_constants() -> list[str]:
    """Numbers that a module names in capitals without a comment or a docstring that gives the reason."""
    found = []
    for module in modules(*ROOMS).values():
        lines = module.path.read_text(encoding="utf-8").splitlines()
        body = module.tree.body
        for node, following in zip(body, [*body[1:], None], strict=True):
            if not isinstance(node, ast.Assign) or not _is_number(node.value):
                continue
            explained = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            remarked = "#" in lines[node.lineno - 1] or lines[node.lineno - 2].lstrip().startswith("#")
            if not explained and not remarked:
                found += [f"{module.name}.{name}" for name in _bound(node) if name.isupper()]
    return found


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def lines_of(room: str) -> int:
    """Lines of Python of a room."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / room).rglob("*.py"))


def counts() -> dict[str, object]:
    """All counts, by name."""
    sizes = [len(one.path.read_text(encoding="utf-8").splitlines()) for one in modules(*ROOMS).values()]
    lengths = [(node.end_lineno or node.lineno) - node.lineno + 1 for _, node in functions()]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    lines = {room: lines_of(room) for room in (*ROOMS, "paper_figs")}
    return {
        "modules": len(sizes),
        "classes": sum(map(len, class_places().values())),
        "repeated class names": len(repeated_class_names()),
        "circles": len(circles(*ROOMS)),
        "deep imports": len(deep_imports(*THROUGH_DOORS)),
        "names that a door lists and lacks": len(untrue_doors()),
        "public modules that are no door": len(public_modules()),
        "functions of more than ten parameters": len(crowded_functions()),
        "constants without a reason": len(bare_constants()),
        "median lines of a module": median(sizes),
        "median lines of a function": median(lengths),
        "longest module": max(sizes),
        "lines": lines,
        "lines in all": sum(lines.values()),
        "README lines": len(readme.splitlines()),
        "CHANGELOG lines, unreleased": len(re.split(r"^## ", changes, flags=re.MULTILINE)[1].splitlines()),
    }


def main() -> None:
    """Print the counts; with names of counts, what stands behind them (`circles`, `deep`, `classes` …)."""
    behind = {
        "circles": lambda: circles(*ROOMS),
        "deep": lambda: [f"{one.by}: from {one.source} import {one.name}" for one in deep_imports(*THROUGH_DOORS)],
        "classes": repeated_class_names,
        "parameters": crowded_functions,
        "constants": bare_constants,
        "public": public_modules,
        "doors": untrue_doors,
        "rooms": lambda: Counter(name.partition(".")[0] for name in modules(*ROOMS)),
    }
    shown = {name: behind[name]() for name in sys.argv[1:]} if len(sys.argv) > 1 else counts()
    print(json.dumps(shown, indent=2))


if __name__ == "__main__":
    main()
