"""The prompts that write and check questions; each has a version, which is stored with every question.

`code` is the language of questions and answers; what a language says stands in its module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from exam_gen.language._exam_language import WriterPrompts
from exam_gen.language._known_languages import exam_language
from examcore import ENGLISH, Prompt, Schema, language_named

QUESTION_VERSION = "question-1"
GAP_VERSION = "gap-1"
COMPLETION_VERSION = "completion-1"
WORDING_VERSION = "wording-2"
ANSWER_VERSION = "answer-4"
LETTERS_VERSION = "letters-1"
PAPER_VERSION = "paper-1"
JSON_VERSION = "json-2"
PEOPLE_VERSION = "people-1"


def version_in(version: str, code: str) -> str:
    """The name under which a prompt's version is stored: `question-1` in English, `question-de-1` in German.

    People's own questions have no prompt, in no language.
    """
    return (
        version
        if code == ENGLISH or version == PEOPLE_VERSION
        else f"{version.rpartition('-')[0]}-{exam_language(code).prompts.version}"
    )


def subject_of(title: str, code: str = ENGLISH) -> str:
    """What a title speaks of: a title that is a question loses its form, so that it is not asked again."""
    topic = title.strip()
    asking = topic.endswith(("?", "？"))
    return exam_language(code).asks.sub("", topic.rstrip("?？ ")) if asking else topic.rstrip(".: ")


def question_prompt(title: str, sentence: str, code: str = ENGLISH, source: str = "") -> Prompt:
    """Ask for a question about the fact that a sentence states, and the answer as it stands there.

    `source`: the language of the sentence, where it is another; question and answer are then in the one asked for.
    """
    said = exam_language(code).prompts
    if source not in {"", code}:
        said = _crossing(said, exam_language(source).prompts)
    shown = [
        f"{said.topic} {t}\n{said.sentence} {s}\n{said.question} {q}\n{said.answer} {a}"
        for t, s, q, a in said.question_examples
    ]
    shown.append(f"{said.topic} {subject_of(title, source or code)}\n{said.sentence} {sentence}")
    return Prompt("\n\n".join(shown), system=said.question_system, reply=said.question)


def _crossing(asking: WriterPrompts, speaking: WriterPrompts) -> WriterPrompts:
    """Prompts for questions in one language about sentences in another: examples have a sentence in that."""
    pairs = zip(asking.question_examples, speaking.question_examples, strict=False)
    examples = tuple((t, s, q, a) for (_, _, q, a), (t, s, _, _) in pairs)
    return replace(
        asking,
        question_system=f"{asking.question_system} {asking.crossing}",
        question_examples=examples or asking.question_examples,
    )


def gap_question_prompt(title: str, gapped: str, key: str, code: str = ENGLISH) -> Prompt:
    """Ask for the question that a key answers, from the statement in which it is a gap."""
    said = exam_language(code).prompts
    shown = [
        f"{said.topic} {t}\n{said.statement} {s}\n{said.gap} {k}\n{said.question} {q}"
        for t, s, k, q in said.gap_examples
    ]
    topic = f"{said.topic} {subject_of(title, code)}\n" if title.strip() else ""
    shown.append(f"{topic}{said.statement} {gapped.strip()}\n{said.gap} {key}")
    return Prompt("\n\n".join(shown), system=said.gap_system, reply=said.question)


def wording_prompt(stem: str, code: str = ENGLISH) -> Prompt:
    """Ask for a question in the words of a person who has never seen the passage."""
    said = exam_language(code).prompts
    shown = [f"{said.exam_question} {a}\n{said.plain_words} {b}" for a, b in said.wording_examples]
    user = "\n\n".join([*shown, f"{said.exam_question} {stem}"])
    return Prompt(user, system=said.wording_system, reply=said.plain_words)


def search_prompt(title: str, passage: str, code: str = ENGLISH) -> Prompt:
    """Ask what a person wanted to know who was sent to the passage, as questions are made for documents to search."""
    said = exam_language(code).prompts
    return Prompt(f"{_quoted(title, passage)}{said.search_request}", reply=said.question)


def wrong_answers_prompt(stem: str, key: str, code: str = ENGLISH) -> Prompt:
    """Ask for four wrong answers like the right one, on one line."""
    said = exam_language(code).prompts
    shown = [
        f"{said.question} {q}\n{said.right_answer} {a}\n{said.wrong_answers} {w}" for q, a, w in said.wrong_examples
    ]
    shown.append(f"{said.question} {stem}\n{said.right_answer} {key}")
    return Prompt("\n\n".join(shown), system=said.wrong_system, reply=said.wrong_answers)


def completion_stem(title: str, gapped: str, code: str = ENGLISH) -> str:
    """A stem made without a model: the sentence itself, to be completed."""
    return exam_language(code).prompts.completion.format(title=title.rstrip("?？.: "), statement=gapped.strip())


def open_prompt(title: str, passage: str, stem: str, code: str = ENGLISH) -> Prompt:
    """Ask for the answer with the passage at hand; the likelihood of each choice follows it."""
    said = exam_language(code).prompts
    return Prompt(f"{_quoted(title, passage)}{said.question} {stem}\n{said.open_request}", reply=said.answer)


def answerable_prompt(title: str, passage: str, question: str, code: str = ENGLISH) -> Prompt:
    """Ask whether the passage answers a question."""
    said = exam_language(code).prompts
    return Prompt(f"{_quoted(title, passage)}{said.question} {question}\n{said.answerable_request}", reply=said.reply)


def judgment_prompt(title: str, passage: str, stem: str, key: str, code: str = ENGLISH) -> Prompt:
    """Ask whether the passage makes the key the right and whole answer; the likelihoods of Yes and No follow it."""
    said = exam_language(code).prompts
    asked = f"{said.question} {stem}\n{said.proposed_answer} {key}\n{said.judgment_request}"
    return Prompt(f"{_quoted(title, passage)}{asked}", reply=said.reply)


def statement_prompt(title: str, code: str = ENGLISH) -> Prompt:
    """Ask for a sentence on a subject; the likelihood of a completed statement follows it."""
    return Prompt(exam_language(code).prompts.about.format(title=subject_of(title, code)))


def closed_prompt(stem: str, code: str = ENGLISH) -> Prompt:
    """Ask for the answer without a passage."""
    said = exam_language(code).prompts
    return Prompt(f"{said.question} {stem}\n{said.closed_request}", reply=said.answer)


def _quoted(title: str, passage: str) -> str:
    return f'{title}\n"""\n{passage}\n"""\n\n'


def open_letters_prompt(title: str, passage: str, stem: str, candidates: Sequence[str]) -> Prompt:
    """Ask which of the candidates the passage makes right."""
    return Prompt(
        f'{title}\n"""\n{passage}\n"""\n\n{_listed(stem, candidates)}\n'
        "Which candidates answer the question rightly according to the text? "
        "Reply with their letters alone, separated by commas, or with none."
    )


def closed_letters_prompt(stem: str, candidates: Sequence[str]) -> Prompt:
    """Ask for the right one of the candidates without a passage."""
    return Prompt(
        f"{_listed(stem, candidates)}\n"
        "Which candidate answers the question rightly? Reply with its letter alone; guess if you must."
    )


def paper_prompt(title: str, passage: str, code: str = ENGLISH) -> Prompt:
    """One free-text request for a question with four candidates, in the spirit of the source paper."""
    language = "" if code == ENGLISH else f" Write question and candidates in {language_named(code).name}."
    return Prompt(
        f"Here is some documentation on {title}:\n\n{passage}\n\n"
        "Write one difficult multiple-choice exam question about it. The question must make sense without the "
        "documentation, have four candidates marked A), B), C) and D), and exactly one right answer."
        f"{language}\n"
        "Use this layout:\nQuestion: ...\nA) ...\nB) ...\nC) ...\nD) ...\nCorrect Answer: the letter"
    )


def questions_schema(count: int) -> Schema:
    """The shape of a reply with so many questions about one passage."""
    text: Schema = {"type": "string"}
    texts: Schema = {"type": "array", "items": text, "minItems": 3, "maxItems": 3}
    members = {
        "evidence": text,
        "question": text,
        "answer": text,
        "wrong_answers": texts,
        "queries": texts,
        "critique": text,
    }
    question: Schema = {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }
    listed = {"questions": {"type": "array", "items": question, "minItems": count, "maxItems": count}}
    return {"type": "object", "properties": listed, "required": ["questions"], "additionalProperties": False}


def questions_prompt(title: str, passage: str, count: int, code: str = ENGLISH) -> Prompt:
    """Ask for so many questions about different facts of a passage, each with all that belongs to it, as JSON."""
    language = "" if code == ENGLISH else f"\nWrite questions, answers and queries in {language_named(code).name}."
    many = f"{count} exam questions, each about another fact" if count > 1 else "one exam question about a fact"
    return Prompt(
        f'{title}\n"""\n{passage}\n"""\n\n'
        f"Write {many} of this text that a person with a real problem would want to know. Reply with a JSON object "
        'alone: {"questions": [...]}. Each question has these members:\n'
        '"evidence": the sentence of the text that states the fact, copied word for word\n'
        '"question": asks for the fact; names its subject, makes sense without the text, has one right answer and does '
        "not contain it\n"
        '"answer": the right answer, a few words copied from the evidence\n'
        '"wrong_answers": three answers that are false, of the form and length of the right one, and believed by those '
        "who do not know the fact\n"
        '"queries": three ways in which people who need the answer and have never seen the text would ask for it, in '
        "everyday words of their own: a question, a short search, a colloquial form; none contains the answer\n"
        '"critique": what an examiner would object to (a second right answer, a hint, a missing subject), or "none"'
        f"{language}"
    )


def _listed(stem: str, candidates: Sequence[str]) -> str:
    lines = [f"{chr(ord('A') + place)}) {text}" for place, text in enumerate(candidates)]
    return "\n".join([f"Question: {stem}", "Candidates:", *lines])
