"""Judges that are models: a language model that is asked yes or no, and a model of textual entailment.

ARGUE leaves open who answers its questions and names both as candidates (Mayfield et al. 2024, sections 4.3 and 4.5).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from examcore import CachedLanguageModel, Likelihoods, NoReply, Prompt
from grading.reports._judging_material import Ask, Decision, ReportMaterial

VERSION = "argue-1"
"""Of the prompts below; it is part of every prompt's system text and so of the key that replies are kept under."""
SYSTEM = f"You check sentences of reports against rules and sources. Reply Yes or No. ({VERSION})"
PROMPTS = {
    "supported": (
        'Source:\n"""\n{document}\n"""\n\nSentence: {sentence}\n\n'
        "Does the source say what the sentence says? Yes, if reading the source alone shows that everything in the "
        "sentence is so; No, if any part of it is missing there or said otherwise. Reply Yes or No."
    ),
    "answers": (
        "Sentence: {sentence}\nQuestion: {question}\nAcceptable answer: {answer}\n\n"
        "Does the sentence answer the question with this answer, in whatever words? Reply Yes or No."
    ),
    "answers with an absence": (
        "Sentence: {sentence}\nQuestion: {question}\n\n"
        "Does the sentence say that no answer to this very question is known or was found? Reply Yes or No."
    ),
    "claims_absence": (
        "Sentence: {sentence}\n\n"
        "Does the sentence say that some information is not available, not known or was not found? Reply Yes or No."
    ),
    "needs_citation": (
        "{request}{earlier}Sentence: {sentence}\n\n"
        "Does the sentence need a citation of a source? No, if it only introduces, repeats what was asked or sums up "
        "cited sentences; Yes, if it states facts of its own. Reply Yes or No."
    ),
    "repeats": (
        'Report so far:\n"""\n{before}\n"""\n\nNext sentence: {sentence}\n\n'
        "Does the report so far say already what the next sentence claims? Reply Yes or No."
    ),
}
"""What a language model is asked about a sentence of a report, one prompt for each of ARGUE's questions."""
WORDS = (" Yes", " No")
REPLY_TOKENS = 8
"""Room for yes or no and a mark around it."""
REPLY = re.compile(r"^[\W_]*(?P<word>yes|no)\b(?!['’]|\s*(?:or|/)\s*no\b)", re.IGNORECASE)
HIDDEN_WORDS = 16
"""Tokens that a chat template may add to a prompt."""

LEAST_ROOM = 8
"""Tokens of a premise that a model must have room for."""

WINDOW, OVERLAP = 200, 50
"""Words of a window of a document, and of the overlap of two windows."""

DecidesBy = Literal["likelihood", "reply"]
Entails = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""Pairs of premise and hypothesis to probabilities of entailment."""


class LanguageModelJudge:
    """Asks a language model one yes/no question at a time; replies are kept in the model's store, so runs go on.

    `by` is `likelihood`, where the likelier of "Yes" and "No" decides, or `reply`, where the first word of what the
    model writes must be one of them. What is neither is left open, and so is support by a document without text.
    `unparsed` counts replies that are neither, `cut` documents that were too long for the model and lost their ends.
    """

    def __init__(self, model: CachedLanguageModel, material: ReportMaterial, *, by: DecidesBy = "likelihood") -> None:
        self._model, self._material, self._by = model, material, by
        self.unparsed: Counter[str] = Counter()
        self.cut: set[str] = set()

    def decide(self, asks: Sequence[Ask]) -> list[Decision]:
        """One decision per question; its reason is the odds, or the reply."""
        known = {at: settled for at, ask in enumerate(asks) if (settled := _settled(ask, self._material)) is not None}
        open_ = [at for at in range(len(asks)) if at not in known]
        prompts = [self._prompt(asks[at]) for at in open_]
        found = dict(zip(open_, self._asked(prompts) if prompts else [], strict=True))
        return [known[at] if at in known else found[at] for at in range(len(asks))]

    def log_odds(self, asks: Sequence[Ask]) -> list[float | NoReply]:
        """The log-odds of Yes for each question, in nats, or why there are none."""
        return [one if isinstance(one, NoReply) else log_odds(one) for one in self._scored(map(self._prompt, asks))]

    def _scored(self, prompts: Iterable[Prompt]) -> list[Likelihoods | NoReply]:
        return self._model.all_log_likelihoods([(one, WORDS) for one in prompts])

    def _asked(self, prompts: Sequence[Prompt]) -> list[Decision]:
        if self._by == "likelihood":
            return [_likelier(one) for one in self._scored(prompts)]
        replies = self._model.replies(prompts, max_tokens=REPLY_TOKENS, stop=("\n",))
        decisions = [
            read_reply(one) if isinstance(one, str) else Decision(None, one.reason, failed=True) for one in replies
        ]
        self.unparsed.update(
            str(reply).strip() for reply, one in zip(replies, decisions, strict=True) if one.verdict is None
        )
        return decisions

    def _prompt(self, ask: Ask) -> Prompt:
        """The prompt, with as much of a document as the model can read beside it."""
        room = self._model.context_tokens - REPLY_TOKENS - HIDDEN_WORDS
        text = self._material.documents.get(ask.document, "")
        found = _prompt_for(ask, self._material, text)
        while text and (size := self._model.count_tokens(SYSTEM + found.user + found.reply)) > room:
            self.cut.add(ask.document)
            text = text[: min(int(len(text) * room / size), len(text) - 1)]
            found = _prompt_for(ask, self._material, text)
        return found


def _prompt_for(ask: Ask, material: ReportMaterial, document: str) -> Prompt:
    """The prompt of a question, with the document's text where it asks about one."""
    before, request = material.before(ask), material.requests.get(ask.topic, "")
    nugget = material.nugget(ask) if ask.kind == "answers" else None
    is_absent = nugget is not None and ask.answer < 0
    text = PROMPTS["answers with an absence" if is_absent else ask.kind].format(
        sentence=material.sentence(ask),
        document=document,
        question=nugget.question if nugget else "",
        answer=nugget.answers[ask.answer].text if nugget and not is_absent else "",
        request=f"The report was asked for so: {request}\n\n" if request else "",
        earlier="".join(f"Earlier in the report: {one}\n" for one in before[-5:]),
        before="\n".join(before) or "(nothing)",
    )
    return Prompt(text, system=SYSTEM, reply="Reply:")


class EntailmentJudge:
    """Decides by textual entailment what that can decide; the rest stays open.

    A document supports a sentence that one of its windows entails; a sentence answers a nugget when it entails question
    and answer together, and repeats a claim that a sentence before it entails. Whether a citation is needed and whether
    an absence is claimed are no questions of entailment, but for a sentence that cites something: it is judged by that.
    """

    def __init__(self, entails: Entails, material: ReportMaterial, *, threshold: float = 0.5) -> None:
        self._entails, self._material, self._threshold = entails, material, threshold

    def decide(self, asks: Sequence[Ask]) -> list[Decision]:
        """One decision per question; its reason is the highest probability of entailment."""
        settled = [_settled(one, self._material) or self._left_open(one) for one in asks]
        pairs = [[] if known else self._pairs(one) for known, one in zip(settled, asks, strict=True)]
        flat = [pair for each in pairs for pair in each]
        scores = iter(self._entails(flat) if flat else ())
        found: list[Decision] = []
        for known, each in zip(settled, pairs, strict=True):
            best = max((float(next(scores)) for _ in each), default=0.0)
            found.append(known or Decision(best >= self._threshold, f"entailed with probability {best:.2f}"))
        return found

    def _left_open(self, ask: Ask) -> Decision | None:
        if ask.kind in {"needs_citation", "claims_absence"} or (ask.kind == "answers" and ask.answer < 0):
            return Decision(None, "no question of entailment")
        return None

    def _pairs(self, ask: Ask) -> list[tuple[str, str]]:
        sentence = self._material.sentence(ask)
        if ask.kind == "supported":
            return [(one, sentence) for one in _windows(self._material.documents[ask.document])]
        if ask.kind == "repeats":
            return [(one, sentence) for one in self._material.before(ask)]
        nugget = self._material.nugget(ask)
        return [(sentence, f"{nugget.question} {nugget.answers[ask.answer].text}")]


def cross_encoder(name: str) -> Entails:
    """A cross-encoder for natural language inference, from a hub name or a folder that sentence-transformers reads.

    One of its labels must name entailment. Raises `OSError` in one line when it cannot be loaded and `ValueError` when
    it is no model of entailment.
    """
    import numpy as np
    import sentence_transformers

    from rag import hub_offline, quiet_libraries

    try:
        with quiet_libraries():
            model = sentence_transformers.CrossEncoder(name, local_files_only=hub_offline(name))
    except (OSError, ValueError, RuntimeError) as error:
        first = str(error).strip().partition("\n")[0]
        raise OSError(f"entailment model {name}: cannot be loaded: {first}") from error
    labels: Mapping[int, str] = model.config.id2label
    at = entailment_label(labels, name)
    if not model.tokenizer.is_fast:
        raise ValueError(f"entailment model {name}: its tokenizer gives no offsets; wanted one with a tokenizer.json")

    def entails(pairs: Sequence[tuple[str, str]]) -> list[float]:
        parts = [premise_parts(model.tokenizer, *one, model.max_seq_length) for one in pairs]
        flat = [(part, hypothesis) for some, (_, hypothesis) in zip(parts, pairs, strict=True) for part in some]
        logits = np.asarray(model.predict(flat, show_progress_bar=False, activation_fn=_as_they_are()))
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        found = iter(odds[:, at] / odds.sum(axis=1))
        return [max(float(next(found)) for _ in some) for some in parts]

    return entails


def _windows(text: str) -> list[str]:
    words = text.split()
    starts = range(0, max(len(words) - OVERLAP, 1), WINDOW - OVERLAP)
    return [" ".join(words[start : start + WINDOW]) for start in starts]


def premise_parts(tokenizer: Any, premise: str, hypothesis: str, longest: int) -> list[str]:
    """The premise whole, or in overlapping parts that each fit the model's `longest` tokens beside the hypothesis.

    Without them the model would not see the end of a text that is longer than itself. Raises `ValueError` for a
    hypothesis that leaves no room.
    """
    if len(tokenizer(premise, hypothesis)["input_ids"]) <= longest:
        return [premise]
    taken = len(tokenizer(hypothesis, add_special_tokens=False)["input_ids"])
    room = longest - taken - tokenizer.num_special_tokens_to_add(pair=True)
    if room < LEAST_ROOM:
        raise ValueError(
            f"text {hypothesis[:40]!r}: {taken} tokens leave {max(room, 0)} of {longest} for a premise; "
            f"wanted at least {LEAST_ROOM}"
        )
    offsets = tokenizer(premise, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    step = room - room // 4
    starts = range(0, max(len(offsets) - room // 4, 1), step)
    return [premise[offsets[start][0] : offsets[min(start + room, len(offsets)) - 1][1]] for start in starts]


def entailment_label(labels: Mapping[int, str], name: str) -> int:
    """The index of the label for entailment; `ValueError` naming the labels when there is none."""
    found = [
        at for at, label in labels.items() if label.lower().replace("-", "_") in {"entailment", "entail", "entails"}
    ]
    if len(found) != 1 or len(labels) < 2:
        shown = ", ".join(labels.values())
        raise ValueError(f"entailment model {name}: its labels are {shown}; wanted one of them to be 'entailment'")
    return found[0]


def read_reply(reply: str) -> Decision:
    """The verdict of a written reply: its first word, `Yes` or `No` in any case and with any marks, or left open."""
    found = REPLY.match(reply)
    text = " ".join(reply.split())[:40]
    if found is None:
        return Decision(None, f"reply {text!r} is neither yes nor no")
    return Decision(found["word"].lower() == "yes", f"reply {text!r}")


def _settled(ask: Ask, material: ReportMaterial) -> Decision | None:
    """What needs no model: a sentence that cites is judged by its citations, and the first repeats nothing."""
    if ask.kind == "claims_absence" and material.is_cited(ask):
        return Decision(False, "it cites, and is judged by that")
    if ask.kind == "repeats" and not material.before(ask):
        return Decision(False, "it is the first sentence")
    if ask.kind == "supported" and not material.documents.get(ask.document, "").strip():
        return Decision(None, f"no text of document {ask.document!r}")
    return None


def _likelier(found: Likelihoods | NoReply) -> Decision:
    if isinstance(found, NoReply):
        return Decision(None, found.reason, failed=True)
    lead = log_odds(found)
    if not math.isfinite(lead) or lead == 0:
        return Decision(None, "neither Yes nor No is the likelier")
    return Decision(lead > 0, f"probability of Yes {1 / (1 + math.exp(-max(min(lead, 700.0), -700.0))):.2f}")


def log_odds(found: Likelihoods) -> float:
    """How much likelier Yes is than No, in nats."""
    return found.sums[0] - found.sums[1]


def _as_they_are() -> object:
    """Logits as the model gives them: by default one kind of cross-encoder applies a function, another does not."""
    import torch

    return torch.nn.Identity()
