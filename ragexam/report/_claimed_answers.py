"""Free-text answers: how they are graded, what they claim, what is wanted, and what is asked of a judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from examcore import Chunk, Question, language_named, words
from grading.reports import (
    UNRELATED,
    CitedClaim,
    ClaimAsk,
    Decision,
    cited_claims,
    claims_of,
    shares_a_sentence,
    text_hash,
    word_for_word,
)
from rag import ABSTAINED, NO_CHOICE

LEAST_WORDS = 4
"""Words of a sentence below which it may stand in any text: headings, marks of lists."""


RIGHT, WRONG, DECLINED = "right", "wrong", "declined"
LABELS = (RIGHT, WRONG, DECLINED)
"""What becomes of an answer; one that states no choice, or another than the key, is wrong."""


def label_of(chosen: int, key: int) -> str:
    """The label of an answer that states this choice."""
    return DECLINED if chosen == ABSTAINED else RIGHT if chosen == key else WRONG


@dataclass(frozen=True)
class FreeTextAnswer:
    """A free-text answer that states the choice `chosen`; `judge` is empty where the rules decided that.

    `passages` are texts, None where one is not known; `ids` name them. `nuggets`: what the answer should state, in
    place of what the source states. An answer that declines states nothing.
    """

    pipeline: str
    question: Question
    reply: str
    chosen: int
    ids: tuple[str, ...]
    passages: tuple[str | None, ...]
    nuggets: tuple[str, ...] | None = None
    judge: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Pipeline and question, by which labels given by hand go."""
        return self.pipeline, self.question.id

    @property
    def label(self) -> str:
        """Right, wrong or declined."""
        return label_of(self.chosen, self.question.key)

    @property
    def chosen_by_rule(self) -> int:
        """What it states by rule alone."""
        return NO_CHOICE if self.judge else self.chosen

    @property
    def by_rule(self) -> str:
        """The label by rule alone."""
        return label_of(self.chosen_by_rule, self.question.key)

    @cached_property
    def claims(self) -> list[CitedClaim]:
        """What it states, sentence by sentence, in the language that the question is asked in."""
        return [] if self.label == DECLINED else cited_claims(self.reply, self.ids, self.question.language)

    @cached_property
    def source(self) -> list[str]:
        """The claims of the passage that the question was written from."""
        language = self.question.language
        return [one for one in claims_of(self.question.context, language) if _says_something(one, language)]

    @property
    def wanted(self) -> Sequence[str]:
        """The claims that it is held against: the nuggets of its question, else those of its source."""
        return self.source if self.nuggets is None else self.nuggets

    @property
    def reading(self) -> str | None:
        """All its passages as one text; None where there is none, or one is not known."""
        return _joined(self.passages) if self.passages else None

    def claim_asks(self) -> list[ClaimAsk]:
        """Whether its passages state what it states."""
        text = self.reading
        return [] if text is None else [self._ask(one, text) for one in self.claims]

    def citation_asks(self) -> list[ClaimAsk]:
        """Whether what a sentence cites states it; a mark that names no passage cites an empty text."""
        asks = []
        for one in self.claims:
            cited = [self.passages[place] if place >= 0 else "" for place in one.cites]
            text = _joined(cited)
            if cited and text is not None:
                asks.append(self._ask(one, text))
        return asks

    def coverage_asks(self) -> list[ClaimAsk]:
        """Whether the answer states what is wanted; the question goes before it, for short answers."""
        text = f"{self.question.stem}\n{self.reply.strip()}" if self.claims else ""
        return [ClaimAsk(self.question.id, one, text) for one in self.wanted]

    def recall_asks(self) -> list[ClaimAsk]:
        """Whether its passages state what is wanted."""
        text = self.reading
        return [] if text is None else [ClaimAsk(self.question.id, one, text) for one in self.wanted]

    def asks(self) -> Iterator[ClaimAsk]:
        """All that the scores need to know."""
        for some in (self.claim_asks(), self.citation_asks(), self.coverage_asks(), self.recall_asks()):
            yield from some

    def holding(self) -> list[bool] | None:
        """Which of its passages are the source or have one of its sentences; None where that cannot be told."""
        if not self.passages or not self.source:
            return None
        mine = [
            name == self.question.chunk_id
            or (None if text is None else any(word_for_word(one, text, self.question.language) for one in self.source))
            for name, text in zip(self.ids, self.passages, strict=True)
        ]
        return None if None in mine else [bool(one) for one in mine]

    def _ask(self, claim: CitedClaim, text: str) -> ClaimAsk:
        return ClaimAsk(self.question.id, f"{self.question.stem} {claim.text}", text)


def settled(ask: ClaimAsk, question: Question) -> Decision | None:
    """What takes no judge: an empty text states nothing, and a text states its own sentences."""
    if not ask.text.strip():
        return Decision(False, "there is no text")
    if word_for_word(ask.claim.removeprefix(f"{question.stem} "), ask.text, question.language):
        return Decision(True, "it stands there word for word")
    return None


def _joined(texts: Sequence[str | None]) -> str | None:
    known = [one for one in texts if one is not None]
    return "\n\n".join(known) if len(known) == len(texts) else None


def passage_texts(ids: Sequence[str], known: Mapping[str, str], language: str) -> tuple[str | None, ...]:
    """The text of each passage: a known one's, or its name where that is a text itself; None where neither."""
    return tuple(known.get(one, one if _says_something(one, language) else None) for one in ids)


def _says_something(text: str, language: str) -> bool:
    """Whether a text has as many words as a statement takes; in a script without spaces, pairs of characters."""
    found = text.split() if language_named(language).spaced else words(text, language)
    return len(found) >= LEAST_WORDS


def known_passages(chunks: Sequence[Chunk], questions: Sequence[Question]) -> dict[str, str]:
    """The texts of passages by id, under their titles as models read them."""
    sources = {one.chunk_id: one.context for one in questions if one.chunk_id}
    return sources | {one.id: f"{one.title}\n\n{one.text}" if one.title else one.text for one in chunks}


def unrelated_texts(answers: Sequence[FreeTextAnswer]) -> dict[str, list[str]]:
    """For each question texts to hold its claims against, drawn at random: what other questions were written from.

    Where that is not known it is what was read for them first. Those on other documents go first; one that shares a
    sentence with a text of the question is left out.
    """
    asked = {one.question.id: one.question for one in answers}
    own: dict[str, dict[str, None]] = {name: {} for name in asked}
    for one in answers:
        texts = [one.question.context, *(text for text in one.passages if text is not None)]
        own[one.question.id].update(dict.fromkeys(text for text in texts if text.strip()))
    firsts = {name: next(iter(texts)) for name, texts in own.items() if texts}
    return {name: _far_texts(one, asked, own[name], firsts) for name, one in asked.items()}


def _far_texts(
    mine: Question, asked: Mapping[str, Question], own: Iterable[str], firsts: Mapping[str, str]
) -> list[str]:
    def order(name: str) -> tuple[bool, str]:
        is_near = bool(mine.document_id) and asked[name].document_id == mine.document_id
        return is_near, text_hash(f"0\n{mine.id}\n{name}")

    drawn = dict.fromkeys(firsts[name] for name in sorted(firsts, key=order) if name != mine.id)
    far = (one for one in drawn if not any(shares_a_sentence(one, text, mine.language) for text in own))
    return list(islice(far, UNRELATED))
