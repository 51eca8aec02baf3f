"""Several questions about one passage in one JSON reply, each with its evidence, queries, wrong answers and critique.

For writers that hold the whole task in mind: a request a passage, where a small model needs one for each part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from exam_gen._prompts import JSON_VERSION
from exam_gen.drafting._drafts import Draft
from exam_gen.drafting._facts import Fact
from exam_gen.drafting._model_distractors import usable_wrong_answers
from exam_gen.drafting._parser import ParsedQuestion, UnparsableReply
from exam_gen.language._spans import key_span, sentences
from exam_gen.language._stems import find_answer, read_stem
from examcore import Chunk, Dropped, normalized, repaired_json_object, unwrapped

OBJECTION = "the writer's own critique"
TOKENS = 320
"""Room for one question with its evidence, queries, wrong answers and critique."""

_STEM = ("question", "stem", "question_text")
_CHOICES = ("choices", "options", "candidates", "answers")
_ANSWER = ("answer", "correct_answer", "correct", "key", "correct_choice", "answer_index")
_WRONG = ("wrong_answers", "distractors", "wrong", "incorrect_answers")
_EVIDENCE = ("evidence", "sentence", "quote", "source")
_NO_FAULT = re.compile(
    r"^\W*(?:no (?:fault|objection|problem|issue|concern)s?\b.*|(?:none|nothing)\b.*|no|null|n/?a)?\W*$", re.IGNORECASE
)

Fields = Mapping[str, object]


def read_drafts(raw: str, chunk: Chunk) -> tuple[list[Draft], list[Dropped]]:
    """The drafts in a reply about a chunk, and what could not be read as one, with the reason. Never raises.

    The reply is an object with a list of `questions`, or one question. Evidence and answer must stand in the passage.
    """
    fields = repaired_json_object(raw)
    if fields is None:
        return [], [Dropped(f"unparsable: {'malformed JSON' if raw.strip() else 'empty reply'}", raw, chunk.id)]
    listed = fields.get("questions", [fields])
    drafts: list[Draft] = []
    dropped: list[Dropped] = []
    for item in listed if isinstance(listed, list) else [listed]:
        found = _draft(item, chunk) if isinstance(item, dict) else "unparsable: no question"
        if isinstance(found, Draft):
            drafts.append(found)
        else:
            dropped.append(Dropped(found, raw, chunk.id))
    return drafts, dropped


def _draft(fields: Fields, chunk: Chunk) -> Draft | str:
    parsed = read_fields(fields)
    if isinstance(parsed, UnparsableReply):
        return f"unparsable: {parsed.kind}"
    objection = _text(_first(fields, ("critique", "fault", "objection")))
    if not _NO_FAULT.match(objection):
        return f"{OBJECTION}: {objection}"
    answer = parsed.choices[parsed.key]
    sentence = evidence(_text(_first(fields, _EVIDENCE)) or answer, chunk)
    if not sentence:
        return "evidence is not in the passage"
    asked = read_stem(parsed.stem, find_answer(answer, sentence), title=chunk.title, sentence=sentence)
    if asked.reason is not None:
        return asked.reason
    others = [text for place, text in enumerate(parsed.choices) if place != parsed.key]
    given = [*others, *_texts(_first(fields, _WRONG))]
    fact = Fact(chunk, key_span(sentence, asked.key), 0.0)
    wrong = usable_wrong_answers(given, stem=asked.stem, key=fact.span.text, sentence=sentence)
    queries = dict.fromkeys(_texts(_first(fields, ("queries", "searches"))))
    return Draft(fact, asked.stem, str(dict(fields)), JSON_VERSION, tuple(wrong), tuple(filter(None, queries)))


def evidence(told: str, chunk: Chunk) -> str:
    """The sentence of the chunk that a text quotes, or is a part of; empty where there is none."""
    wanted = normalized(told)
    if not wanted:
        return ""
    for sentence in sentences(chunk.text):
        plain = normalized(sentence)
        if wanted in plain or plain in wanted:
            return sentence
    plain = " ".join(chunk.text.split())
    return " ".join(told.split()) if len(wanted.split()) > 3 and wanted in normalized(plain) else ""


def read_fields(fields: Fields, *, choices: int = 4) -> ParsedQuestion | UnparsableReply:
    """A question out of a JSON object, or why not. Never raises.

    Fields: `question`; `choices` (a list, or an object by label) with `answer` (index, label or text), or `answer`
    (text) with `wrong_answers`. The right answer comes first when it was given apart from the wrong ones.
    """
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


def _first(fields: Fields, names: Sequence[str]) -> object:
    lowered = {str(name).casefold().replace(" ", "_"): value for name, value in fields.items()}
    return next((lowered[name] for name in names if lowered.get(name) is not None), None)


def _text(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return unwrapped(str(value))


def _texts(value: object) -> list[str]:
    return [_text(one) for one in value] if isinstance(value, list) else []


def _options(fields: Fields) -> tuple[list[str], list[str]]:
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
