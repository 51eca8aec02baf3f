"""Tokens per second of writing in batches and one by one, and what kept prefixes save a verifier.

`python benchmarks/writing_speed.py [MODEL ...]` writes question prompts about sentences of the Python language
reference (`--tokens` new tokens each, whatever they are) one by one and in batches: the same prompts and the same model
in the same run, reading the prompts and writing the replies timed apart. Then it asks about `--cases` passages what the
exam writer asks, one kind of request after the other: two likelihoods and a written answer, with prefixes kept and with
none. One thread and its processor time, which other work on a shared machine disturbs least.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence

import torch

from exam_gen import judgment_prompt, open_prompt, question_prompt
from exam_gen.corpora import gather
from rag import load_model
from rag.local import BatchWriter, LocalModel

MODELS = ("embedded:smollm2-135m", "embedded:qwen2.5-coder-1.5b")
BATCHES = (1, 8, 40)


def passages(count: int, words: int) -> list[str]:
    """Runs of words from as many documents as there are, then from further on in them."""
    texts = [document.text.split() for document in gather("python-docs").documents]
    runs = [text[at : at + words] for at in range(0, 4000, words) for text in texts if len(text) >= at + words]
    return [" ".join(run) for run in runs[:count]]


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def writing(model: LocalModel, tokens: int, alone: int) -> None:
    """Prints the table of batch sizes; `alone` prompts are written one by one."""
    prompts = [question_prompt("Python", text) for text in passages(max(BATCHES), 25)]
    rows = [model._row(prompt) for prompt in prompts]
    writer = BatchWriter(model._model, model._prefixes, ())  # no token ends a reply: each has the same length
    with torch.inference_mode():
        writer.write(writer.start(rows[:1], 1), max_tokens=1, done=lambda _: False)
        print("| batch | prompt tokens/s | written tokens/s | times one by one |\n|---|---|---|---|")
        rates: dict[int, float] = {}
        for size in BATCHES:
            read = written = 0.0
            count = alone if size == 1 else size
            for at in range(0, count, size):
                batch = rows[at : at + size]
                model._prefixes.clear()
                start = time.process_time()
                started = writer.start(batch, tokens)
                read += time.process_time() - start
                written += seconds(lambda s=started: writer.write(s, max_tokens=tokens, done=lambda _: False))  # type: ignore[misc]
            rates[size] = count * tokens / written
            ratio = rates[size] / rates[1]
            lengths = sum(len(row.ids) for row in rows[:count])
            print(f"| {size} | {lengths / read:.0f} | {rates[size]:.1f} | {ratio:.1f} |", flush=True)


def verifying(loaded: LocalModel, count: int, repeats: int) -> None:
    """Prints the seconds of all requests with and without kept prefixes, alternating."""
    texts = passages(count, 110)
    stems = [f"What does the text say about {' '.join(text.split()[20:26])}?" for text in texts]
    keys = [" ".join(text.split()[30:34]) for text in texts]
    choices = [[f" {keys[(place + step) % count]}" for step in range(4)] for place in range(count)]
    judged = [judgment_prompt("Python", *case) for case in zip(texts, stems, keys, strict=True)]
    opened = [open_prompt("Python", *case) for case in zip(texts, stems, strict=True)]

    def ask(model: LocalModel) -> None:
        model._prefixes.clear()
        for prompt in judged:
            model.log_likelihoods(prompt, (" Yes", " No"))
        for prompt, wanted in zip(opened, choices, strict=True):
            model.log_likelihoods(prompt, wanted)
        model.generate(opened, max_tokens=16)

    kept, unkept = (LocalModel(loaded._model, loaded.tokenizer, name="one", keep=keep) for keep in (None, 0))
    took: dict[str, list[float]] = {"kept": [], "not kept": []}
    for _ in range(repeats):
        took["not kept"].append(seconds(lambda: ask(unkept)))
        took["kept"].append(seconds(lambda: ask(kept)))
    median = {name: statistics.median(times) for name, times in took.items()}
    tokens = sum(len(loaded._row(prompt).ids) for prompt in (*judged, *opened, *opened))
    print(
        f"\n{count} questions, {3 * count} requests, {tokens:,} prompt tokens; prefixes kept {median['kept']:.1f} s, "
    )
    print(f"not kept {median['not kept']:.1f} s: {median['not kept'] / median['kept']:.2f} times as fast; ", end="")
    print(f"{kept._prefixes.size / 1e6:.0f} MB kept\n", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--alone", type=int, default=4, help="prompts written one by one")
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=1)
    asked = parser.parse_args(arguments)
    for name in asked.models:
        model = load_model(name, threads=1)
        assert isinstance(model, LocalModel)
        print(f"{name}, {model.settings['dtype']}\n")
        writing(model, asked.tokens, asked.alone)
        verifying(model, asked.cases, asked.repeats)


if __name__ == "__main__":
    main()
