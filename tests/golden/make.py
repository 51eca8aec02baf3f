"""Run the command lines of `commands.py` and write what came of them: `python -m tests.golden.make OUT [PART ...]`.

`OUT/PART/NAME.json` holds the exit status and the `--json` output of a command, `OUT/PART/NAME/` the files it wrote.
Parts that read what the part `run` wrote make it, too.
Only the command lines and files of the program are used, so that its Python modules can be renamed freely.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import runpy
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.golden.canonical import cleaned, dumped, file_content, keys_only
from tests.golden.commands import PARTS, READ_THE_RUN, Command
from tests.golden.scripted_models import lot

INPUTS = Path(__file__).parent / "inputs"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
KEYS_ONLY = {"doctor"}
"""Commands whose values no two machines share."""
TIMES = {"estimate": ("low", "high")}
"""Keys of a command's result that are seconds, though their names do not say so."""


class Spoken(NamedTuple):
    """What a command line came to: its exit status and what it wrote to standard output and error."""

    status: int
    out: str
    err: str


def main() -> None:
    """Read the words of this script, and run the parts."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("out", type=Path)
    words.add_argument("parts", nargs="*", default=list(PARTS), help=f"of {', '.join(PARTS)}; default: all")
    words.add_argument("--work", type=Path, help="run in this folder, which stays, instead of in a temporary one")
    given = words.parse_args()
    # Read when numpy, numba and torch are loaded, which the commands do: sums then have one order.
    os.environ.update(dict.fromkeys(THREADS, "1"), OMP_WAIT_POLICY="passive", MPLBACKEND="agg", COLUMNS="120")
    with tempfile.TemporaryDirectory() as temporary:
        make(given.out.resolve(), (given.work or Path(temporary)).resolve(), given.parts)


def make(out: Path, work: Path, parts: list[str]) -> None:
    """Run the commands of the parts in the folder `work`, and keep what comes of them in `out`."""
    needed = {*parts, "run"} if set(parts) & READ_THE_RUN else set(parts)
    work.mkdir(parents=True, exist_ok=True)
    with contextlib.chdir(work):
        shutil.copytree(INPUTS, work, dirs_exist_ok=True)
        for part in [part for part in PARTS if part in needed]:
            for command in PARTS[part]:
                begun = time.process_time()
                _keep(command, out / part)
                print(f"{part}/{command.name}: {time.process_time() - begun:.1f} s of processor", file=sys.stderr)


def called(words: str) -> Spoken:
    """Run a command line in this process, as `python -m WORDS` would."""
    module, *arguments = shlex.split(words)
    out, err = io.StringIO(), io.StringIO()
    before, status = sys.argv, 0
    sys.argv = [module, *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        sys.argv = before
    return Spoken(status, out.getvalue(), err.getvalue())


def _keep(command: Command, folder: Path) -> None:
    if command.name == "import":
        _write_samples(Path("samples.jsonl"))
    spoken = called(f"{command.words} --json" if command.json else command.words)
    result: dict[str, Any] = {"status": spoken.status}
    if command.json:
        result["json"] = _result(command, spoken)
    _write(folder / f"{command.name}.json", dumped(result))
    for path in _written(command):
        text, suffix = file_content(path)
        _write(folder / command.name / f"{path.name.removesuffix(path.suffix)}{suffix}", _placeless(text))


def _result(command: Command, spoken: Spoken) -> Any:
    if spoken.status and not spoken.out:
        return None
    content = json.loads(_placeless(spoken.out))
    for name in TIMES.get(command.name, ()):
        del content[name]
    return keys_only(content) if command.name in KEYS_ONLY else cleaned(content)


def _written(command: Command) -> Iterator[Path]:
    for pattern in command.files:
        found = sorted(path for path in Path().glob(pattern) if path.is_file())
        yield from found


def _write_samples(path: Path) -> None:
    """Samples as lm-evaluation-harness would write them for an exported exam, likelihoods drawn by lot."""
    records = []
    for name in ("closed-book", "oracle-icl1"):
        for line in Path(f"lm-eval/{name}.jsonl").read_text(encoding="utf-8").splitlines():
            doc = json.loads(line)
            drawn = [[str(-9 * lot(doc["id"], name, one)), "False"] for one in doc["choices"]]
            records.append({"doc_id": len(records), "doc": doc, "filtered_resps": drawn})
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")


def _placeless(text: str) -> str:
    return text.replace(str(Path.cwd()), "WORK")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
