"""The source paper's way of writing: one free-text request for stem, choices and key, parsed afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from exam_gen.filters import Filter, standard_filters
from exam_gen.parser import Unparsable, parse
from exam_gen.prompts import PAPER_VERSION, paper_prompt
from exam_gen.records import Chunk, Dropped, Question
from exam_gen.replies import CachedModel

MAX_TOKENS = 220


def write_free(
    chunks: Sequence[Chunk],
    model: CachedModel,
    wanted: int,
    batch: int,
    seed: int,
    report: Callable[[int, int], None],
    filters: Mapping[str, object] | None = None,
) -> tuple[list[Question], list[Dropped]]:
    """One question per chunk, in the given order, until `wanted` survive parsing and the standard filters.

    Nothing verifies the key here, and choices keep the order the model gave them.
    """
    kept: list[Question] = []
    dropped: list[Dropped] = []
    rules = standard_filters(filters)
    for start in range(0, len(chunks), batch):
        group = chunks[start : start + batch]
        prompts = [paper_prompt(chunk.title, chunk.text) for chunk in group]
        texts = model.generate(prompts, max_tokens=MAX_TOKENS, seed=seed)
        for chunk, raw in zip(group, texts, strict=True):
            read = _read(chunk, raw, model.name, seed, rules)
            if isinstance(read, Dropped):
                dropped.append(read)
            elif len(kept) < wanted:
                kept.append(read)
            else:
                dropped.append(Dropped("beyond the wanted number", raw, chunk.id, read))
        report(len(kept), wanted)
        if len(kept) >= wanted:
            break
    return kept, dropped


def _read(chunk: Chunk, raw: str, model: str, seed: int, filters: Sequence[Filter]) -> Question | Dropped:
    parsed = parse(raw)
    if isinstance(parsed, Unparsable):
        return Dropped(f"unparsable: {parsed.kind}", raw, chunk.id)
    digest = hashlib.sha256(f"{chunk.id}\n{parsed.stem}".encode()).hexdigest()[:10]
    question = Question(
        id=f"{chunk.id}-{digest}",
        stem=parsed.stem,
        choices=parsed.choices,
        key=parsed.key,
        document_id=chunk.document_id,
        chunk_id=chunk.id,
        topic=chunk.topic,
        context=chunk.text,
        metadata={"model": model, "prompt": PAPER_VERSION, "seed": seed, "title": chunk.title},
    )
    reason = next((reason for rule in filters if (reason := rule(question))), None)
    return Dropped(reason, raw, chunk.id, question) if reason else question
