"""What a run will take, before running it: tokens from the real prompts, time from this machine's measured speed."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from exam_gen.facts import Fact, facts
from exam_gen.model import Prompt
from exam_gen.prompts import closed_prompt, open_prompt, stem_prompt
from exam_gen.records import Chunk, Question
from rag import weights
from rag.prompts import Shot, exam_prompt
from ragexam.config import Config
from ragexam.contents import CHARACTERS_PER_TOKEN, cut_corpus
from ragexam.progress import Progress
from ragexam.progress import in_words as duration

FACTS_PER_SURVIVOR = 2.5
"""Facts tried for one surviving question, and requests that verify one fact: as measured (`benchmarks/RESULTS.md`)."""
CHECKS_PER_FACT = 2.0
STEM_TOKENS, CHOICE_TOKENS, TEMPLATE_TOKENS = 18, 4, 15
EFFICIENCY = 0.4
"""Share of the measured matrix rate that a forward pass reaches on short prompts."""
SAMPLE = 40
NUTS_SECONDS = 60.0


@dataclass(frozen=True)
class Machine:
    """Measured speed: multiply-adds and weight bytes per second in bfloat16."""

    flops: float
    bytes: float


@dataclass(frozen=True)
class Work:
    """Tokens read and written by one model, and the time they take."""

    model: str
    prompts: int
    read_tokens: int
    written_tokens: int
    seconds: float


def foresee(config: Config, progress: Progress) -> dict[str, Any]:
    """`steps` with tokens and seconds, `seconds` in all, `download_bytes` still to come, `cost` of paid models."""
    with progress.step("corpus"):
        documents, chunks, _ = cut_corpus(config)
    with progress.step("speed of this machine"):
        machine = measure()
    writing, verifying = write_work(config, chunks, machine)
    sitting = [sit_work(spec.model, config, chunks, machine) for spec in config.grid.grid.llms]
    fitting = NUTS_SECONDS if config.fit.method == "nuts" else 1.0
    embedded = [name for name in (*config.writer.models, *config.grid.models) if weights.is_embedded(name)]
    return {
        "documents": len(documents),
        "chunks": len(chunks),
        "questions": config.exam.questions,
        "pipelines": len(config.grid.grid.pipelines),
        "steps": {
            "writing": asdict(writing),
            "verifying": asdict(verifying),
            "sitting": [asdict(one) for one in sitting],
        },
        "seconds": round(writing.seconds + verifying.seconds + sum(one.seconds for one in sitting) + fitting),
        "download_bytes": weights.missing_bytes(*embedded),
        "cost": 0.0,
    }


def measure(size: int = 1024) -> Machine:
    """Time a matrix product and a matrix-vector product in bfloat16, the best of several."""
    import torch

    left = torch.randn(size, size, dtype=torch.bfloat16)
    large = torch.randn(16 * size, 4 * size, dtype=torch.bfloat16)
    product = _best(lambda: left @ left)
    pass_over = _best(lambda: large @ large[0])
    return Machine(2 * size**3 / product, large.numel() * 2 / pass_over)


def write_work(config: Config, chunks: Sequence[Chunk], machine: Machine) -> tuple[Work, Work]:
    """What the writer reads and writes for the wanted number of questions."""
    wanted = config.exam.questions + config.pool
    found = list(islice(facts(chunks, per_chunk=config.exam.per_chunk, seed=config.seed), SAMPLE))
    if not found:
        raise ValueError(f"{config.corpus.source}: no sentence to ask about; wanted prose")
    tried = round(wanted * FACTS_PER_SURVIVOR)
    stems = [_tokens(stem_prompt(one.chunk.title, one.gapped, one.span.kind)) for one in found]
    checks = [_tokens(prompt) for one in found for prompt in _verification(one)]
    size = parameters(config.writer.model)
    reading, writing = round(tried * _mean(stems)), tried * STEM_TOKENS
    steps = tried / config.exam.batch * config.exam.max_tokens
    decoding = max(steps * size * 2 / machine.bytes, 2 * size * writing / (machine.flops * EFFICIENCY))
    verified = round(tried * CHECKS_PER_FACT)
    choices = (1 + config.exam.candidates) * CHOICE_TOKENS
    checking = round(verified * (_mean(checks) + choices))
    return (
        Work(config.writer.model, tried, reading, writing, round(_reading(size, reading, machine) + decoding, 1)),
        Work(config.writer.model, verified, checking, 0, round(_reading(size, checking, machine), 1)),
    )


def sit_work(model: str, config: Config, chunks: Sequence[Chunk], machine: Machine) -> Work:
    """What one examinee reads for its share of the grid."""
    example = Question("example", "x" * 90, ("x" * 12,) * 4, 0)
    shot = Shot(example.stem, example.answer)
    sample = list(chunks[:: max(1, len(chunks) // SAMPLE)])
    tokens = 0.0
    for shots in config.grid.shots:
        for retriever in config.grid.grid.retrievers:
            passages = 0 if retriever.kind == "closed-book" else config.grid.passages
            prompts = [exam_prompt(example, [one] * passages, [shot] * shots) for one in sample]
            tokens += _mean([_tokens(prompt) for prompt in prompts]) + 4 * CHOICE_TOKENS
    prompts_asked = config.exam.questions * len(config.grid.shots) * len(config.grid.grid.retrievers)
    total = round(tokens * config.exam.questions)
    return Work(model, prompts_asked, total, 0, round(_reading(parameters(model), total, machine), 1))


def parameters(model: str) -> float:
    """The size a model's name tells (`135m`, `1.5b`), else half the bytes of its file, else one billion."""
    told = re.findall(r"(?<![\w.])(\d+(?:\.\d+)?)([bm])(?![a-z0-9])", model.lower().replace("-", " "))
    if told:
        number, unit = told[-1]
        return float(number) * (1e9 if unit == "b" else 1e6)
    path = Path(model)
    return path.stat().st_size / 2 if path.is_file() else 1e9


def in_words(foreseen: Mapping[str, Any]) -> str:
    """The estimate as lines for a reader."""
    steps = foreseen["steps"]
    works = [
        ("writing", steps["writing"]),
        ("verifying", steps["verifying"]),
        *(("sitting", one) for one in steps["sitting"]),
    ]
    lines = [
        f"{foreseen['documents']} documents, {foreseen['chunks']} chunks, {foreseen['questions']} questions, "
        f"{foreseen['pipelines']} pipelines"
    ]
    for name, work in works:
        tokens = f"{work['read_tokens']:,} tokens read, {work['written_tokens']:,} written"
        lines.append(f"{name} with {work['model']}: {work['prompts']} prompts, {tokens}, {duration(work['seconds'])}")
    lines.append(f"in all about {duration(foreseen['seconds'])} on this machine, expect half to twice that")
    lines.append(f"still to download: {foreseen['download_bytes'] / 1e6:.0f} MB; cost of local models: none")
    return "\n".join(lines)


def _verification(fact: Fact) -> list[Prompt]:
    stem = "x" * 90
    return [open_prompt(fact.chunk.title, fact.chunk.text, stem), closed_prompt(stem)]


def _tokens(prompt: Prompt) -> float:
    return TEMPLATE_TOKENS + len(prompt.system + prompt.user + prompt.reply) / CHARACTERS_PER_TOKEN


def _reading(size: float, tokens: float, machine: Machine) -> float:
    return 2 * size * tokens / (machine.flops * EFFICIENCY)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _best(work: Any, times: int = 5) -> float:
    spent = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        spent.append(time.perf_counter() - began)
    return min(spent)
