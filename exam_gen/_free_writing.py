"""One request for stem, choices and key: in free text, the source paper's way, or as JSON; parsed afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from exam_gen._prompts import JSON_VERSION, PAPER_VERSION, QUESTION_SCHEMA, json_prompt, paper_prompt
from exam_gen.drafting._json_replies import parse_json
from exam_gen.drafting._parser import ParsedQuestion, UnparsableReply, parse
from exam_gen.rules._catalogue import arriving
from exam_gen.rules._filters import Filter
from examcore import CachedLanguageModel, Chunk, Dropped, NoReply, Prompt, Question, Schema

MAX_TOKENS = 220


@dataclass(frozen=True)
class QuestionFormat:
    """How a question is asked for and read: version, prompt of title and passage, parser, schema of the reply."""

    version: str
    prompt: Callable[[str, str], Prompt]
    parse: Callable[[str], ParsedQuestion | UnparsableReply]
    schema: Schema | None = None


QUESTION_FORMATS = {
    "paper": QuestionFormat(PAPER_VERSION, paper_prompt, parse),
    "json": QuestionFormat(JSON_VERSION, json_prompt, parse_json, QUESTION_SCHEMA),
}


def write_free(
    chunks: Sequence[Chunk],
    model: CachedLanguageModel,
    wanted: int,
    batch: int,
    seed: int,
    report: Callable[[int, int], None],
    mode: str = "paper",
    filters: Mapping[str, object] | None = None,
) -> tuple[list[Question], list[Dropped]]:
    """One question per chunk, in the given order, until `wanted` survive parsing and the standard filters.

    Nothing verifies the key here, and choices keep the order the model gave them.
    """
    kept: list[Question] = []
    dropped: list[Dropped] = []
    rules, form = arriving(filters), QUESTION_FORMATS[mode]
    for start in range(0, len(chunks), batch):
        group = chunks[start : start + batch]
        prompts = [form.prompt(chunk.title, chunk.text) for chunk in group]
        texts = model.replies(prompts, max_tokens=MAX_TOKENS, seed=seed, schema=form.schema)
        for chunk, raw in zip(group, texts, strict=True):
            read = _read(chunk, raw, form, model.name, seed, rules)
            if isinstance(read, Dropped):
                dropped.append(read)
            elif len(kept) < wanted:
                kept.append(read)
            else:
                dropped.append(Dropped("beyond the wanted number", str(raw), chunk.id, read))
        report(len(kept), wanted)
        if len(kept) >= wanted:
            break
    return kept, dropped


def _read(
    chunk: Chunk, raw: str | NoReply, form: QuestionFormat, model: str, seed: int, filters: Sequence[Filter]
) -> Question | Dropped:
    if isinstance(raw, NoReply):
        return Dropped(f"no reply: {raw.reason}", "", chunk.id)
    parsed = form.parse(raw)
    if isinstance(parsed, UnparsableReply):
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
        metadata={"model": model, "prompt": form.version, "seed": seed, "title": chunk.title},
    )
    reason = next((reason for rule in filters if (reason := rule(question))), None)
    return Dropped(reason, raw, chunk.id, question) if reason else question
