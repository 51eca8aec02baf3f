"""Several questions about one passage in one JSON reply, each with its evidence, queries, wrong answers and critique.

For writers that hold the whole task in mind: a request a passage, where a small model needs one for each part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from exam_gen._prompts import JSON_VERSION
from exam_gen.drafting._drafts import Draft
from exam_gen.drafting._facts import Fact
from exam_gen.drafting._model_distractors import AskedKey, usable_wrong_answers
from exam_gen.language._spans import key_span, sentences
from exam_gen.language._stems import bare_answer, find_answer, read_stem
from examcore import Chunk, Dropped, normalized, repaired_json_object, unwrapped

OBJECTION = "the writer's own critique"
TOKENS = 320
"""Room for one question with its evidence, queries, wrong answers and critique."""
CHOICES = 4
"""The right answer and three wrong ones."""

_STEM = ("question", "stem", "question_text")
_ANSWER = ("answer", "correct_answer", "correct", "key")
_WRONG = ("wrong_answers", "distractors", "wrong", "incorrect_answers")
_EVIDENCE = ("evidence", "sentence", "quote", "source")
_NO_FAULT = re.compile(
    r"^\W*(?:no (?:fault|objection|problem|issue|concern)s?\b.*|(?:none|nothing)\b.*|no|null|n/?a)?\W*$", re.IGNORECASE
)

Fields = Mapping[str, object]


def read_drafts(raw: str, chunk: Chunk, asked_in: str | None = None) -> tuple[list[Draft], list[Dropped]]:
    """The drafts in a reply about a chunk, and what could not be read as one, with the reason. Never raises.

    The reply is an object with a list of `questions`, or one question. Evidence and answer must stand in the passage;
    an answer need not if it is `asked_in` another language.
    """
    fields = repaired_json_object(raw)
    if fields is None:
        return [], [Dropped(f"unparsable: {'malformed JSON' if raw.strip() else 'empty reply'}", raw, chunk.id)]
    listed = fields.get("questions", [fields])
    drafts: list[Draft] = []
    dropped: list[Dropped] = []
    for item in listed if isinstance(listed, list) else [listed]:
        found = _draft(item, chunk, asked_in) if isinstance(item, dict) else "unparsable: no question"
        if isinstance(found, Draft):
            drafts.append(found)
        else:
            dropped.append(Dropped(found, raw, chunk.id))
    return drafts, dropped


def _draft(fields: Fields, chunk: Chunk, asked_in: str | None) -> Draft | str:
    code, source = asked_in or chunk.language, chunk.language
    stem, answer = _text(_first(fields, _STEM)), _text(_first(fields, _ANSWER))
    wrong = _texts(_first(fields, _WRONG))
    if fault := _fault(stem, [answer, *wrong]):
        return f"unparsable: {fault}"
    objection = _text(_first(fields, ("critique", "fault", "objection")))
    if not _NO_FAULT.match(objection):
        return f"{OBJECTION}: {objection}"
    sentence = evidence(_text(_first(fields, _EVIDENCE)) or answer, chunk)
    if not sentence:
        return "evidence is not in the passage"
    key = find_answer(answer, sentence, code) or (bare_answer(answer) if code != source else "")
    asked = read_stem(stem, key, title=chunk.title, sentence=sentence, code=code, source=source)
    if asked.reason is not None:
        return asked.reason
    fact = Fact(chunk, key_span(sentence, asked.key, source), 0.0, asked_in)
    usable = usable_wrong_answers(wrong, AskedKey(asked.stem, fact.span.text, sentence, code))
    queries = dict.fromkeys(_texts(_first(fields, ("queries", "searches"))))
    return Draft(fact, asked.stem, str(dict(fields)), JSON_VERSION, tuple(usable), tuple(filter(None, queries)))


def evidence(told: str, chunk: Chunk) -> str:
    """The sentence of the chunk that a text quotes, or is a part of; empty where there is none."""
    wanted = normalized(told)
    if not wanted:
        return ""
    for sentence in sentences(chunk.text, chunk.language):
        plain = normalized(sentence)
        if wanted in plain or plain in wanted:
            return sentence
    plain = " ".join(chunk.text.split())
    return " ".join(told.split()) if len(wanted.split()) > 3 and wanted in normalized(plain) else ""


def _fault(stem: str, choices: Sequence[str]) -> str | None:
    """Why the parts of a question, the right one of its choices first, are none."""
    shown = [normalized(one) for one in choices[:CHOICES]]
    faults = {
        "no question": not stem,
        "too few choices": len(shown) < CHOICES,
        "empty choice": not all(shown),
        "duplicate choices": len(set(shown)) < len(shown),
    }
    return next((reason for reason, there in faults.items() if there), None)


def _first(fields: Fields, names: Sequence[str]) -> object:
    lowered = {str(name).casefold().replace(" ", "_"): value for name, value in fields.items()}
    return next((lowered[name] for name in names if lowered.get(name) is not None), None)


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return unwrapped(str(value))


def _texts(value: object) -> list[str]:
    return [_text(one) for one in value] if isinstance(value, list) else []
