"""What a run will take, before running it: tokens from the real prompts, time from this machine's measured speed."""

from __future__ import annotations

import math
import os
import re
import time
import timeit
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from exam_gen import (
    MAX_TOKENS,
    closed_prompt,
    open_prompt,
    paper_prompt,
    question_prompt,
    questions_prompt,
    wrong_answers_prompt,
)
from exam_gen.drafting import TOKENS, Fact, facts
from examcore import Chunk, Progress, Prompt, Question, duration
from rag import BlackBoxSpec, LlmSpec, Mode, ModelSettings, Shot, computes_w8a8, exam_prompt, weights
from rag.servers import ServerOptions, is_server
from ragexam._config import Config
from ragexam._corpus_table import CHARACTERS_PER_TOKEN, cut_corpus

FACTS_PER_SURVIVOR = 6.5
"""Facts tried for one survivor: 50 facts of the Python reference gave 8 (RESULTS.md, The quickstart)."""
DRAFTS_PER_FACT, CHECKS_PER_FACT, WRONG_PER_FACT = 3.1, 2.3, 0.8
"""Requests that write a fact's questions and wordings, that verify these, and that write wrong answers: 306 in all for
those 50 facts."""
WEIGHED = 0.4
"""Share of the choices that a check weighs on average: half of the checks read a question back and weigh none."""
STEM_TOKENS, CHOICE_TOKENS, TEMPLATE_TOKENS = 22, 4, 15
PASSAGES_SHARED = 1.7
"""How many times as fast requests about the same passage are read by a local model, which keeps it (RESULTS.md)."""
EFFICIENCY = 0.6
"""Share of the measured matrix rate that a pass reaches (RESULTS.md). By it the quickstart's sitting takes 55 s and was
measured to take 62: 52,000 tokens of a model of 135 million parameters where matrices reach 422 GFLOP/s."""
WRITTEN_AT_ONCE = 0.5
"""Share of a batch whose replies a step writes at once: later steps have fewer drafts than the batch has facts."""
INTEGER_SPEED, LARGE = 1.9, 1e9
"""How many times as fast as bfloat16 a model is in 8-bit integers (1.2 to 2.5 by pass and machine: docs/models.md), and
the parameters from which a GGUF file is computed in them."""
SPREAD = 2.0
"""How far off the time may be either way: yields and speeds are those of one quickstart (RESULTS.md), and corpora have
given a question for 5 to 11 facts."""
FOUND_ANEW = 0.42
"""Share of a further retriever's passages that none before it found, whose prompts are therefore new: six retrievers of
one passage each found 3.1 different ones for a question."""
SAMPLE = 40
"""Prompts whose lengths are measured: their mean is then known to a few percent."""
BUSY = 1.5
"""A load for each processor that is told."""
NUTS_SECONDS = 60.0
"""What sampling a fit takes: 36 to 41 s for 100 pipelines and 500 questions, and its compilation."""
SERVER_SECONDS = 1.5
"""What one request to a server takes, a guess: hosted ones differ by a factor of three either way."""
CHUNKS_PER_SURVIVOR, QUESTION_TOKENS = 2.0, 110
"""Chunks tried for one question that is written in one request, and the tokens it is written in: guesses, too."""
TEXT_TOKENS = 25
"""Tokens of an answer in free text, as the embedded models write it."""
LETTERS_TOKENS = 3
"""A letter, and what may stand around it."""


@dataclass(frozen=True)
class Machine:
    """Measured speed: multiply-adds and weight bytes per second in bfloat16, with so many threads."""

    flops: float
    bytes: float
    threads: int = 1


@dataclass(frozen=True)
class Work:
    """Tokens read and written by one model, the time they take, the requests to its server and what they cost."""

    model: str
    prompts: int
    read_tokens: int
    written_tokens: int
    seconds: float
    requests: int = 0
    cost: float = 0.0


@dataclass(frozen=True)
class RunEstimate:
    """What a run will take: the work of each model, seconds in all, bytes still to download, the price of servers.

    `low` and `high` are what `seconds` may become; they rest on `machine`, its measured speed (None where all models
    are servers), and on the `attempts` for a question that other corpora took. `load` is that of the machine now, for
    each processor; `reachable` is how many questions the corpus is likely to give.
    """

    documents: int
    chunks: int
    questions: int
    reachable: int
    attempts: float
    load: float
    machine: Machine | None
    pipelines: int
    writing: Work
    verifying: Work
    sitting: list[Work]
    seconds: int
    low: int
    high: int
    download_bytes: int

    @property
    def works(self) -> list[Work]:
        """The work of every model."""
        return [self.writing, self.verifying, *self.sitting]

    @property
    def requests(self) -> int:
        """Requests to servers, in all."""
        return sum(one.requests for one in self.works)

    @property
    def cost(self) -> float:
        """The price of all requests."""
        return round(sum(one.cost for one in self.works), 4)

    def record(self) -> dict[str, Any]:
        """The estimate as JSON types; the work of the models is grouped as `steps`."""
        content = asdict(self)
        steps = {name: content.pop(name) for name in ("writing", "verifying", "sitting")}
        totals = {name: content.pop(name) for name in ("seconds", "low", "high", "download_bytes")}
        return {**content, "steps": steps, **totals, "requests": self.requests, "cost": self.cost}

    def lines(self) -> list[str]:
        """The estimate for a reader."""
        size = f"{self.documents} documents, {self.chunks} chunks, {self.questions} questions"
        servers = f"servers: {self.requests:,} requests, cost {self.cost:.2f} at the configured price"
        return [
            f"{size}, {self.pipelines} pipelines",
            _work_line("writing", self.writing),
            _work_line("verifying", self.verifying),
            *(_work_line("sitting", one) for one in self.sitting),
            *self._time_lines(),
            *self._warnings(),
            f"still to download: {self.download_bytes / 1e6:.0f} MB; cost of local models: none",
            *([servers] if self.requests else []),
        ]

    def _time_lines(self) -> list[str]:
        basis, measured = "", ""
        if self.machine:
            basis = (
                f"matrix products at {self.machine.flops / 1e9:.0f} GFLOP/s, of which models reach {EFFICIENCY:.0%}, "
                f"weights read at {self.machine.bytes / 1e9:.1f} GB/s, {self.machine.threads} threads; "
            )
            measured = " at the speed measured now"
        return [
            f"in all {duration(self.low)} to {duration(self.high)}, about {duration(self.seconds)}{measured}",
            f"basis: {basis}prompts of this corpus; {self.attempts} attempts for a question, as on other corpora",
        ]

    def _warnings(self) -> list[str]:
        found = []
        if self.load > BUSY:
            found.append(
                f"note: it is busy now (a load of {self.load:.1f} a processor), which the upper end counts; the lower "
                "end is for an idle machine"
            )
        if self.reachable < self.questions:
            found.append(
                f"warning: the corpus is likely to give about {self.reachable} questions, {self.questions} are wanted; "
                "wanted more text or fewer questions"
            )
        return found


def estimate_run(config: Config, progress: Progress) -> RunEstimate:
    """Estimate what a run will take from its corpus, its grid and the measured speed of this machine."""
    with progress.step("corpus"):
        documents, chunks, *_ = cut_corpus(config)
    machine = None
    if not all(map(is_server, [*(one.model for one in config.authors), *(one.model for one in config.grid.grid.llms)])):
        with progress.step("speed of this machine"):
            machine = measure()
    with progress.step("what can be asked about"):
        stock = material(config, chunks)
    writing, verifying = write_work(config, chunks, machine, stock)
    modes = config.grid.grid.answers
    sitting = [
        sit_work(spec, mode, config, chunks, machine)
        for spec in config.grid.grid.llms
        for mode in modes or (spec.answers,)
    ]
    sitting += [ask_work(spec, config) for spec in config.grid.grid.black_boxes]
    fitting = NUTS_SECONDS if config.fit.method == "nuts" else 1.0
    load = round(os.getloadavg()[0] / (os.cpu_count() or 1), 2)
    seconds = sum(one.seconds for one in (writing, verifying, *sitting)) + fitting
    embedded = [name for name in (*config.author_names, *config.grid.models) if weights.is_embedded(name)]
    return RunEstimate(
        documents=len(documents),
        chunks=len(chunks),
        questions=config.exam.questions,
        reachable=max(0, stock.reachable - config.pool),
        attempts=FACTS_PER_SURVIVOR if config.exam.mode == "answer-first" else CHUNKS_PER_SURVIVOR,
        load=load,
        machine=machine,
        pipelines=len(config.grid.grid.pipelines),
        writing=writing,
        verifying=verifying,
        sitting=sitting,
        seconds=round(seconds),
        # Where others want the processors, too, each gets its share.
        low=round(seconds / SPREAD),
        high=round(seconds * max(SPREAD, load)),
        download_bytes=weights.missing_bytes(*embedded),
    )


class WritingSupply(NamedTuple):
    """What there is to write from, facts or chunks, how many are tried, and the questions that all of them may give."""

    facts: Sequence[Fact]
    tried: int
    reachable: int


def material(config: Config, chunks: Sequence[Chunk]) -> WritingSupply:
    """The facts (or chunks, for a question in one request) of a corpus, and how many of them are tried."""
    wanted, batch = config.exam.questions + config.pool, config.exam.batch
    found: Sequence[Fact] = ()
    there, each = len(chunks), CHUNKS_PER_SURVIVOR
    if config.exam.mode == "answer-first":
        asked = config.exam
        found = facts(chunks, per_chunk=asked.facts_per_chunk, seed=config.seed, asked_in=asked.language)
        there, each = len(found), FACTS_PER_SURVIVOR
    if not there:
        raise ValueError(f"{config.corpus.source}: no sentence to ask about; wanted prose")
    # A batch is written whole.
    return WritingSupply(found, min(there, math.ceil(wanted * each / batch) * batch), min(wanted, int(there / each)))


def measure(size: int = 1024) -> Machine:
    """Time a matrix product and a matrix-vector product in bfloat16, the best of several, in processor time.

    The waiting for a processor that other work has is thus left out; what it takes of caches and memory is not.
    """
    import torch

    left = torch.randn(size, size, dtype=torch.bfloat16)
    large = torch.randn(16 * size, 4 * size, dtype=torch.bfloat16)
    product = _best(lambda: left @ left)
    pass_over = _best(lambda: large @ large[0])
    return Machine(2 * size**3 / product, large.numel() * 2 / pass_over, torch.get_num_threads())


def _best(work: Callable[[], object]) -> float:
    return min(timeit.repeat(work, timer=time.thread_time, number=1))


def write_work(
    config: Config, chunks: Sequence[Chunk], machine: Machine | None, stock: WritingSupply | None = None
) -> tuple[Work, Work]:
    """What writer and verifier read and write for the wanted number of questions."""
    stock = stock or material(config, chunks)
    tried, found = stock.tried, stock.facts[:SAMPLE]
    verifier = config.verifier or config.writer
    if config.exam.mode == "paper":
        whole, own = _lengths([paper_prompt(one.title, one.text) for one in chunks[:SAMPLE]])
        load = Load(tried, round(tried * whole), tried * QUESTION_TOKENS, tried)
        return _writing(config, machine, load, tried * own, MAX_TOKENS), Work(verifier.model, 0, 0, 0, 0.0)
    if config.exam.mode == "json":
        count, read = config.exam.per_chunk, chunks[:SAMPLE]
        whole, own = _lengths([questions_prompt(one.title, one.text, count) for one in read])
        load = Load(tried, round(tried * whole), tried * count * TOKENS, tried)
        writing = _writing(config, machine, load, tried * own, count * TOKENS)
    else:
        count, read = 1, [one.chunk for one in found]
        asked, asked_own = _lengths(
            [question_prompt(one.chunk.title, one.span.sentence, one.language, one.chunk.language) for one in found]
        )
        wrong, wrong_own = _lengths(
            [wrong_answers_prompt(one.span.sentence, one.span.text, one.language) for one in found]
        )
        reading = round(tried * (DRAFTS_PER_FACT * asked + WRONG_PER_FACT * wrong))
        written, requests = (
            round(tried * DRAFTS_PER_FACT * STEM_TOKENS),
            round(tried * (DRAFTS_PER_FACT + WRONG_PER_FACT)),
        )
        load = Load(requests, reading, written, requests)
        own = tried * (DRAFTS_PER_FACT * asked_own + WRONG_PER_FACT * wrong_own)
        writing = _writing(config, machine, load, own, config.exam.max_tokens)
    stem = "x" * 90
    asking = [open_prompt(one.title, one.text, stem) for one in read]
    checks = fmean(map(_tokens, [*asking, *[closed_prompt(stem)] * len(asking)]))
    prompts, letters = round(tried * count * CHECKS_PER_FACT), config.exam.verification == "letters"
    load = _choosing(verifier, prompts, checks, round(WEIGHED * (1 + config.exam.candidates)), by_letters=letters)
    seconds = _reading(verifier, load.read / PASSAGES_SHARED, machine)
    return writing, _work(verifier, load, seconds)


def sit_work(spec: LlmSpec, mode: Mode, config: Config, chunks: Sequence[Chunk], machine: Machine | None) -> Work:
    """What one examinee reads, and writes where it does, for its share of the grid in one mode."""
    example = Question("example", "x" * 90, ("x" * 12,) * 4, 0)
    shot = Shot(example.stem, example.answer)
    sample = list(chunks[:: max(1, len(chunks) // SAMPLE)])
    grid = config.grid.grid
    searching = {one.name: one.kind != "closed-book" for one in grid.retrievers}
    several = max(1, sum(searching.values()))
    new = (1 + FOUND_ANEW * (several - 1)) / several
    prompts = tokens = 0.0
    for one in grid.pipelines:
        if one.llm != spec.name or one.answers not in (None, mode):
            continue
        passages = (one.passages or config.grid.sitting(0).k) if searching[one.retriever] else 0
        made = [exam_prompt(example, [chunk] * passages, [shot] * one.shots) for chunk in sample]
        share = new if passages else 1.0
        prompts += share
        tokens += share * fmean(map(_tokens, made))
    asked, mean = round(config.exam.questions * prompts), tokens / prompts
    load = _choosing(spec, asked, mean, 4, by_letters=mode == "letters")
    if mode == "text":
        load = Load(asked, round(asked * mean), asked * TEXT_TOKENS, asked)
    decoding = 0.0 if machine is None else load.written * parameters(spec.model) / _speed(spec) * 2 / machine.bytes
    return _work(spec, load, _reading(spec, load.read, machine) + decoding)


def ask_work(spec: BlackBoxSpec, config: Config) -> Work:
    """What a black box is asked; nobody here knows what it reads and what it costs."""
    server = spec.server or ServerOptions()
    asked = config.exam.questions
    return Work(spec.name, asked, 0, 0, round(asked * _seconds_per_request(server), 1), asked)


class Load(NamedTuple):
    """Prompts, tokens read and written, and the requests they would be to a server."""

    prompts: int
    read: int
    written: int
    requests: int


def _choosing(
    model: ModelSettings | LlmSpec, prompts: int, tokens: float, choices: int, *, by_letters: bool = False
) -> Load:
    """Prompts of so many tokens, each followed by choices; a server reads the prompt again with each of them."""
    if by_letters:
        return Load(prompts, round(prompts * (tokens + choices * CHOICE_TOKENS)), prompts * LETTERS_TOKENS, prompts)
    if is_server(model.model):
        requests = prompts * (1 + choices)
        return Load(prompts, round(requests * tokens + prompts * choices * CHOICE_TOKENS), requests, requests)
    return Load(prompts, round(prompts * (tokens + choices * CHOICE_TOKENS)), 0, 0)


def _writing(config: Config, machine: Machine | None, load: Load, own: float, longest: int) -> Work:
    """The work of the writer, which reads the tokens that prompts have in common once and `own` for each alone."""
    if machine is None:
        return _work(config.writer, load, 0.0)
    size = parameters(config.writer.model) / _speed(config.writer)
    steps = load.prompts / (WRITTEN_AT_ONCE * config.exam.batch) * longest
    decoding = max(steps * size * 2 / machine.bytes, 2 * size * load.written / (machine.flops * EFFICIENCY))
    return _work(config.writer, load, _reading(config.writer, own, machine) + decoding)


def _work(model: ModelSettings | LlmSpec, load: Load, seconds: float) -> Work:
    """The work of a model that takes so many seconds here, or is asked over the network."""
    if not is_server(model.model):
        return Work(model.model, load.prompts, load.read, load.written, round(seconds, 1))
    server = model.server or ServerOptions()
    seconds = load.requests * _seconds_per_request(server)
    cost = server.price_per_million.of(load.read, load.written)
    return Work(model.model, load.prompts, load.read, load.written, round(seconds, 1), load.requests, round(cost, 4))


def _seconds_per_request(server: ServerOptions) -> float:
    return max(SERVER_SECONDS / server.concurrency, 60 / (server.requests_per_minute or math.inf))


def parameters(model: str) -> float:
    """The size a model's name tells (`135m`, `1.5b`), else half the bytes of its file, else one billion."""
    told = re.findall(r"(?<![\w.])(\d+(?:\.\d+)?)([bm])(?![a-z0-9])", model.lower().replace("-", " "))
    if told:
        number, unit = told[-1]
        return float(number) * (1e9 if unit == "b" else 1e6)
    path = Path(model)
    return path.stat().st_size / 2 if path.is_file() else 1e9


def _work_line(step: str, work: Work) -> str:
    tokens = f"{work.read_tokens:,} tokens read, {work.written_tokens:,} written"
    requests = f", {work.requests:,} requests, cost {work.cost:.2f}" if work.requests else ""
    return f"{step} with {work.model}: {work.prompts} prompts, {tokens}{requests}, about {duration(work.seconds)}"


def _tokens(prompt: Prompt) -> float:
    return TEMPLATE_TOKENS + len(prompt.system + prompt.user + prompt.reply) / CHARACTERS_PER_TOKEN


def _lengths(prompts: Sequence[Prompt]) -> tuple[float, float]:
    """Tokens of a prompt on average, and of them those behind what all prompts begin with."""
    whole = fmean(map(_tokens, prompts))
    texts = [one.system + one.user for one in prompts]
    common = os.path.commonprefix(texts) if len(texts) > 1 else ""  # noqa: RUF071 - letter by letter, as wanted
    return whole, whole - len(common) / CHARACTERS_PER_TOKEN


def _reading(model: ModelSettings | LlmSpec, tokens: float, machine: Machine | None) -> float:
    if machine is None:
        return 0.0
    return 2 * parameters(model.model) * tokens / (machine.flops * EFFICIENCY * _speed(model))


def _speed(model: ModelSettings | LlmSpec) -> float:
    """How many times as fast a model is as in bfloat16: those that `dtype: auto` computes in integers."""
    packed = model.model.startswith("embedded:") or model.model.endswith(".gguf")
    large = packed and parameters(model.model) >= LARGE
    integers = model.dtype == "w8a8" or (model.dtype == "auto" and large)
    return INTEGER_SPEED if integers and not is_server(model.model) and computes_w8a8() else 1.0
