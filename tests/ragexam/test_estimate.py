import pytest

from rag.pipelines import LlmSpec
from ragexam.config import Config
from ragexam.estimate import Machine, foresee, in_words, measure, parameters, sit_work
from ragexam.progress import Progress

QUIET = Progress(quiet=True)


def config(**exam: int) -> Config:
    return Config.model_validate(
        {
            "run": "unused",
            "corpus": {"source": "python-docs", "sample": 10},
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
    from exam_gen.corpora.chunks import chunk
    from exam_gen.corpora.corpus import read_corpus

    chunks = chunk(read_corpus("python-docs", sample=10))
    machine = Machine(1e12, 1e10)
    spec = LlmSpec("tiny-135m", "org/tiny-135m")
    few, many = (sit_work(spec, config(questions=n), chunks, machine) for n in (10, 20))
    assert (few.prompts, many.prompts) == (40, 80)
    assert many.read_tokens == pytest.approx(2 * few.read_tokens, rel=0.01)
    assert many.seconds == pytest.approx(2 * few.seconds, rel=0.05)


def test_an_estimate_adds_up_and_costs_nothing_for_local_models() -> None:
    found = foresee(config(questions=12), QUIET)
    works = [found["steps"]["writing"], found["steps"]["verifying"], *found["steps"]["sitting"]]
    assert found["seconds"] == pytest.approx(sum(work["seconds"] for work in works) + 1, abs=1)
    assert found["pipelines"] == 4
    assert found["cost"] == 0
    assert "12 questions, 4 pipelines" in in_words(found)


def test_the_speed_of_the_machine_is_measured() -> None:
    machine = measure(size=128)
    assert machine.flops > 1e6
    assert machine.bytes > 1e6
