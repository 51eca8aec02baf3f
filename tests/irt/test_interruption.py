"""Who interrupts gets no half result: not from a sampler, not in a folder, not on the command line."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import irt

HEEDING = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.executable, sys.argv[1:])"
"""Starts a command that heeds SIGINT, also where the tests run in the background of a shell, which ignores it."""
WORDS = ["fit", "responses.csv", "--method", "nuts", "--out", "fit"]


@pytest.fixture
def heeding() -> Iterator[None]:
    """This process heeds SIGINT, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("program", ["irt", "ragexam"])
def test_an_interrupted_fit_ends_with_one_line_and_130(program: str, tmp_path: Path) -> None:
    irt.write_responses(irt.simulate(40, 60, seed=1).data, tmp_path / "responses.csv")
    process = subprocess.Popen(
        [sys.executable, "-c", HEEDING, sys.executable, "-m", program, *WORDS],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(irt.__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "fit ...\n"
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate()
    assert (process.returncode, printed, said) == (130, "", f"{program}: stopped\n")
    assert not (tmp_path / "fit").exists()


@pytest.mark.parametrize("moment", ["a module that is loaded", "a collection of garbage"])
def test_an_interruption_at_a_moment_that_cannot_raise_is_not_lost(moment: str, tmp_path: Path) -> None:
    (tmp_path / "loading.py").write_text(
        "import signal\ntry:\n    signal.raise_signal(signal.SIGINT)\n    for _ in range(10):\n        pass\n"
        "except KeyboardInterrupt:\n    print('raised while loaded')\n"
    )
    begin = {
        "a module that is loaded": "import loading",
        "a collection of garbage": "gc.callbacks.append(lambda *_: signal.raise_signal(signal.SIGINT))\ngc.collect()\n"
        "gc.callbacks.clear()",
    }[moment]
    lines = [
        "import gc, signal, time",
        "from irt.commands import keep_interruptions",
        "signal.signal(signal.SIGINT, signal.default_int_handler)",
        "keep_interruptions()",
        "try:",
        *(f"    {line}" for line in begin.splitlines()),
        "    print('begun')",
        "    time.sleep(60)",
        "except KeyboardInterrupt:",
        "    print('interrupted')",
    ]
    path = os.pathsep.join([str(Path(irt.__file__).parents[1]), str(tmp_path)])
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=50,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("begun\ninterrupted\n", "")


def test_an_interrupted_sampler_waits_for_no_chain_and_its_chains_end(heeding: None) -> None:
    sent, shares = [], []

    def interrupt(done: int, total: int) -> None:
        shares.append(done / total)
        if done and not sent and threading.current_thread() is not threading.main_thread():
            sent.append(done)
            # Taken here it does not wake the main thread from its wait, as one does not that comes just before.
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        irt.fit(irt.simulate(12, 6, seed=0).data, "1pl", warmup=100_000, progress=interrupt)
    for chain in set(threading.enumerate()) - before:
        chain.join(60)
        assert not chain.is_alive()
    assert shares[-1] < 0.5


@pytest.mark.parametrize("after", [50, 150, 250])
def test_an_interrupted_run_of_pymc_is_no_fit(after: int) -> None:
    told = []

    def interrupt(done: int, total: int) -> None:
        told.append(done)
        if done == after:
            assert total == 400
            raise KeyboardInterrupt

    data = irt.simulate(12, 6, seed=0).data
    with pytest.raises(KeyboardInterrupt):
        irt.fit(data, "1pl", backend="pymc", warmup=100, draws=100, progress=interrupt)
    assert told[-1] == after


def test_a_save_that_ends_early_leaves_the_folder_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = irt.simulate(30, 6, seed=0).data
    irt.fit(data, "1pl", "mml").save(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def interrupted(_fit: irt.Fit) -> None:
        raise KeyboardInterrupt

    again = irt.fit(data, "2pl", "mml")
    with monkeypatch.context() as patch:
        patch.setattr(irt.Fit, "record", interrupted)
        with pytest.raises(KeyboardInterrupt):
            again.save(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    again.save(tmp_path)
    assert irt.load_fit(tmp_path).model == "2pl"
