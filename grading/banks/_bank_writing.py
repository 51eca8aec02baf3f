"""Writing question banks with a model: several open questions per query and sub-topic, as a JSON list.

The task is that of EXAM++ (Farzi and Dietz 2024, section 4.1.1) in our own wording: specific questions that an article
on the query should answer, each comprehensible by itself. With keys, every question has a short answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from examcore import (
    CachedLanguageModel,
    ModelUsage,
    NoReply,
    Progress,
    Prompt,
    ReplyStore,
    ReportProgress,
    Schema,
    normalized,
    unreported,
    unwrapped,
)
from grading._file_rows import QUERY, read_rows
from grading._printing import counted_notes, shortened
from grading._records import BankQuestion, KeyAnswer
from grading.formats._bank_files import ANSWERS, QUESTION, made_id, write_bank
from grading.graders._assessor import ModelOptions
from grading.graders._reply_parsing import OPENING, json_list
from rag import ModelSettings, load_language_model, prepare_models

VERSION = "bank-1"
"""Version of the prompt, changed with every character of it."""
QUESTIONS = 10
"""Per query and sub-topic, as in the paper."""
TOKENS_EACH = 60
"""Tokens a question may take, with its key and the JSON around it."""
TEXT = ("text", "query_text", "title", "query")
SUBTOPIC = ("subtopic", "facet_text", "facet", "subtopic_id", "facet_id")


class Topic(NamedTuple):
    """What a part of the bank is about: a query's id and text, and a sub-topic of it or none."""

    query: str
    text: str
    subtopic: str = ""


@dataclass(frozen=True)
class WrittenBank:
    """The questions, the losses by reason, and the number of questions of topics that got fewer than wanted."""

    questions: tuple[BankQuestion, ...]
    losses: Mapping[str, int]
    short: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @property
    def lost(self) -> str:
        """The losses in words."""
        return ", ".join(f"{count} {why}" for why, count in self.losses.items()) or "none"


@dataclass(frozen=True)
class WrittenBankResult:
    """The questions that a model wrote on so many topics, where `wanted` were asked for on each; `out` has the bank."""

    out: Path
    model: str
    topics: int
    wanted: int
    bank: WrittenBank
    usage: ModelUsage

    def record(self) -> dict[str, Any]:
        """The result as JSON types."""
        return {
            "out": self.out,
            "model": self.model,
            "prompt": VERSION,
            "n": len(self.bank.questions),
            "topics": self.topics,
            "losses": self.bank.losses,
            "short": [{"query": query, "subtopic": part, "n": n} for (query, part), n in self.bank.short.items()],
            "usage": self.usage,
        }

    def lines(self) -> list[str]:
        """The result for a reader."""
        head = f"{self.out}: {len(self.bank.questions)} questions for {self.topics} topics; lost: {self.bank.lost}"
        return [head, *counted_notes({f"topics have fewer than {self.wanted} questions": len(self.bank.short)})]


TURN = "|user|:"
"""What begins a turn of the user in MT-RAG's conversations."""


def read_topics(path: str | Path) -> list[Topic]:
    """Read topics `query, text[, subtopic]`; the text is the query if there is none.

    Of a conversation as MT-RAG keeps it (`_id`, and a text of turns that begin with `|user|:`) the last turn is read.
    Raises `ValueError` (file:line, found, wanted) for a missing query and a repeated topic.
    """
    places: dict[Topic, str] = {}
    for row in read_rows(path, {}):
        query = row.first_text((*QUERY[:4], "id", "_id", *QUERY[4:]))
        text = row.first_text(TEXT, query)
        said = text.rpartition(TURN)[2].strip() if text.startswith(TURN) else text
        one = Topic(query, said, row.first_text(SUBTOPIC, ""))
        before = places.setdefault(one, row.place)
        if before != row.place:
            raise ValueError(
                f"{row.place}: topic {query!r} {one.subtopic!r} stands at {before} already; wanted it once"
            )
    return list(places)


def query_texts(path: Path) -> dict[str, str]:
    """The texts of queries by id, in a file as `read_topics` reads it."""
    return {one.query: one.text for one in read_topics(path)}


def topic_texts(path: Path | None, topics: Collection[str]) -> dict[str, str]:
    """The same, of no file none; `ValueError` if it has none of the topics."""
    found = {} if path is None else query_texts(path)
    if path is not None and not found.keys() & set(topics):
        raise ValueError(
            f"{path}: none of its queries ({shortened(list(found))}) is a topic here; wanted {shortened(list(topics))}"
        )
    return found


def write_bank_on(
    path: Path, options: ModelOptions, out: Path, progress: Progress, *, wanted: int, keys: bool, seed: int
) -> WrittenBankResult:
    """Write the bank `out` of questions on the topics of a file; `ValueError` where no question could be read."""
    topics = read_topics(path)
    settings = ModelSettings(**vars(options))
    prepare_models([settings.model], [settings], progress)
    out.parent.mkdir(parents=True, exist_ok=True)
    with ReplyStore(out.with_suffix(".replies.sqlite")) as store, progress.step("writing") as report:
        model = CachedLanguageModel(load_language_model(settings), store)
        found = write_questions(topics, model, wanted=wanted, keys=keys, seed=seed, report=report)
    if not found.questions:
        raise ValueError(f"{path}: no question could be read ({found.lost}); wanted another model")
    write_bank(out, found.questions)
    return WrittenBankResult(out, options.model, len(topics), wanted, found, model.usage)


def write_questions(
    topics: Sequence[Topic],
    model: CachedLanguageModel,
    *,
    wanted: int = QUESTIONS,
    keys: bool = False,
    seed: int = 0,
    report: ReportProgress = unreported,
) -> WrittenBank:
    """Ask for `wanted` questions per topic, one topic at a time, and keep those that can be parsed.

    The losses are topics without a reply, replies without a JSON list, and questions that are empty, lack the wanted
    key, are already in the bank of their query, or exceed the wanted number.
    """
    schema = schema_of(wanted, keys=keys)
    found: list[BankQuestion] = []
    losses: Counter[str] = Counter()
    short: dict[tuple[str, str], int] = {}
    known: set[tuple[str, str]] = set()
    for number, topic in enumerate(topics, start=1):
        prompt = bank_prompt(topic, wanted, keys=keys)
        room = OPENING + TOKENS_EACH * wanted * (2 if keys else 1)
        (reply,) = model.replies([prompt], max_tokens=room, seed=seed, schema=schema)
        read, lost = _read(topic, reply, wanted, keys=keys, known=known)
        found += read
        losses.update(lost)
        if len(read) < wanted:
            short[(topic.query, topic.subtopic)] = len(read)
        report(number, len(topics))
    return WrittenBank(tuple(found), dict(losses.most_common()), short)


def bank_prompt(topic: Topic, wanted: int, *, keys: bool = False) -> Prompt:
    """The request for one topic's questions."""
    about = f"'{topic.text}'" + (f", and in it only on the sub-topic '{topic.subtopic}'" if topic.subtopic else "")
    each = '{"question": "...", "answer": "..."}' if keys else '"..."'
    key = " Give each with its answer in a few words." if keys else ""
    return Prompt(
        user=f"Somebody will read an article on {about}. Write {wanted} questions that a good article must answer. "
        "Each question asks for one specific piece of information, names its subject in full so that it can be read "
        "by itself, and asks for something else than the others. No questions of definition, no questions that nearly "
        f"any text on the subject would answer, no yes-or-no questions.{key}\n"
        f'Reply with JSON and nothing else: {{"questions": [{each}, ...]}}'
    )


def schema_of(wanted: int, *, keys: bool = False) -> Schema:
    """The shape of a reply: a list of `wanted` questions."""
    text: Schema = {"type": "string"}
    item = _object(question=text, answer=text) if keys else text
    return _object(questions={"type": "array", "items": item, "minItems": wanted, "maxItems": wanted})


def _object(**properties: Schema) -> Schema:
    """The schema of an object that has all of these members and no others."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _read(
    topic: Topic, reply: str | NoReply, wanted: int, *, keys: bool, known: set[tuple[str, str]]
) -> tuple[list[BankQuestion], Counter[str]]:
    """The questions of a reply, and the losses; the new questions are added to `known`."""
    if isinstance(reply, NoReply):
        return [], Counter({f"no reply: {reply.reason}": 1})
    items = json_list(reply)
    if items is None:
        return [], Counter({"malformed JSON" if reply.strip() else "empty reply": 1})
    losses: Counter[str] = Counter() if items else Counter({"empty list": 1})
    found: list[BankQuestion] = []
    for item in items:
        question, answer = _parts(item)
        plain = (topic.query, normalized(question))
        if not question:
            losses["empty question"] += 1
        elif keys and not answer:
            losses["no answer"] += 1
        elif plain in known:
            losses["stands in the bank already"] += 1
        elif len(found) == wanted:
            losses["beyond the wanted number"] += 1
        else:
            known.add(plain)
            name = made_id(topic.query, topic.subtopic, question)
            key = (KeyAnswer(answer),) if keys else ()
            found.append(BankQuestion(name, topic.query, question, key, subtopic=topic.subtopic))
    return found, losses


def _parts(item: object) -> tuple[str, str]:
    """The question and the answer of an item, empty if there is none."""
    if isinstance(item, str):
        return unwrapped(item), ""
    if not isinstance(item, dict):
        return "", ""
    found = []
    for names in (QUESTION, ANSWERS):
        value = next((item[name] for name in names if item.get(name) is not None), "")
        is_plain = isinstance(value, str | int | float)
        found.append(unwrapped(str(value).lower() if isinstance(value, bool) else str(value)) if is_plain else "")
    return found[0], found[1]
