import os
import time
from pathlib import Path

import pytest

from exam_gen.corpora import chunk
from examcore import Progress
from rag import LlmSpec, Mode
from ragexam import _estimate as estimate
from ragexam._config import Config, GridSettings
from ragexam._corpus_table import cut_corpus
from ragexam._estimate import TEXT_TOKENS, Machine, estimate_run, material, measure, parameters, sit_work, write_work
from ragexam._settings import read
from tests.corpus_reading import read_corpus

ROOT = Path(__file__).parents[2]
QUIET = Progress(quiet=True)


def config(**exam: int | str) -> Config:
    return Config.model_validate(
        {
            "run": "unused",
            "corpus": {"source": "python-docs", "sample": 20},
            "exam": exam,
            "grid": {"llms": ["org/tiny-135m"], "retrievers": ["closed-book", "oracle"], "shots": [0, 2]},
            "fit": {"method": "map"},
        }
    )


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ("embedded:smollm2-135m", 135e6),
        ("embedded:qwen2.5-coder-1.5b", 1.5e9),
        ("mistralai/Mistral-7B-Instruct-v0.3", 7e9),
        ("org/no-size", 1e9),
    ],
)
def test_a_model_tells_its_size_by_its_name(model: str, size: float) -> None:
    assert parameters(model) == size


def test_the_work_of_an_examinee_grows_with_the_questions() -> None:
    chunks = chunk(read_corpus("python-docs", sample=10))
    machine = Machine(1e12, 1e10)
    spec = LlmSpec(name="tiny-135m", model="org/tiny-135m")
    few, many = (sit_work(spec, "likelihood", config(questions=n), chunks, machine) for n in (10, 20))
    assert (few.prompts, many.prompts) == (40, 80)
    assert many.read_tokens == pytest.approx(2 * few.read_tokens, rel=0.01)
    assert many.seconds == pytest.approx(2 * few.seconds, rel=0.05)


def test_prompts_that_several_retrievers_ask_alike_are_counted_once() -> None:
    chunks, spec = chunk(read_corpus("python-docs", sample=10)), LlmSpec(name="tiny-135m", model="org/tiny-135m")

    def asked(*retrievers: str) -> int:
        settings = config(questions=100)
        grid = GridSettings.model_validate({**settings.grid.model_dump(), "retrievers": list(retrievers)})
        settings = settings.model_copy(update={"grid": grid})
        return sit_work(spec, "likelihood", settings, chunks, Machine(1e12, 1e10)).prompts

    assert asked("closed-book", "oracle") == 400
    assert 400 < asked("closed-book", "oracle", "bm25") < 600
    assert 600 < asked("closed-book", "oracle", "bm25", "dense", "lsa", "hybrid", "tfidf") < 1400


def test_an_estimate_adds_up_and_costs_nothing_for_local_models() -> None:
    found = estimate_run(config(questions=12), QUIET)
    assert found.seconds == pytest.approx(sum(work.seconds for work in found.works) + 1, abs=1)
    assert found.pipelines == 4
    assert found.cost == 0
    assert "12 questions, 4 pipelines" in found.lines()[0]


def test_the_time_is_a_range_with_its_basis_that_a_busy_machine_widens_upwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "measure", lambda: Machine(2e11, 5e9, 2))
    ranges = []
    for load in (0.0, 3.0):
        monkeypatch.setattr(estimate.os, "getloadavg", lambda load=load: (load * (os.cpu_count() or 1), 0.0, 0.0))
        found = estimate_run(config(questions=12), QUIET)
        text = "\n".join(found.lines())
        ranges.append((found.low / found.seconds, found.high / found.seconds))
        assert found.record()["machine"] == {"flops": 2e11, "bytes": 5e9, "threads": 2}
        assert (
            "basis: matrix products at 200 GFLOP/s, of which models reach 60%, weights read at 5.0 GB/s, 2 threads;"
            in text
        )
        assert ("it is busy now (a load of 3.0 a processor)" in text) is (load > 0)
    assert ranges == [pytest.approx((0.5, 2), rel=0.05), pytest.approx((0.5, 3), rel=0.05)]


@pytest.fixture(autouse=True)
def _computes_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "computes_w8a8", lambda: True)


def test_the_time_at_the_speed_of_two_such_cores_is_what_the_quickstart_took() -> None:
    settings = read(ROOT / "experiments" / "quickstart" / "config.yaml", Config)
    chunks = cut_corpus(settings).chunks
    machine = Machine(4.22e11, 11.5e9, 2)
    model = settings.grid.grid.llms[0]
    works = [*write_work(settings, chunks, machine), sit_work(model, "likelihood", settings, chunks, machine)]
    seconds = sum(one.seconds for one in works)
    # RESULTS.md: the exam and its answers, and the share of that exam's processor time that the present writer takes.
    assert seconds == pytest.approx(0.77 * 1313 + 62, rel=0.3)


def test_the_speed_of_the_machine_is_measured() -> None:
    machine = measure(size=128)
    assert machine.flops > 1e6
    assert machine.bytes > 1e6


FEW = chunk(read_corpus("python-docs", sample=10))[:14]


def test_no_more_is_tried_than_the_corpus_holds() -> None:
    sparse = config(questions=60)
    found = material(sparse, FEW)
    writing, _ = write_work(sparse, FEW, Machine(1e12, 1e10))
    assert found.tried == len(found.facts) <= 28
    each = estimate.DRAFTS_PER_FACT + estimate.WRONG_PER_FACT
    assert writing.prompts == pytest.approx(found.tried * each, abs=1)
    assert found.reachable < 60


def test_a_batch_is_tried_whole() -> None:
    settings = config(questions=1, batch=7)
    assert material(settings, chunk(read_corpus("python-docs", sample=30))).tried == 35  # five batches for 5 x 6.2


@pytest.mark.parametrize("mode", ["paper", "json"])
def test_no_chunk_is_asked_about_twice(mode: str) -> None:
    settings = config(questions=60, mode=mode)
    assert write_work(settings, FEW, Machine(1e12, 1e10))[0].prompts == 14


def test_a_corpus_that_can_hardly_give_the_wanted_number_is_told() -> None:
    found = estimate_run(config(questions=5_000), QUIET)
    assert found.reachable < 5_000
    assert f"about {found.reachable} questions, 5000 are wanted; wanted more text" in "\n".join(found.lines())
    few = config(questions=1)
    enough = few.model_copy(update={"corpus": few.corpus.model_copy(update={"sample": 80})})
    assert "wanted more text" not in "\n".join(estimate_run(enough, QUIET).lines())


def test_what_all_prompts_begin_with_is_read_once() -> None:
    settings = config(questions=60)
    slow = Machine(1e9, 1e15)
    writing, verifying = write_work(settings, FEW, slow)
    rate = 1e9 * estimate.EFFICIENCY * estimate.INTEGER_SPEED
    whole = 2 * 1.5e9 * writing.read_tokens / rate
    decoding = 2 * 1.5e9 * writing.written_tokens / rate
    assert writing.seconds - decoding < 0.5 * whole
    assert verifying.seconds == pytest.approx(
        2 * 1.5e9 * verifying.read_tokens / rate / estimate.PASSAGES_SHARED, rel=1e-3
    )


def test_other_work_on_the_machine_does_not_count() -> None:
    def waiting() -> None:
        time.sleep(0.05)

    assert estimate._best(waiting) < 0.02


def test_answers_in_free_text_are_written_token_by_token() -> None:
    chunks = chunk(read_corpus("python-docs", sample=10))
    machine, spec = Machine(1e12, 1e10), LlmSpec(name="tiny-135m", model="org/tiny-135m")
    modes: tuple[Mode, Mode] = ("likelihood", "text")
    choosing, writing = (sit_work(spec, mode, config(questions=10), chunks, machine) for mode in modes)
    assert (choosing.written_tokens, writing.written_tokens) == (0, TEXT_TOKENS * writing.prompts)
    assert writing.prompts == choosing.prompts
    assert writing.seconds > choosing.seconds
