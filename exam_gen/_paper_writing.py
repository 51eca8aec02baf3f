"""One request for stem, choices and key in free text: the source paper's way, as a baseline."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from exam_gen._prompts import PAPER_VERSION, paper_prompt, version_in
from exam_gen.drafting._parser import UnparsableReply, parse
from exam_gen.language._reply_language import foreign
from exam_gen.rules._catalogue import arriving
from exam_gen.rules._rule import BEYOND, Check
from examcore import ENGLISH, CachedLanguageModel, Chunk, Dropped, NoReply, Question

MAX_TOKENS = 220
"""Room for a question and four choices of some length."""


def write_in_free_text(
    chunks: Sequence[Chunk],
    model: CachedLanguageModel,
    wanted: int,
    batch: int,
    seed: int,
    report: Callable[[int, int], None],
    filters: Mapping[str, object] | None = None,
    language: str | None = None,
) -> tuple[list[Question], list[Dropped]]:
    """One question per chunk, in the given order, until `wanted` survive parsing and the standard filters.

    Nothing verifies the key here, and choices keep the order the model gave them.
    """
    kept: list[Question] = []
    dropped: list[Dropped] = []
    rules = arriving(filters)
    for start in range(0, len(chunks), batch):
        group = chunks[start : start + batch]
        prompts = [paper_prompt(chunk.title, chunk.text, language or chunk.language) for chunk in group]
        texts = model.replies(prompts, max_tokens=MAX_TOKENS, seed=seed)
        for chunk, raw in zip(group, texts, strict=True):
            read = _read(chunk, raw, model.name, seed, rules, language or chunk.language)
            if isinstance(read, Dropped):
                dropped.append(read)
            elif len(kept) < wanted:
                kept.append(read)
            else:
                dropped.append(Dropped(BEYOND, str(raw), chunk.id, read))
        report(len(kept), wanted)
        if len(kept) >= wanted:
            break
    return kept, dropped


def _read(
    chunk: Chunk, raw: str | NoReply, model: str, seed: int, filters: Sequence[Check], code: str
) -> Question | Dropped:
    if isinstance(raw, NoReply):
        return Dropped(f"no reply: {raw.reason}", "", chunk.id)
    parsed = parse(raw)
    if isinstance(parsed, UnparsableReply):
        return Dropped(f"unparsable: {parsed.kind}", raw, chunk.id)
    if code != ENGLISH and (wrong := foreign(" ".join([parsed.stem, *parsed.choices]), code)):
        return Dropped(f"unparsable: question is in {wrong}", raw, chunk.id)
    metadata = {"model": model, "prompt": version_in(PAPER_VERSION, code), "seed": seed, "title": chunk.title}
    question = question_about(chunk, parsed.stem, parsed.choices, parsed.key, metadata, code)
    reason = next((reason for rule in filters if (reason := rule(question))), None)
    return Dropped(reason, raw, chunk.id, question) if reason else question


def question_about(
    chunk: Chunk,
    stem: str,
    choices: tuple[str, ...],
    key: int,
    metadata: Mapping[str, object],
    language: str | None = None,
) -> Question:
    """A question written from a chunk, in its language or another; its id is made of the chunk's and the stem.

    Its metadata name a language other than English.
    """
    if (code := language or chunk.language) != ENGLISH:
        metadata = {**metadata, "language": code}
    digest = hashlib.sha256(f"{chunk.id}\n{stem}".encode()).hexdigest()[:10]
    where = (chunk.document_id, chunk.id, chunk.topic, chunk.text)
    return Question(f"{chunk.id}-{digest}", stem, choices, key, *where, metadata=metadata)
