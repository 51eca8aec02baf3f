"""One request for stem, choices and key: in free text, the source paper's way, or as JSON, repaired and parsed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from exam_gen._prompts import JSON_VERSION, PAPER_VERSION, QUESTION_SCHEMA, json_prompt, paper_prompt
from exam_gen.drafting._parser import ParsedQuestion, UnparsableReply, parse
from exam_gen.rules._catalogue import arriving
from exam_gen.rules._rule import Filter
from examcore import (
    CachedLanguageModel,
    Chunk,
    Dropped,
    NoReply,
    Prompt,
    Question,
    Schema,
    normalized,
    repaired_json_object,
    unwrapped,
)

MAX_TOKENS = 220
"""Room for a question and four choices of some length."""


_STEM = ("question", "stem", "question_text")
_CHOICES = ("choices", "options", "candidates", "answers")
_ANSWER = ("answer", "correct_answer", "correct", "key", "correct_choice", "answer_index")
_WRONG = ("distractors", "wrong_answers", "wrong", "incorrect_answers")


def parse_json(raw: str, *, choices: int = 4) -> ParsedQuestion | UnparsableReply:
    """A question out of a JSON reply, or why not. Never raises.

    Fields: `question`; `choices` (a list, or an object by label) with `answer` (index, label or text), or `answer`
    (text) with `distractors`. The right answer comes first when it was given apart from the wrong ones.
    """
    fields = repaired_json_object(raw)
    if fields is None:
        return UnparsableReply("malformed JSON" if raw.strip() else "empty reply")
    stem = _text(_first(fields, _STEM))
    if not stem:
        return UnparsableReply("no question")
    options, labels = _options(fields)
    answer = _first(fields, _ANSWER)
    if not options:
        options, labels, answer = [_text(answer), *_texts(_first(fields, _WRONG))], [], 0
    if len(options) < choices:
        return UnparsableReply("too few choices" if len(options) > 1 else "no choices")
    options, key = _cut(options, _key(answer, options, labels), choices)
    if not all(normalized(option) for option in options):
        return UnparsableReply("empty choice")
    if len({normalized(option) for option in options}) < choices:
        return UnparsableReply("duplicate choices")
    if key is None:
        return UnparsableReply("no answer" if answer in (None, "") else "answer names no choice")
    return ParsedQuestion(stem, tuple(options), key)


def _first(fields: Mapping[str, object], names: Sequence[str]) -> object:
    lowered = {str(name).casefold().replace(" ", "_"): value for name, value in fields.items()}
    return next((lowered[name] for name in names if lowered.get(name) is not None), None)


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return unwrapped(str(value))


def _texts(value: object) -> list[str]:
    return [_text(one) for one in value] if isinstance(value, list) else []


def _options(fields: Mapping[str, object]) -> tuple[list[str], list[str]]:
    value = _first(fields, _CHOICES)
    if isinstance(value, dict):
        return [_text(one) for one in value.values()], [str(label).strip(" ).:").casefold() for label in value]
    options = _texts(value)
    labelled = [re.match(r"[(\[]?([A-Za-z])[).:\]]\s+", option) for option in options]
    letters = [match.group(1).casefold() if match else "" for match in labelled]
    names = [chr(ord("a") + number) for number in range(len(options))]
    if letters == names:
        options = [option[match.end() :] for option, match in zip(options, labelled, strict=True) if match]
    return options, names


def _key(answer: object, options: Sequence[str], labels: Sequence[str]) -> int | None:
    if isinstance(answer, bool):
        return None
    texts = [normalized(option) for option in options]
    said = normalized(_text(answer))
    if not isinstance(answer, int) and said in texts:
        return texts.index(said)
    if isinstance(answer, int):
        return answer if 0 <= answer < len(options) else None
    label = re.match(r"[(\[]?([A-Za-z0-9]+)[).:\]]?(?:\s|$)", said)
    bare = label is not None and (label.end() == len(said) or said[label.end(1) : label.end(1) + 1] in ").:]")
    return labels.index(label.group(1)) if label and bare and label.group(1) in labels else None


def _cut(options: list[str], key: int | None, size: int) -> tuple[list[str], int | None]:
    """The first `size` options, the right one always among them."""
    if key is None or key < size:
        return options[:size], key
    return [*options[: size - 1], options[key]], size - 1


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
    metadata = {"model": model, "prompt": form.version, "seed": seed, "title": chunk.title}
    question = question_about(chunk, parsed.stem, parsed.choices, parsed.key, metadata)
    reason = next((reason for rule in filters if (reason := rule(question))), None)
    return Dropped(reason, raw, chunk.id, question) if reason else question


def question_about(
    chunk: Chunk, stem: str, choices: tuple[str, ...], key: int, metadata: Mapping[str, object]
) -> Question:
    """A question written from a chunk, its id made of the chunk's and the stem."""
    digest = hashlib.sha256(f"{chunk.id}\n{stem}".encode()).hexdigest()[:10]
    where = (chunk.document_id, chunk.id, chunk.topic, chunk.text)
    return Question(f"{chunk.id}-{digest}", stem, choices, key, *where, metadata=metadata)
