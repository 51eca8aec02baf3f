"""Chunks to verified four-choice questions: facts, stems, wrong answers, verification, balanced choices."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from exam_gen._assembly import shuffle_exam
from exam_gen._free_writing import QUESTION_FORMATS, question_about, write_free
from exam_gen._prompts import COMPLETION_VERSION, QUESTION_VERSION, completion_stem, question_prompt
from exam_gen.drafting._corpus_distractors import (
    DistractorPool,
    Embed,
    KeyWithDistractors,
    candidates,
    choose,
    hides,
    pool,
)
from exam_gen.drafting._facts import Fact, facts
from exam_gen.drafting._model_distractors import wants_writing, written_answers
from exam_gen.drafting._round_trip import RoundTrip, round_trip
from exam_gen.drafting._verification import (
    LetterVerifier,
    LikelihoodVerifier,
    Thresholds,
    VerificationCase,
    VerificationResult,
    Verifier,
)
from exam_gen.language._spans import key_span
from exam_gen.language._stems import echoes, read_question, unfit
from exam_gen.rules._catalogue import arriving
from exam_gen.rules._rule import BEYOND, Filter
from examcore import CachedLanguageModel, Chunk, Dropped, LanguageModel, ModelUsage, NoReply, Question, ReplyStore

Progress = Callable[[int, int], None]
ANSWERED_OTHERWISE = "the passage is read to another answer"
TOO_FEW = "fewer than three wrong answers"
MARKED = "the wrong answers have in common what the key lacks"
ECHOES = "the key alone repeats words of the stem"


@dataclass(frozen=True)
class WritingSettings:
    """How many questions to write and how.

    `questions`: the wanted number of survivors. `mode`: `answer-first` (a sentence of the passage is chosen, the model
    asks for words of it, and wrong answers are found for those) or `paper` (the model writes everything in free text)
    or `json`. `per_chunk`: the most questions of one chunk. `batch`: prompts written at once. `candidates`: wrong
    answers weighed per question. `max_tokens`: the longest question with its answer. `completions`: the share of
    `questions`, the wanted number, that may complete a sentence of the passage, where the model's own question failed.
    `thresholds`: what verification asks for.
    """

    questions: int = 64
    mode: Literal["answer-first", "paper", "json"] = "answer-first"
    verification: Literal["likelihood", "letters"] = "likelihood"
    per_chunk: int = 2
    batch: int = 40
    candidates: int = 9
    max_tokens: int = 48
    completions: float = 0.9
    thresholds: Thresholds = field(default_factory=Thresholds)

    def __post_init__(self) -> None:
        for name, least in {"questions": 1, "per_chunk": 1, "batch": 1, "max_tokens": 1, "candidates": 3}.items():
            if getattr(self, name) < least:
                raise ValueError(f"writing: {name} is {getattr(self, name)}; wanted at least {least}")
        if not 0 <= self.completions <= 1:
            raise ValueError(f"writing: completions is {self.completions}; wanted a share from 0 to 1")
        if self.mode not in {"answer-first", *QUESTION_FORMATS}:
            raise ValueError(f"writing: mode is {self.mode!r}; wanted answer-first, {' or '.join(QUESTION_FORMATS)}")
        if self.verification == "letters" and self.candidates > 25:
            raise ValueError(f"writing: candidates is {self.candidates}; wanted at most 25 where letters name them")
        if self.verification not in {"likelihood", "letters"}:
            raise ValueError(f"writing: verification is {self.verification!r}; wanted likelihood or letters")


@dataclass(frozen=True)
class WrittenExam:
    """The surviving questions, everything lost on the way, what it cost, and why writing stopped.

    `stopped` is empty where the wanted number was reached, else what was used up. `verifying` is the cost of a verifier
    that is not the writer.
    """

    questions: list[Question]
    dropped: list[Dropped]
    usage: ModelUsage
    stopped: str
    verifying: ModelUsage = field(default_factory=ModelUsage)


class WritingMaterial(NamedTuple):
    """What can be asked for in a corpus, and what can stand beside a key."""

    facts: Sequence[Fact]
    pool: DistractorPool


def find_material(
    chunks: Sequence[Chunk], settings: WritingSettings, *, seed: int, embed: Embed | None
) -> WritingMaterial:
    """The facts and spans of the chunks (seconds on thousands of them)."""
    return WritingMaterial(facts(chunks, per_chunk=settings.per_chunk, seed=seed), pool(chunks, embed))


class Draft(NamedTuple):
    """A stem for a fact, the text it came from, its prompt version, wrong answers to weigh, the model's own answer."""

    fact: Fact
    stem: str
    raw: str
    version: str
    wrong: tuple[str, ...] = ()
    back: RoundTrip | None = None


def write_questions(
    chunks: Sequence[Chunk],
    model: LanguageModel,
    settings: WritingSettings,
    *,
    seed: int,
    replies: ReplyStore,
    embed: Embed | None = None,
    verifier: LanguageModel | None = None,
    progress: Progress | None = None,
    filters: Mapping[str, object] | None = None,
    material: WritingMaterial | None = None,
) -> WrittenExam:
    """Write questions until `settings.questions` survive or nothing is left to ask for (`stopped` says which).

    The same chunks, settings and seed give the same exam; a run that was stopped takes what was answered from
    `replies`. `verifier` verifies in place of the writer. `embed` (texts to vectors `[n, d]`) brings wrong answers near
    the key in meaning; without it spelling decides. `progress` is called with survivors so far and wanted. `filters`
    changes the rules that single questions must pass (see `catalogue.rules_of`); `screening.write_screened` applies
    them all. `material`, by default found in the chunks, can be kept from an earlier call with the same.
    """
    cached = CachedLanguageModel(model, replies)
    report = progress or (lambda _done, _wanted: None)
    report(0, settings.questions)
    if settings.mode != "answer-first":
        order = random.Random(seed).sample(list(chunks), len(chunks))
        kept, dropped = write_free(
            order, cached, settings.questions, settings.batch, seed, report, settings.mode, filters
        )
        return WrittenExam(kept, dropped, cached.usage, _stopped(len(kept), settings, len(order), "chunks"))
    found = material or find_material(chunks, settings, seed=seed, embed=embed)
    second = CachedLanguageModel(verifier, replies) if verifier is not None else cached
    by_letters = settings.verification == "letters"
    judging = LetterVerifier(second, seed) if by_letters else LikelihoodVerifier(second, settings.thresholds)
    writer = _Writer(cached, judging, found.pool, settings, seed, arriving(filters))
    for start in range(0, len(found.facts), settings.batch):
        writer.write(found.facts[start : start + settings.batch])
        report(min(len(writer.passed), settings.questions), settings.questions)
        if len(writer.passed) >= settings.questions:
            break
    stopped = _stopped(len(writer.passed), settings, len(found.facts), "facts")
    verifying = ModelUsage() if second is cached else second.usage
    return WrittenExam(writer.finished(), writer.dropped, cached.usage, stopped, verifying)


def _stopped(done: int, settings: WritingSettings, total: int, what: str) -> str:
    return "" if done >= settings.questions else f"all {total} {what} of the corpus were used"


def _completed(fact: Fact, chosen: Mapping[str, Fact]) -> Fact | None:
    """The fact as it can be asked for by a gap: with the key the model chose, or with the one found by rule."""
    own = chosen.get(fact.span.sentence)
    return own if own is not None and own.completes else fact if fact.completes else None


def _case(draft: Draft) -> VerificationCase:
    chunk, key = draft.fact.chunk, draft.fact.span
    judged, loose = draft.version != COMPLETION_VERSION, not key.kind.startswith("number")
    statement = "" if judged else draft.fact.gapped
    return VerificationCase(chunk.title, chunk.text, draft.stem, key.text, draft.wrong, judged, loose, statement)


class _Writer:
    """The state of one exam in the making; batches are written in order, so that every run goes the same way."""

    def __init__(
        self,
        model: CachedLanguageModel,
        verifier: Verifier,
        pooled: DistractorPool,
        settings: WritingSettings,
        seed: int,
        filters: Sequence[Filter],
    ) -> None:
        self._model, self._verifier, self._pool = model, verifier, pooled
        self._settings, self._seed, self._filters = settings, seed, filters
        self.passed: list[tuple[Draft, VerificationResult]] = []
        self.dropped: list[Dropped] = []

    def write(self, batch: Sequence[Fact]) -> None:
        """Write, verify and, where the model's question failed, try again with the sentence itself as the stem."""
        drafts, found = self._asked(batch)
        done = self._verified(drafts)
        again = [own for fact in batch if fact.span.sentence not in done and (own := _completed(fact, found))]
        completed = sum(draft.version == COMPLETION_VERSION for draft, _ in self.passed)
        room = int(self._settings.completions * self._settings.questions) - completed
        stems = [(fact, completion_stem(fact.chunk.title, fact.gapped)) for fact in again[: max(room, 0)]]
        self._verified([Draft(fact, stem, fact.gapped, COMPLETION_VERSION) for fact, stem in stems])

    def finished(self) -> list[Question]:
        """The wanted number of questions, with wrong answers and positions chosen over the whole exam."""
        wanted = self._settings.questions
        for draft, verdict in self.passed[wanted:]:
            self._drop(BEYOND, draft, verdict)
        kept = self.passed[:wanted]
        # Where nothing is known of closed-book likelihoods all are tied, and lengths alone are balanced.
        items = [KeyWithDistractors(one.fact.span.text, found.closed or 0.0, found.options) for one, found in kept]
        triples = choose(items, seed=self._seed)
        questions = [self._question(*one, wrong) for one, wrong in zip(kept, triples, strict=True)]
        return list(shuffle_exam(questions, self._seed))

    def _asked(self, batch: Sequence[Fact]) -> tuple[list[Draft], dict[str, Fact]]:
        """The model's questions about the facts' sentences, and the facts with the keys it chose, by sentence."""
        prompts = [question_prompt(fact.chunk.title, fact.span.sentence) for fact in batch]
        stop = ("\n\n", "\nTopic")
        texts = self._model.replies(prompts, max_tokens=self._settings.max_tokens, stop=stop, seed=self._seed)
        drafts: list[Draft] = []
        chosen: dict[str, Fact] = {}
        for fact, raw in zip(batch, texts, strict=True):
            if isinstance(raw, NoReply):
                self.dropped.append(Dropped(f"no reply: {raw.reason}", "", fact.chunk.id))
                continue
            sentence = fact.span.sentence
            asked = read_question(raw, title=fact.chunk.title, sentence=sentence)
            own = replace(fact, span=key_span(sentence, asked.key))
            if unfit(asked.key, sentence) is None:
                chosen[sentence] = own
            if asked.reason is None:
                drafts.append(Draft(own, asked.stem, raw, QUESTION_VERSION))
            else:
                self.dropped.append(Dropped(asked.reason, raw, fact.chunk.id))
        return drafts, chosen

    def _verified(self, drafts: Sequence[Draft]) -> set[str]:
        """The sentences of the drafts that passed: read back, given wrong answers, and weighed against them."""
        ready = self._with_wrong_answers(self._read_back(drafts))
        cases = [_case(draft) for draft in ready]
        passed = set()
        for draft, verdict in zip(ready, self._verifier.verdicts(cases), strict=True):
            reason = verdict.reason or self._filters[-1](self._question(draft, verdict, draft.wrong[:3]))
            if reason is None and not hides(draft.fact.span.text, [option.text for option in verdict.options]):
                reason = MARKED
            if reason is None:
                self.passed.append((draft, verdict))
                passed.add(draft.fact.span.sentence)
            else:
                self._drop(reason, draft, verdict)
        return passed

    def _read_back(self, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts whose stem the verifier answers with the key when it reads the passage."""
        backs = round_trip([_case(one) for one in drafts], self._verifier.model, seed=self._seed)
        kept = []
        for draft, back in zip(drafts, backs, strict=True):
            if isinstance(back, NoReply):
                self._drop(f"no reply: {back.reason}", draft, None)
            elif back.agreement < self._settings.thresholds.agreement:
                self._drop(ANSWERED_OTHERWISE, draft._replace(back=back), None)
            else:
                kept.append(draft._replace(back=back))
        return kept

    def _with_wrong_answers(self, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts with candidates, but those that have too few or in whose stem a filter finds a fault."""
        wanting = [draft for draft in drafts if wants_writing(draft.fact.span.kind)]
        asked = [(draft.stem, draft.fact.span.text, draft.fact.span.sentence) for draft in wanting]
        written = dict(zip(wanting, written_answers(asked, self._model, seed=self._seed), strict=True))
        ready = []
        for draft in drafts:
            own = written.get(draft, [])
            if isinstance(own, NoReply):
                self._drop(f"no reply: {own.reason}", draft, None)
                continue
            count = self._settings.candidates - len(own)
            found = candidates(draft.fact, draft.stem, self._pool, count=count, seed=self._seed) if count > 0 else []
            wrong = list({text.lower(): text for text in [*own, *found]}.values())
            hint = echoes(draft.stem, draft.fact.span.text)
            alike = [text for text in wrong if hint <= echoes(draft.stem, text)]
            full = draft._replace(wrong=tuple(alike[: self._settings.candidates]))
            reason = TOO_FEW if len(wrong) < 3 else ECHOES if len(alike) < 3 else None
            question = self._question(full, None, full.wrong[:3])
            reason = reason or next((fault for rule in self._filters[:-1] if (fault := rule(question))), None)
            if reason is None:
                ready.append(full)
            else:
                self._drop(reason, full, None)
        return ready

    def _drop(self, reason: str, draft: Draft, verdict: VerificationResult | None) -> None:
        question = self._question(draft, verdict, draft.wrong[:3])
        self.dropped.append(Dropped(reason, draft.raw, draft.fact.chunk.id, question))

    def _question(self, draft: Draft, verdict: VerificationResult | None, wrong: Sequence[str]) -> Question:
        chunk = draft.fact.chunk
        found = verdict or VerificationResult(None)
        metadata: dict[str, object] = {
            "model": self._model.name,
            "verifier": self._verifier.model.name,
            "prompt": draft.version,
            "verification": self._verifier.version,
            "seed": self._seed,
            "title": chunk.title,
            "evidence": draft.fact.span.sentence,
            "kind": draft.fact.span.kind,
            "support": found.support,
            "lift": found.lift,
            "margin": found.margin,
            "closed_book": found.closed,
            "judgment": found.judgment,
            **({"read_back": draft.back.answer, "agreement": round(draft.back.agreement, 4)} if draft.back else {}),
            **({"letters": list(found.letters)} if found.letters else {}),
        }
        return question_about(chunk, draft.stem, (draft.fact.span.text, *wrong), 0, metadata)
