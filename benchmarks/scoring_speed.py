"""An exam scored by us and by lm-evaluation-harness: seconds, tokens, equality, and how near we come to the processor.

`python benchmarks/scoring_speed.py [MODEL]` makes an exam of `--questions` questions from passages of the Python
language reference (which words follow these words?; stems are poor, lengths are realistic) and lets the same model
object in the same process answer it through a sitting's scorer and through the harness's HF back end, turn and turn
about: without shots, after two, and for a grid of retrievers whose shots and passages are shared. Then the share of the
matrix rate that scoring reaches in bfloat16. Processor seconds, of all threads. Needs the extra `peers`.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from exam_gen.corpora import gather
from examcore import Chunk, Exam, Question
from rag import (
    LikelihoodExaminee,
    PassageLimits,
    PassageLookup,
    Pipeline,
    Shot,
    Task,
    TaskAnswer,
    build_retriever,
    continuation,
    draw_shots,
    load_model,
    tasks_of,
)
from rag.local import LocalModel

PARTS = ("0", "2", "grid", "limit")
RETRIEVERS = ("oracle", "bm25", "tfidf")


class Seconds(NamedTuple):
    """Of the clock and of the processor."""

    clock: float
    processor: float

    @classmethod
    def of(cls, work: Callable[[], Any]) -> tuple[Seconds, Any]:
        start = (time.perf_counter(), time.process_time())
        found = work()
        return cls(time.perf_counter() - start[0], time.process_time() - start[1]), found


def exam_of(count: int, words: int = 130) -> tuple[list[Question], list[Chunk]]:
    """Questions about runs of words from as many documents, whose right answer continues a quotation."""
    generator = random.Random(3)
    texts = [one.text.split() for one in gather("python-docs").documents if len(one.text.split()) > words]
    chunks = [Chunk(f"c{n}", f"d{n}", " ".join(text[:words]), 0, 1) for n, text in enumerate(texts[:count])]
    questions = []
    for place, text in enumerate(texts[:count]):
        at, long = generator.randrange(10, words - 20), generator.randint(3, 10)
        choices = [" ".join(text[at : at + long])]
        for other in generator.sample([one for one in texts if one is not text], 3):
            start = generator.randrange(words - 12)
            choices.append(" ".join(other[start : start + generator.randint(3, 10)]))
        stem = f"Which words follow “{' '.join(text[at - 8 : at])}” in the reference?"
        context = chunks[place].text
        questions.append(Question(f"q{place}", stem, tuple(choices), 0, f"d{place}", f"c{place}", context=context))
    return questions, chunks


def tasks(exam: Exam, chunks: Sequence[Chunk], names: Sequence[str], count: int, shots: Sequence[Shot]) -> list[Task]:
    """What a grid of retrievers asks after `count` shots."""
    built = {name: build_retriever(name, chunks) for name in names}
    grid = [Pipeline("one", name, count) for name in names]
    pending = [(pipeline, question.id) for pipeline in grid for question in exam.questions]
    return tasks_of(exam, pending, PassageLookup(built, PassageLimits()), shots)


def ours(model: LocalModel, asked: Sequence[Task]) -> dict[tuple[str, str], tuple[float, ...]]:
    """By pipeline and question, nothing kept from before."""
    model._prefixes.clear()
    found: dict[tuple[str, str], tuple[float, ...]] = {}
    for said in LikelihoodExaminee(model, "character").answer(asked):
        assert isinstance(said, TaskAnswer)
        task = asked[said.place]
        found.update({(one.id, task.question.id): said.likelihoods.sums for one in task.pipelines})
    return found


def theirs(harness: Any, model: LocalModel, asked: Sequence[Task]) -> dict[tuple[str, str], tuple[float, ...]]:
    """The same from the harness, which is asked what each pipeline of a task asks."""
    from lm_eval.api.instance import Instance

    places = [(pipeline.id, task) for task in asked for pipeline in task.pipelines]
    requests = [
        Instance("loglikelihood", {}, (model.render(task.prompt), continuation(choice)), 0)
        for _, task in places
        for choice in task.question.choices
    ]
    sums: Iterator[float] = (one for one, _ in harness.loglikelihood(requests, disable_tqdm=True))
    return {(name, task.question.id): tuple(next(sums) for _ in task.question.choices) for name, task in places}


def race(model: LocalModel, label: str, asked: Sequence[Task], sizes: Sequence[int], repeats: int) -> None:
    from lm_eval.models.huggingface import HFLM

    took: dict[str, list[Seconds]] = {"ours": []}
    mine: dict[tuple[str, str], tuple[float, ...]] = {}
    gaps: list[float] = []
    alike = 0
    for size in sizes:
        harness = HFLM(model._model, tokenizer=model.tokenizer, batch_size=size, device="cpu")
        for _ in range(repeats):
            spent, mine = Seconds.of(lambda: ours(model, asked))
            took["ours"].append(spent)
            spent, other = Seconds.of(lambda h=harness: theirs(h, model, asked))  # type: ignore[misc]
            took.setdefault(f"batch {size}", []).append(spent)
            gaps += [abs(a - b) for key, sums in mine.items() for a, b in zip(sums, other[key], strict=True)]
            alike = sum(sums.index(max(sums)) == other[key].index(max(other[key])) for key, sums in mine.items())
    best = {name: min(spent, key=lambda one: one.processor) for name, spent in took.items()}
    name, fast = min(((k, v) for k, v in best.items() if k != "ours"), key=lambda one: one[1].processor)
    read = sum(len(model._row(task.prompt).ids) * len(task.pipelines) for task in asked)
    own = best["ours"]
    others = ", ".join(f"{k} {v.processor:.1f}" for k, v in best.items() if k != "ours")
    print(
        f"| {label} | {len(mine)} | {read:,} | {own.processor:.1f} | {others} | {fast.processor / own.processor:.1f} "
        f"({name}) | {min(o.clock for o in took[name]) / min(o.clock for o in took['ours']):.1f} | {max(gaps):.1e} | "
        f"{alike} of {len(mine)} |",
        flush=True,
    )


def matrix_rate(model: LocalModel, rows: int) -> float:
    """Floating-point operations a second of the model's own matrices, `rows` rows at once."""
    layers = [one for one in model._model.base_model.modules() if isinstance(one, torch.nn.Linear)]
    inputs = [torch.randn(rows, one.in_features, dtype=model._model.dtype) for one in layers]

    def work() -> None:
        for layer, given in zip(layers, inputs, strict=True):
            layer(given)

    spent = min(Seconds.of(work)[0].processor for _ in range(5))
    return sum(2 * rows * one.weight.numel() for one in layers) / spent


def limit(name: str, asked: Sequence[Task]) -> None:
    """Prints the share of the matrix rate: operations that the needed tokens' matrices take, by processor seconds."""
    model = load_model(name, "bfloat16")
    assert isinstance(model, LocalModel)
    size = int(str(model.streaming["pass"]))
    counted = [0, 0]

    def count(_module: object, _args: object, kwargs: dict[str, Any]) -> None:
        counted[0] += 1
        counted[1] += int((kwargs["position_ids"] + kwargs["input_ids"] > 0).sum())

    with torch.inference_mode():
        rate = matrix_rate(model, size)
        ours(model, asked[:2])
        hook = model._model.base_model.register_forward_pre_hook(count, with_kwargs=True)
        spent, _ = Seconds.of(lambda: ours(model, asked))
        hook.remove()
        rate = max(rate, matrix_rate(model, size))
    linear = sum(one.weight.numel() for one in model._model.base_model.modules() if isinstance(one, torch.nn.Linear))
    choices = [[continuation(one) for one in task.question.choices] for task in asked]
    joints = [model._scorable(task.prompt, mine) for task, mine in zip(asked, choices, strict=True)]
    # The choices stand behind the prompt, and once more behind one that asks nothing.
    scored = 2 * sum(1 + sum(len(own) - 1 for own in joint.own) for joint in joints)
    needed = 2 * linear * counted[1] + 2 * model._model.get_output_embeddings().weight.numel() * scored
    reached = needed / spent.processor
    print(f"\n{name}, bfloat16: {len(asked)} prompts, {counted[1]:,} tokens in {counted[0]} passes of {size}; ", end="")
    print(f"per processor second {counted[1] / spent.processor:.0f} tokens, {reached / 1e9:.0f} GFLOP of ", end="")
    print(f"{rate / 1e9:.0f} that the matrices reach alone: {reached / rate:.0%}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="embedded:smollm2-135m")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--batches", type=int, nargs="*", default=[1, 8], help="the harness's batch sizes")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    given = parser.parse_args(arguments)
    questions, chunks = exam_of(given.questions + 2)
    exam, pool = Exam(tuple(questions[:-2])), questions[-2:]
    bare, full = (draw_shots(pool, exam, 2, with_passages=one) for one in (False, True))
    plain = tasks(exam, chunks, ["oracle"], 0, bare)
    model = load_model(given.model, "float32", threads=given.threads)
    assert isinstance(model, LocalModel)
    print(f"{given.model}, {model.settings}\n")
    print("| | answers | prompt tokens | ours, s | harness, s | times | by the clock | nats apart | same choice |")
    print("|---|---|---|---|---|---|---|---|---|")
    sizes = given.batches[:1]
    if "0" in given.parts:
        race(model, "0 shots", plain, given.batches, given.repeats)
    if "2" in given.parts:
        race(model, "2 shots", tasks(exam, chunks, ["oracle"], 2, bare), sizes, given.repeats)
    if "grid" in given.parts:
        grid = tasks(exam, chunks, RETRIEVERS, 2, full)
        race(model, "2 shots with passages, 3 retrievers", grid, sizes, given.repeats)
    print(
        f"\npeak memory, the harness's included: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB"
    )
    if "limit" in given.parts:
        limit(given.model, plain)


if __name__ == "__main__":
    main()
