"""Facts, passages and people's questions to verified questions with wordings, batch by batch."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from exam_gen._assembly import shuffle_exam
from exam_gen._paper_writing import question_about
from exam_gen._prompts import (
    COMPLETION_VERSION,
    GAP_VERSION,
    PEOPLE_VERSION,
    QUESTION_VERSION,
    WORDING_VERSION,
    completion_stem,
    gap_question_prompt,
    question_prompt,
    questions_prompt,
    questions_schema,
    version_in,
)
from exam_gen._writing_settings import WritingMaterial, WritingSettings
from exam_gen.drafting._corpus_distractors import KeyWithDistractors, candidates, choose, hides
from exam_gen.drafting._drafts import AnsweredQuestion, Draft, people_drafts
from exam_gen.drafting._facts import Fact
from exam_gen.drafting._json_questions import TOKENS, read_drafts
from exam_gen.drafting._model_distractors import AskedKey, wants_writing, written_answers
from exam_gen.drafting._round_trip import round_trip
from exam_gen.drafting._subjects import is_about
from exam_gen.drafting._verification import VerificationCase, VerificationResult, Verifier
from exam_gen.drafting._wordings import (
    KEYWORDS,
    KIND,
    TYPOS,
    QueryWriter,
    Wording,
    Wordings,
    keywords,
    mistyped,
    spread_over,
)
from exam_gen.language._known_languages import exam_language, reply_room
from exam_gen.language._spans import key_span
from exam_gen.language._stems import DraftStem, echoes, read_question, read_stem, unfit
from exam_gen.rules._rule import BEYOND, Check
from examcore import CachedLanguageModel, Chunk, Dropped, NoReply, Prompt, Query, Question, counted, overlap

ANSWERED_OTHERWISE = "the passage is read to another answer"
TOO_FEW = "fewer than three wrong answers"
WRONG_IN = "wrong answers are in"
"""The language that they are in, and the one wanted, follow."""
FEWEST_WRONG = 5
"""Wrong answers below which the model is asked for more: verification leaves out one in three."""
TEMPERATURES = (0.0, 0.8)
"""Of a reply and, where it was of no use, of another."""
WRONG_TEMPERATURES = (0.0, 0.8, 0.8)
"""Of wrong answers and, where they are too few or all shorter than the key, of more."""
MARKED = "the wrong answers have in common what the key lacks"
ECHOES = "the key alone repeats words of the stem"
SETTLED = "another question about its passage passed"
LEAST_QUESTIONS = 8
"""Questions that are written however short the time: of fewer, the interval of a share is half the scale wide."""
DETAIL = "stem names nothing that its passage is about"
ONE_WORDING = "the passage answers none of its wordings"


class WritingProgress(NamedTuple):
    """Questions so far and those wanted, what is being done, and the newest question with its key, once."""

    done: int
    wanted: int
    doing: str = ""
    newest: str = ""


def _wants_more(draft: Draft, corpus: Sequence[str], written: list[str] | NoReply | None) -> bool:
    """Whether the model is asked for wrong answers: where those of the corpus make no sense, or all are too few.

    It is asked again where all that it wrote are shorter than the key, which would be the longest choice, unless they
    came with the question.
    """
    if isinstance(written, NoReply):
        return False
    key, own = draft.fact.span, written or []
    short = not draft.wrong and wants_writing(key.kind) and all(len(text) < len(key.text) for text in own)
    return short or len({*corpus, *own}) < FEWEST_WRONG


def _asked_key(draft: Draft) -> AskedKey:
    return AskedKey(draft.stem, draft.fact.span.text, draft.fact.span.sentence, draft.fact.language)


def _as_asked(draft: Draft) -> Wordings:
    """A person's own question as its only wording."""
    (text,) = draft.queries
    fact = draft.fact
    return Wordings((Wording(text, overlap(text, f"{fact.chunk.title} {fact.chunk.text}", fact.language)),))


def _queries(worded: Sequence[Wording], seed: int, code: str) -> tuple[Query, ...]:
    """The queries of a question: these wordings, and the keywords and a mistyped form of each."""
    texts = [one.text for one in worded]
    return (
        *(Query(KIND, text) for text in texts),
        *(Query(KEYWORDS, keywords(text, code)) for text in texts),
        *(Query(TYPOS, mistyped(text, seed)) for text in texts),
    )


def _completed(fact: Fact, chosen: Mapping[str, Fact]) -> Fact | None:
    """The fact as it can be asked for by a gap: with the key the model chose, or with the one found by rule."""
    own = chosen.get(fact.span.sentence)
    return own if own is not None and own.completes else fact if fact.completes else None


def _worded_cases(drafts: Sequence[Draft]) -> list[tuple[VerificationCase, Wordings]]:
    return [(_case(one), one.wordings) for one in drafts]


def _case(draft: Draft) -> VerificationCase:
    chunk, key = draft.fact.chunk, draft.fact.span
    judged, loose = draft.version != COMPLETION_VERSION, not key.kind.startswith("number")
    statement = "" if judged else draft.fact.gapped
    return VerificationCase(
        chunk.title, chunk.text, draft.stem, key.text, draft.wrong, judged, loose, statement, draft.fact.language
    )


class ExamWriter:
    """The state of one exam in the making; batches are written in order, so that every run goes the same way."""

    def __init__(
        self,
        model: CachedLanguageModel,
        verifier: Verifier,
        material: WritingMaterial,
        settings: WritingSettings,
        seed: int,
        filters: Sequence[Check],
        tell: Callable[[WritingProgress], None] = lambda _now: None,
    ) -> None:
        self._model, self._verifier, self._material = model, verifier, material
        self._settings, self._seed, self._filters, self._progress = settings, seed, filters, tell
        self.passed: list[Draft] = []
        self.dropped: list[Dropped] = []
        self._worded: list[tuple[str | None, Draft]] = []
        self._queries = QueryWriter(model, verifier.model, material.common, seed)
        self._chosen: dict[str, Fact] = {}
        self.out_of_time = False
        self._shown = 0
        self._began, self._longest = time.monotonic(), 0.0

    def add(self, people: Sequence[AnsweredQuestion]) -> None:
        """Verify people's own questions."""
        drafts, dropped = people_drafts(people)
        self.dropped += dropped
        self._verified(drafts)

    def write_passages(self, batch: Sequence[Chunk]) -> None:
        """Ask about each chunk, once, for several questions with all that belongs to them."""
        count = self._settings.per_chunk
        self._tell("asking", f"asking about {counted(len(batch), 'passage')}")
        own = self._settings.language
        texts = self._model.replies(
            [questions_prompt(chunk.title, chunk.text, count, own or chunk.language) for chunk in batch],
            max_tokens=count * TOKENS,
            seed=self._seed,
            schema=questions_schema(count),
        )
        drafts: list[Draft] = []
        for chunk, raw in zip(batch, texts, strict=True):
            if isinstance(raw, NoReply):
                self.dropped.append(Dropped(f"no reply: {raw.reason}", "", chunk.id))
                continue
            found, dropped = read_drafts(raw, chunk, own)
            drafts += found[:count]
            self.dropped += dropped
        self._verified(drafts)

    def write(self, batch: Sequence[Fact]) -> None:
        """Ask about each fact in the model's own way."""
        self._tell("asking", f"asking about {counted(len(batch), 'fact')}")
        self._verified(self._asked(batch))

    def write_otherwise(self, batch: Sequence[Fact]) -> None:
        """Ask about the facts where that failed for what a gap in their sentences leaves out.

        Last, if completions are wanted, with the sentence itself as the stem.
        """
        again = [own for fact in self._open(batch) if (own := _completed(fact, self._chosen))]
        self._tell("asking otherwise", f"asking otherwise about {counted(len(again), 'fact')}")
        self._verified(self._asked_for_gaps(again))
        completed = sum(one.version == COMPLETION_VERSION for one in self.passed)
        room = int(self._settings.completions * self._settings.questions) - completed
        stems = [
            (fact, completion_stem(fact.chunk.title, fact.gapped, fact.language))
            for fact in self._open(again)[: max(room, 0)]
        ]
        self._verified([Draft(fact, stem, fact.gapped, COMPLETION_VERSION) for fact, stem in stems])

    def _open(self, batch: Sequence[Fact]) -> list[Fact]:
        """The facts that no question passed about, and whose passages have not enough."""
        done = {one.fact.span.sentence for one in self.passed}
        return [one for one in batch if one.span.sentence not in done and not self._is_settled(one)]

    def finished(self) -> list[Question]:
        """The wanted number of questions, with wrong answers, positions and queries chosen over the whole exam.

        The queries of drafts that failed by their choices alone are chosen with them: they still test retrieval.
        """
        wanted = self._settings.questions
        ends = [(None if place < wanted else BEYOND, one) for place, one in enumerate(self.passed)] + self._worded
        # A fact that was asked about twice has the queries of the first.
        first = {one.fact.span.sentence: place for place, (_, one) in reversed(list(enumerate(ends)))}
        own = [
            draft.wordings if first[draft.fact.span.sentence] == place else Wordings()
            for place, (_, draft) in enumerate(ends)
        ]
        of_facts = spread_over([one.fact for one in own], self._settings.overlap)
        of_passages = spread_over([one.passage for one in own], self._settings.overlap)
        both = map(operator.add, of_facts, of_passages)
        queries = [_queries(two, self._seed, one.fact.language) for two, (_, one) in zip(both, ends, strict=True)]
        for (reason, draft), asked in zip(ends, queries, strict=True):
            if reason is not None:
                question = replace(self._question(draft, draft.wrong[:3]), queries=asked)
                self.dropped.append(Dropped(reason, draft.raw, draft.fact.chunk.id, question))
        kept = self.passed[:wanted]
        # Where nothing is known of closed-book likelihoods all are tied, and lengths alone are balanced.
        items = [
            KeyWithDistractors(d.fact.span.text, d.verdict.closed or 0.0, d.verdict.options, d.fact.language)
            for d in kept
        ]
        triples = choose(items, seed=self._seed)
        questions = [
            replace(self._question(draft, wrong), queries=asked)
            for draft, wrong, asked in zip(kept, triples, queries[: len(kept)], strict=True)
        ]
        return list(shuffle_exam(questions, self._seed))

    def has_time(self) -> bool:
        """Whether another part of a batch fits into the time for writing, going by the longest so far."""
        now = time.monotonic()
        self._longest, self._began = max(self._longest, now - self._began), now
        enough = len(self.passed) >= min(LEAST_QUESTIONS, self._settings.questions)
        self.out_of_time = enough and now + self._longest > self._material.until
        return not self.out_of_time

    def _asked(self, batch: Sequence[Fact]) -> list[Draft]:
        """The model's questions about the facts' sentences; the keys that it chose are remembered."""

        def read(fact: Fact, raw: str) -> tuple[Fact, DraftStem]:
            sentence = fact.span.sentence
            code, source = fact.language, fact.chunk.language
            asked = read_question(raw, title=fact.chunk.title, sentence=sentence, code=code, source=source)
            own = replace(fact, span=key_span(sentence, asked.key, source))
            if unfit(asked.key, sentence, code) is None:
                self._chosen.setdefault(sentence, own)
            return own, asked

        prompts = {
            one: question_prompt(one.chunk.title, one.span.sentence, one.language, one.chunk.language) for one in batch
        }
        topics = [exam_language(code).prompts.topic for code in dict.fromkeys(one.language for one in batch)]
        stop = ("\n\n", *(f"\n{topic.rstrip(' :：')}" for topic in topics))
        return self._drafted(prompts, stop, QUESTION_VERSION, read)

    def _asked_for_gaps(self, batch: Sequence[Fact]) -> list[Draft]:
        """The model's questions for the keys of the facts, from their sentences with a gap."""

        def read(fact: Fact, raw: str) -> tuple[Fact, DraftStem]:
            code, source = fact.language, fact.chunk.language
            key, sentence = fact.span.text, fact.span.sentence
            return fact, read_stem(raw, key, title=fact.chunk.title, sentence=sentence, code=code, source=source)

        prompts = {one: gap_question_prompt(one.chunk.title, one.gapped, one.span.text, one.language) for one in batch}
        return self._drafted(prompts, ("\n",), GAP_VERSION, read)

    def _drafted(
        self,
        prompts: Mapping[Fact, Prompt],
        stop: tuple[str, ...],
        version: str,
        read: Callable[[Fact, str], tuple[Fact, DraftStem]],
    ) -> list[Draft]:
        """A draft of each fact: the likeliest reply or, where that is none, one that is drawn."""
        drafts: list[Draft] = []
        left = list(prompts)
        room = reply_room(self._settings.max_tokens, (fact.language for fact in left))
        for number, temperature in enumerate(TEMPERATURES):
            texts = self._model.replies(
                [prompts[fact] for fact in left],
                max_tokens=room,
                stop=stop,
                seed=self._seed + number,
                temperature=temperature,
            )
            asked, left = left, []
            for fact, raw in zip(asked, texts, strict=True):
                if isinstance(raw, NoReply):
                    self.dropped.append(Dropped(f"no reply: {raw.reason}", "", fact.chunk.id))
                    continue
                own, found = read(fact, raw)
                if found.reason is None:
                    drafts.append(Draft(own, found.stem, raw, version))
                else:
                    left.append(fact)
                    self.dropped.append(Dropped(found.reason, raw, fact.chunk.id))
        return drafts

    def _verified(self, drafts: Sequence[Draft]) -> None:
        """Find out which of the drafts pass.

        What needs no passage comes first: drafts are reworded and given wrong answers, then read back, their wordings
        and keys judged, and weighed, because each test reads fewer tokens for a draft that it drops than the next. Only
        those that pass are reworded further.
        """
        if not drafts:
            return
        ready = self._with_wrong_answers(self._reworded(self._about(drafts)))
        ready = self._judged(self._answered(self._read_back(ready)))
        self._tell("weighing answers", f"weighing the answers to {counted(len(ready), 'question')}")
        verdicts = self._verifier.verdicts([_case(one) for one in ready], [one.verdict for one in ready])
        passed: list[Draft] = []
        for asked, verdict in zip(ready, verdicts, strict=True):
            draft = asked._replace(verdict=verdict)
            if verdict.reason is None and (again := self._filters[-1](self._question(draft, draft.wrong[:3]))):
                self._drop(again, draft)
                continue
            reason = verdict.reason
            if reason is None and not self._hides(draft.fact, verdict):
                reason = MARKED
            if reason is None and self._is_settled(draft.fact, passed) and draft.version != PEOPLE_VERSION:
                reason = SETTLED
            if reason is None:
                passed.append(draft)
            else:
                self._worded.append((reason, draft))
        self.passed += self._further_reworded(passed)

    def _is_settled(self, fact: Fact, passing: Sequence[Draft] = ()) -> bool:
        """Whether as many questions about the fact's passage passed as are wanted."""
        return sum(one.fact.chunk == fact.chunk for one in (*self.passed, *passing)) >= self._settings.per_chunk

    def _judged(self, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts whose key the passage makes right."""
        kept = []
        self._tell("judging keys", f"judging {counted(len(drafts), 'key')}")
        for draft, verdict in zip(drafts, self._verifier.keys([_case(one) for one in drafts]), strict=True):
            judged = draft._replace(verdict=verdict)
            if verdict.reason is None:
                kept.append(judged)
            else:
                self._drop(verdict.reason, judged)
        return kept

    def _reworded(self, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts with a first wording that a reader may find answered."""
        own = [one._replace(wordings=_as_asked(one)) for one in drafts if one.version == PEOPLE_VERSION]
        drafts = [one for one in drafts if one.version != PEOPLE_VERSION]
        self._tell("wording", f"wording {counted(len(drafts), 'question')} as people ask")
        cases, given = [_case(one) for one in drafts], [one.queries for one in drafts]
        return own + self._with_wordings(drafts, self._queries.first(cases, given))

    def _answered(self, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts whose passage answers a wording; where it does not answer the first, others are asked for."""
        own = [one for one in drafts if one.version == PEOPLE_VERSION]
        drafts = [one for one in drafts if one.version != PEOPLE_VERSION]
        self._tell("wording", f"reading the wordings of {counted(len(drafts), 'question')}")
        return own + self._with_wordings(drafts, self._queries.answered(_worded_cases(drafts)))

    def _further_reworded(self, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts with all their wordings; where there is no reply, with those they have."""
        self._tell("wording", f"wording {counted(len(drafts), 'question')} in other ways")
        found = zip(drafts, self._queries.further(_worded_cases(drafts)), strict=True)
        return [one if isinstance(texts, NoReply) else one._replace(wordings=texts) for one, texts in found]

    def _with_wordings(self, drafts: Sequence[Draft], found: Sequence[Wordings | NoReply]) -> list[Draft]:
        """The drafts with their wordings, without those that no wording but the passage's asks for."""
        kept = []
        for draft, texts in zip(drafts, found, strict=True):
            if isinstance(texts, NoReply):
                self._drop(f"no reply: {texts.reason}", draft)
            elif texts.fact or draft.version == COMPLETION_VERSION:
                kept.append(draft._replace(wordings=texts))
            else:
                self._drop(ONE_WORDING, draft)
        return kept

    def _about(self, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts whose stem names something that their passage is about."""
        kept = []
        for one in drafts:
            own = one.version in {PEOPLE_VERSION, COMPLETION_VERSION}
            crossing = one.fact.language != one.fact.chunk.language
            if own or crossing or is_about(one.stem, one.fact.chunk, self._material.common):
                kept.append(one)
            else:
                self._drop(DETAIL, one)
        return kept

    def _read_back(self, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts whose stem the verifier answers with the key when it reads the passage."""
        self._tell("reading back", f"reading {counted(len(drafts), 'question')} back")
        backs = round_trip([_case(one) for one in drafts], self._verifier.model, seed=self._seed)
        kept = []
        for draft, back in zip(drafts, backs, strict=True):
            if isinstance(back, NoReply):
                self._drop(f"no reply: {back.reason}", draft)
            elif back.agreement < self._settings.thresholds.agreement:
                self._drop(ANSWERED_OTHERWISE, draft._replace(back=back))
            else:
                kept.append(draft._replace(back=back))
        return kept

    def _with_wrong_answers(self, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts with candidates, but those that have too few or in whose stem a filter finds a fault."""
        self._tell("wrong answers", f"finding wrong answers to {counted(len(drafts), 'question')}")
        spans, most = self._material.pool, self._settings.candidates
        corpus = {one: candidates(one.fact, one.stem, spans, count=most, seed=self._seed) for one in drafts}
        written: dict[Draft, list[str] | NoReply] = {one: list(one.wrong) for one in drafts if one.wrong}
        strange: dict[Draft, str] = {}
        # Asked again, for other answers, where corpus and model together have too few.
        for number, temperature in enumerate(WRONG_TEMPERATURES):
            wanting = [one for one in drafts if _wants_more(one, corpus[one], written.get(one))]
            asked = [_asked_key(one) for one in wanting]
            replies = written_answers(asked, self._model, seed=self._seed + number, temperature=temperature)
            for one, reply in zip(wanting, replies, strict=True):
                if isinstance(reply, NoReply):
                    written[one] = reply
                    continue
                before = written.get(one, [])
                written[one] = [*(before if isinstance(before, list) else []), *reply.texts]
                if reply.foreign:
                    strange[one] = f"{WRONG_IN} {reply.foreign}"
        ready = []
        for draft in drafts:
            own = written.get(draft, [])
            if isinstance(own, NoReply):
                self._drop(f"no reply: {own.reason}", draft)
                continue
            count = max(most - len(own), 0)
            found = candidates(draft.fact, draft.stem, spans, count=count, seed=self._seed) if own else corpus[draft]
            wrong = list({text.lower(): text for text in [*own, *found]}.values())
            code = draft.fact.language
            hint = echoes(draft.stem, draft.fact.span.text, code)
            alike = [text for text in wrong if hint <= echoes(draft.stem, text, code)]
            full = draft._replace(wrong=tuple(alike[: self._settings.candidates]))
            if len(alike) < 3:
                self._drop(strange.get(draft, TOO_FEW) if len(wrong) < 3 else ECHOES, full)
                continue
            question = self._question(full, full.wrong[:3])
            fault = next((fault for rule in self._filters[:-1] if (fault := rule(question))), None)
            if fault is None:
                ready.append(full)
            else:
                self._drop(fault, full)
        return ready

    @staticmethod
    def _hides(fact: Fact, verdict: VerificationResult) -> bool:
        return hides(fact.span.text, [option.text for option in verdict.options], fact.language)

    def _tell(self, step: str, doing: str) -> None:
        self._model.step = self._verifier.model.step = step
        wanted, newest = self._settings.questions, ""
        if len(self.passed) > self._shown:
            self._shown = len(self.passed)
            newest = f"{self.passed[-1].stem} {self.passed[-1].fact.span.text}"
        self._progress(WritingProgress(min(len(self.passed), wanted), wanted, doing, newest))

    def _drop(self, reason: str, draft: Draft) -> None:
        question = self._question(draft, draft.wrong[:3])
        self.dropped.append(Dropped(reason, draft.raw, draft.fact.chunk.id, question))

    def _question(self, draft: Draft, wrong: Sequence[str]) -> Question:
        chunk, found = draft.fact.chunk, draft.verdict
        metadata: dict[str, object] = {
            "model": self._model.name,
            "verifier": self._verifier.model.name,
            "prompt": version_in(draft.version, draft.fact.language),
            "verification": version_in(self._verifier.version, draft.fact.language),
            "seed": self._seed,
            "title": chunk.title,
            "evidence": draft.fact.span.sentence,
            "kind": draft.fact.span.kind,
            "support": found.support,
            "lift": found.lift,
            "margin": found.margin,
            "closed_book": found.closed,
            "judgment": found.judgment,
            **({} if found.guess is None else {"guess": found.guess}),
            **({"read_back": draft.back.answer, "agreement": round(draft.back.agreement, 4)} if draft.back else {}),
            "wording": version_in(WORDING_VERSION, draft.fact.language),
            **({"letters": list(found.letters)} if found.letters else {}),
        }
        return question_about(chunk, draft.stem, (draft.fact.span.text, *wrong), 0, metadata, draft.fact.language)
