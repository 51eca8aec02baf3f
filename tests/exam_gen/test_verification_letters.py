"""Verification by letters, verification by another model, and what becomes of a request without reply."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from exam_gen import WritingSettings, write_screened
from exam_gen._prompts import LETTERS_VERSION
from exam_gen.drafting._verification import (
    AMBIGUOUS,
    KNOWN,
    UNSUPPORTED,
    LetterVerifier,
    LikelihoodVerifier,
    Thresholds,
    VerificationCase,
    read_letters,
)
from examcore import Arrival, CachedLanguageModel, Chunk, Likelihoods, NoReply, Prompt, ReplyStore
from tests.plain_words import reworded
from tests.scripted_model import ScriptedModel


@pytest.mark.parametrize(
    ("raw", "letters"),
    [
        ("B", "B"),
        (" b) ", None),
        ("B.", "B"),
        ("(B)", "B"),
        ("**B**", "B"),
        ("A, C", "AC"),
        ("A and C", "AC"),
        ("A, B, and D.", "ABD"),
        ("A) C) D)", "ACD"),
        ("The answer is C.", "C"),
        ("Answer: D", "D"),
        ("A) the boiler\nC) the pump", "AC"),
        ("none", ""),
        ("None.", ""),
        ("None of the candidates is right", ""),
        ("", None),
        ("A boiler has no letter", None),
        ("E", None),
        ("I do not know", None),
    ],
)
def test_letters_are_read_and_prose_is_not_taken_for_them(raw: str, letters: str | None) -> None:
    assert read_letters(raw, 4) == letters


CASE = VerificationCase(
    "Engines", "The boiler was tested in Lisbon.", "Where was the boiler tested?", "Lisbon", tuple("VWXYZ")
)


class Marker(ScriptedModel):
    """Picks the given candidates, by their texts, with the passage and without."""

    name = "marker"

    def __init__(self, opened: Sequence[str] | NoReply, closed: Sequence[str] | NoReply) -> None:
        super().__init__()
        self.said = {True: opened, False: closed}

    def replies(self, prompts: Sequence[Prompt], **_: Any) -> Iterator[Arrival[str]]:
        self.asked += prompts
        for place, prompt in enumerate(prompts):
            picked = self.said['"""' in prompt.user]
            found = dict(re.findall(r"^([A-Z])\) (.*)$", prompt.user, re.MULTILINE))
            texts = {text: letter for letter, text in found.items()}
            value = picked if isinstance(picked, NoReply) else ", ".join(texts[one] for one in picked) or "none"
            yield Arrival(place, value, 1, 1)

    def likelihoods(self, asked: Sequence[tuple[Prompt, tuple[str, ...]]]) -> Iterator[Arrival[Likelihoods]]:
        yield from (Arrival(place, NoReply("gone"), 0, 0) for place in range(len(asked)))

    def generate(self, *_: Any, **__: Any) -> list[str]:
        raise AssertionError("asked as a batch")

    def log_likelihoods(self, *_: Any) -> Likelihoods:
        raise AssertionError("asked alone")


@pytest.mark.parametrize(
    ("opened", "closed", "reason", "letters", "options"),
    [
        (["Lisbon"], ["V"], None, ("A", "B"), "VWXYZ"),
        (["Lisbon", "W"], [], None, ("AC", ""), "VXYZ"),
        (["V"], ["V"], UNSUPPORTED, ("B", ""), "WXYZ"),
        ([], [], UNSUPPORTED, ("", ""), "VWXYZ"),
        (["Lisbon"], ["Lisbon"], KNOWN, ("A", "A"), "VWXYZ"),
        (["Lisbon", "V", "W", "X"], [], AMBIGUOUS, ("ABCD", ""), "YZ"),
        (NoReply("gone"), [], "no reply: gone", None, ""),
        (["Lisbon"], NoReply("gone"), "no reply: gone", None, ""),
    ],
)
def test_the_key_is_picked_with_the_passage_and_not_without(
    opened: Any, closed: Any, reason: str | None, letters: tuple[str, str] | None, options: str
) -> None:
    with ReplyStore(":memory:") as store:
        marker = Marker(opened, closed)
        judge = LetterVerifier(CachedLanguageModel(marker, store), seed=1)
        (verdict,) = judge.verdicts([CASE], judge.keys([CASE]))
    assert (verdict.reason, verdict.letters) == (reason, letters)
    assert "".join(option.text for option in verdict.options) == options
    assert verdict.support is verdict.closed is None
    assert len(marker.asked) == (1 if reason == UNSUPPORTED or isinstance(opened, NoReply) else 2)


def test_candidates_stand_in_an_order_that_depends_on_the_question() -> None:
    with ReplyStore(":memory:") as store:
        marker = Marker(["Lisbon"], ["V"])
        cases = [CASE._replace(stem=f"Where was boiler {number} tested?") for number in range(12)]
        judge = LetterVerifier(CachedLanguageModel(marker, store), seed=1)
        judge.verdicts(cases, judge.keys(cases))
    places = {re.search(r"^([A-Z])\) Lisbon$", p.user, re.MULTILINE).group(1) for p in marker.asked}  # type: ignore[union-attr]
    assert len(places) > 2


def test_likelihoods_without_reply_are_a_reason_to_drop() -> None:
    with ReplyStore(":memory:") as store:
        verifier = LikelihoodVerifier(CachedLanguageModel(Marker([], []), store), Thresholds())
        assert [one.reason for one in verifier.verdicts([CASE], verifier.keys([CASE]))] == ["no reply: gone"]


def chunks() -> list[Chunk]:
    texts = [
        f"The {part} of northern works was tested in {place} by a company of engineers. "
        f"It was built with {number} valves of brass for the {part} house.\n"
        for number, (part, place) in enumerate(
            zip(
                ["boiler", "governor", "flywheel", "injector", "manifold", "regulator"],
                ["Lisbon", "Bergen", "Odessa", "Cardiff", "Gdansk", "Trieste"],
                strict=True,
            ),
            130,
        )
    ]
    return [Chunk(f"d{n}#0", f"d{n}", text, 0, len(text), f"Engine {n}") for n, text in enumerate(texts)]


class Silent(Marker):
    """Gives no reply at all."""

    def replies(self, prompts: Sequence[Prompt], **_: Any) -> Iterator[Arrival[str]]:
        yield from (Arrival(place, NoReply("status 500, 3 attempts"), 0, 0) for place in range(len(prompts)))


@pytest.mark.parametrize("mode", ["answer-first", "paper", "json"])
def test_a_writer_without_reply_loses_its_prompts_and_says_so(mode: Any) -> None:
    with ReplyStore(":memory:") as store:
        settings = WritingSettings(questions=3, mode=mode, completions=0)
        written = write_screened(chunks(), Silent([], []), settings, seed=0, replies=store)
        assert len(store) == 0
    assert written.questions == []
    assert {one.reason for one in written.dropped} == {"no reply: status 500, 3 attempts"}
    assert all(one.chunk_id for one in written.dropped)


def completed(prompt: Prompt) -> str:
    """What stands in the passage at the gap of the statement that is to be completed."""
    before, after = re.search(r'statement "(.*)____(.*)"\?', prompt.user).groups()
    return re.search(f"{re.escape(before)}(.*?){re.escape(after)}", prompt.user).group(1)


def test_the_verifier_is_named_and_its_cost_counted_apart() -> None:
    class Writer(Silent):
        name = "writer"

        def replies(self, prompts: Sequence[Prompt], **_: Any) -> Iterator[Arrival[str]]:
            for place, prompt in enumerate(prompts):
                plain = reworded(prompt)
                yield Arrival(place, NoReply("silent") if plain is None else plain, 0, 0)

    class Judge(Marker):
        def replies(self, prompts: Sequence[Prompt], **_: Any) -> Iterator[Arrival[str]]:
            for place, prompt in enumerate(prompts):
                found = re.findall(r"^([A-Z])\) (.*)$", prompt.user, re.MULTILINE)
                passage = prompt.user.split('"""')[1] if '"""' in prompt.user else ""
                inside = [letter for letter, text in found if text in passage]
                said = ", ".join(inside) or ("none" if found else reworded(prompt) or completed(prompt))
                yield Arrival(place, said, 5, 2)

    with ReplyStore(":memory:") as store:
        settings = WritingSettings(questions=2, verification="letters", completions=1.0)
        written = write_screened(chunks(), Writer([], []), settings, seed=0, replies=store, verifier=Judge([], []))
    assert written.questions
    for question in written.questions:
        assert question.metadata["model"] == "writer"
        assert question.metadata["verifier"] == "marker"
        assert question.metadata["verification"] == LETTERS_VERSION
    assert written.usage.prompt_tokens == 0
    assert written.verifying.calls > 0
    assert written.verifying.prompt_tokens == 5 * written.verifying.calls


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"verification": "oracle"}, "wanted likelihood or letters"),
        ({"verification": "letters", "candidates": 26}, "25"),
    ],
)
def test_settings_of_verification_out_of_range_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WritingSettings(**given)
