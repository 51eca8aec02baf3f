"""Scoring the continuations of many prompts together: shared beginnings are read once, passes hold several prompts."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import torch

from examcore import FailedError
from rag.local._passes import PromptPiece, ScoredToken, log_probabilities, run_pass
from rag.local._prefix_cache import Block, BlockKey, BlockStore, key_after, split_into_blocks

PASS_TOKENS = {"cpu": 512}
"""Tokens of a pass by kind of device: enough to keep it busy. Other devices take `DEFAULT_PASS_TOKENS`."""
DEFAULT_PASS_TOKENS = 4096
"""Enough to keep a GPU busy."""
MIN_PASS_TOKENS = 32
"""Passes are not made smaller than this when memory runs out."""

MAX_SHARED_BLOCK = 32
"""Most tokens of a block. Passes are full however short blocks are, and more prompts share shorter blocks."""

WINDOW = 64
"""Prompts that are encoded and sorted at a time."""
LOOKAHEAD = 8
"""Prompts after the first one that does not fit that are tried to fill a pass."""

ROOT = -1
"""The root of the blocks read here: their values differ in the last bits from those of a prompt read alone."""


class EncodedContinuations(NamedTuple):
    """Continuations encoded together with their prompt: the shared tokens, the place in them where the last paragraph
    begins, and each continuation's own tokens."""

    prompt: tuple[int, ...]
    cut: int
    own: tuple[tuple[int, ...], ...]


@dataclass(eq=False)
class _PromptProgress:
    """A prompt in progress: the blocks read so far, what remains to be read, and the log-probabilities so far.

    `own` holds the distinct continuations, so that equal ones get equal numbers.
    """

    place: int
    joint: EncodedContinuations
    own: tuple[tuple[int, ...], ...]
    parts: list[tuple[int, ...]]
    ends: list[list[int]]
    path: list[Block] = field(default_factory=list)
    tokens: list[float] = field(default_factory=list)

    @property
    def finished(self) -> bool:
        return not self.parts and not self.ends


@dataclass(eq=False)
class _PackedPass:
    """The pieces of a pass, the blocks it reads, and each token whose log-probability it gives, with its prompt."""

    size: int
    pieces: list[PromptPiece] = field(default_factory=list)
    new: dict[BlockKey, Block] = field(default_factory=dict)
    jobs: list[_PromptProgress] = field(default_factory=list)
    targets: list[tuple[_PromptProgress, ScoredToken]] = field(default_factory=list)
    used: int = 0

    def fits(self, count: int) -> bool:
        return self.used + count <= self.size

    def add(self, piece: PromptPiece) -> None:
        self.pieces.append(piece)
        self.used += len(piece.ids)


class BatchScorer:
    """Scores prompts with one model in passes of `size` tokens, keeping their beginnings in `blocks`."""

    def __init__(
        self, model: Any, blocks: BlockStore, *, block: int = MAX_SHARED_BLOCK, size: int | None = None
    ) -> None:
        self._model, self._blocks, self.block = model, blocks, block
        self.size = size or PASS_TOKENS.get(model.device.type, DEFAULT_PASS_TOKENS)

    def score(self, asked: Iterable[tuple[int, EncodedContinuations]]) -> Iterator[tuple[int, list[float]]]:
        """The log-likelihoods of each prompt's continuations, by the place given with the prompt, in any order.

        When memory runs out, passes are halved and the work goes on; no prompt is lost.
        """
        coming, queue = iter(asked), deque[_PromptProgress]()
        while True:
            if len(queue) <= LOOKAHEAD:
                # Sorted by their tokens, so that prompts that begin alike are neighbours.
                jobs = [self._job(*one) for one in islice(coming, WINDOW)]
                queue.extend(sorted(jobs, key=lambda job: job.joint.prompt))
            if not queue:
                return
            try:
                self._run(self._packed(queue))
            except Exception as error:
                if not out_of_memory(error):
                    raise
                self._halve(error, max((len(own) for job in queue for own in job.joint.own), default=1))
                # What the failed pass took from its prompts is read again.
                queue = deque(self._job(job.place, job.joint) for job in queue)
                continue
            for job in [job for job in queue if job.finished]:
                queue.remove(job)
                yield job.place, _sums(job)

    def fits(self, joint: EncodedContinuations) -> bool:
        """Whether every continuation has room in a pass."""
        return all(len(own) <= self.size for own in joint.own)

    def _job(self, place: int, joint: EncodedContinuations) -> _PromptProgress:
        cut = min(joint.cut, len(joint.prompt) - 1)
        parts = split_into_blocks(joint.prompt[:-1], cut, min(self.block, self.size))
        own = tuple(dict.fromkeys(joint.own))
        return _PromptProgress(place, joint, own, parts, _groups(own, self.size))

    def _packed(self, queue: Iterable[_PromptProgress]) -> _PackedPass:
        """As many pieces as fit, in order; when one does not fit, later ones may go first."""
        packed, waiting = _PackedPass(self.size), 0
        for job in queue:
            if not self._pack(job, packed):
                waiting += 1
            if waiting > LOOKAHEAD:
                break
        return packed

    def _pack(self, job: _PromptProgress, packed: _PackedPass) -> bool:
        """Move as much of a prompt into a pass as fits; returns whether all of it did."""
        packed.jobs.append(job)
        while job.parts:
            part = job.parts[0]
            place = key_after(job.path, part, ROOT)
            block = packed.new.get(place) or self._blocks.get(place)
            if block is None:
                if not packed.fits(len(part)):
                    return False
                block = packed.new[place] = Block(place, self._blocks.number(place), [], [])
                packed.add(PromptPiece(part, tuple(job.path), (0,) * len(part), block))
            job.path.append(block)
            del job.parts[0]
        while job.ends:
            ids, branches, targets = _end(job, job.ends[0], packed.used)
            if not packed.fits(len(ids)):
                return False
            packed.targets += [(job, target) for target in targets]
            del job.ends[0]
            packed.add(PromptPiece(ids, tuple(job.path), branches))
        return True

    def _run(self, packed: _PackedPass) -> None:
        """Run a pass and record its results."""
        if packed.pieces:
            with torch.inference_mode():
                hidden = run_pass(self._model, packed.pieces, packed.size)
                found = log_probabilities(self._model, hidden, [target for _, target in packed.targets])
            for (job, _), value in zip(packed.targets, found, strict=True):
                job.tokens.append(value)
        for job in packed.jobs:
            self._blocks.remember(job.path)

    def _halve(self, error: BaseException, longest: int) -> None:
        """Make passes smaller, but not too small for the longest continuation, and free the kept blocks."""
        if self.size // 2 < max(MIN_PASS_TOKENS, longest):
            wanted = "wanted more memory, a smaller model or a shorter dtype"
            raise FailedError(f"out of memory while {self.size} tokens were read at once; {wanted}") from error
        before, self.size = self.size, self.size // 2
        self._blocks.clear()
        if self._model.device.type == "cuda":
            torch.cuda.empty_cache()
        warnings.warn(
            f"out of memory with {before} tokens at once: going on with {self.size}; numbers move by up to 1e-3",
            RuntimeWarning,
            stacklevel=2,
        )


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out, in the wording of any of torch's allocators."""
    words = ("out of memory", "can't allocate memory", "not enough memory")
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or (
        isinstance(error, RuntimeError) and any(one in str(error).lower() for one in words)
    )


def _groups(own: Sequence[Sequence[int]], size: int) -> list[list[int]]:
    """The continuations in groups that fit in one pass, after the prompt's last token."""
    groups: list[list[int]] = []
    room = 0
    for number, ids in enumerate(own):
        if not groups or len(ids) - 1 > room:
            groups.append([])
            room = size - 1
        groups[-1].append(number)
        room -= len(ids) - 1
    return groups


def _end(
    job: _PromptProgress, group: Sequence[int], start: int
) -> tuple[tuple[int, ...], tuple[int, ...], list[ScoredToken]]:
    """The prompt's last token, at `start` of the pass, and after it a group's continuations without their last tokens.

    Returns these tokens, their branches, and every token of the continuations with the position that predicts it.
    """
    ids, branches, targets = [job.joint.prompt[-1]], [0], list[ScoredToken]()
    for branch, number in enumerate(group, start=1):
        first, *others = job.own[number]
        targets.append(ScoredToken(start, first))
        targets += [ScoredToken(start + len(ids) + at, token) for at, token in enumerate(others)]
        ids += job.own[number][:-1]
        branches += [branch] * len(others)
    return tuple(ids), tuple(branches), targets


def _sums(job: _PromptProgress) -> list[float]:
    values = iter(job.tokens)
    sums = {own: sum(islice(values, len(own))) for own in job.own}
    return [sums[own] for own in job.joint.own]
