"""The files that a question and an answer pass on their way: `python -m tests.trace question|answer`.

The small run of the kept results is done by scripted models in a temporary folder, and each call of a function that is
handed the question (or the answers) is written down. Printed: every file once, in the order of its first such call.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parent.parent
ROOMS = ("examcore", "exam_gen", "irt", "taxonomy", "rag", "grading", "ragexam")
ANSWERS = {"Answer", "ResponseMatrix", "Fit", "Comparison"}
"""Classes that hold answers on the way from the store to a difference on the page."""
DEEPEST = 3
"""So many containers inside one another are looked into: a list of records that hold a question."""
MOST_PARTS = 60
"""So many parts of a container are looked at: more than the questions of the small exam."""


class Trace:
    """The modules that were handed what is looked for, each whenever it is another than the one before."""

    def __init__(self, wanted: Callable[[object], bool]) -> None:
        self.wanted = wanted
        self.modules: list[str] = []

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Note the module of a call whose arguments hold it."""
        name = str(frame.f_globals.get("__name__", ""))
        if event != "call" or name.partition(".")[0] not in ROOMS or name in self.modules[-1:]:
            return
        code = frame.f_code
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if any(self._is_in(frame.f_locals.get(one), DEEPEST) for one in arguments):
            self.modules.append(name)

    def _is_in(self, value: object, depth: int) -> bool:
        return self.wanted(value) or (depth > 0 and any(self._is_in(one, depth - 1) for one in _parts(value)))


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, (list, tuple)):
        yield from value[:MOST_PARTS]
    elif isinstance(value, dict):
        yield from list(value.values())[:MOST_PARTS]
    elif hasattr(value, "__dataclass_fields__"):
        yield from (getattr(value, name, None) for name in value.__dataclass_fields__)


def run() -> None:
    """Run the small exam in this folder, as the command line does."""
    from ragexam.cli import main

    sys.argv = ["ragexam", "run", "config.yaml", "--quiet"]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"exit status is {end.code}; wanted 0") from end


def traced(what: str) -> list[str]:
    """The modules passed, in the order of their calls; the run is done once before, to know the question."""
    run()
    exam = Path("run/exam.jsonl").read_text(encoding="utf-8")
    stem = json.loads(exam.splitlines()[0])["question"]
    if what == "question":
        shutil.rmtree("run")
        trace = Trace(lambda one: isinstance(one, str) and stem in one)
    else:
        shutil.rmtree("run/fit")
        trace = Trace(lambda one: type(one).__name__ in ANSWERS)
    sys.setprofile(trace)
    try:
        run()
    finally:
        sys.setprofile(None)
    return trace.modules


def returns(modules: list[str]) -> list[str]:
    """The files at which the way first enters a room again that it had left; the ground floor is under all rooms."""
    entered: list[str] = []
    found = []
    for name in modules:
        room = name.partition(".")[0]
        if room != "examcore" and room not in entered[-1:]:
            found += [name] if room in entered else []
            entered.append(room)
    return found


def main() -> None:
    """Print the files."""
    sys.path.insert(0, str(ROOT))
    printed = sys.stdout
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as sys.stdout:
        shutil.copytree(ROOT / "tests" / "golden" / "inputs", folder, dirs_exist_ok=True)
        os.chdir(folder)
        modules = traced(sys.argv[1])
    sys.stdout = printed
    passed = list(dict.fromkeys(modules))
    print(*passed, sep="\n")
    print(f"{len(passed)} files; back into a room that was left: {', '.join(returns(passed)) or 'never'}")


if __name__ == "__main__":
    main()
