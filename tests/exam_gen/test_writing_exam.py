import json
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from exam_gen import WritingSettings, WrittenExam, exam_statistics, write_screened
from exam_gen._exam_writer import SETTLED, TOO_FEW
from exam_gen._prompts import COMPLETION_VERSION, PAPER_VERSION, QUESTION_VERSION
from exam_gen.drafting._verification import AMBIGUOUS, KNOWN, LikelihoodVerifier, Thresholds, VerificationCase
from exam_gen.rules import rule_of
from exam_gen.rules._rule import BEYOND
from examcore import CachedLanguageModel, Chunk, Exam, Likelihoods, Prompt, ReplyStore
from tests.plain_words import gap_of, reworded
from tests.scripted_model import ScriptedModel

PARTS = ["boiler", "condenser", "governor", "flywheel", "injector", "manifold", "regulator", "separator"]
PLACES = ["Lisbon", "Trieste", "Bergen", "Odessa", "Cardiff", "Rotterdam", "Marseille", "Gdansk"]


def word(number: int) -> str:
    """A word of its own for each number, so that no two stems are near-duplicates."""
    parts = ["ba", "do", "fi", "gu", "ke", "lo", "mi", "na"]
    return parts[number % 8] + parts[number // 8 % 8] + parts[(number * 5 + 3) % 8] + "rn"


def corpus(size: int = 24) -> list[Chunk]:
    chunks = []
    for number in range(size):
        part, place = PARTS[number % 8], PLACES[(number * 3 + number // 8) % 8]
        own = [word(number * 6 + i) for i in range(6)]
        text = (
            f"The {part} of {own[0]} and {own[1]} was tested by a {own[2]} company in {place} with great care. "
            f"During a {own[3]} trial one {own[4]} {part} reached a {own[5]} pressure of {130 + 7 * number} degrees.\n"
        )
        chunks.append(Chunk(f"d{number}#0", f"d{number}", text, 0, len(text), f"Engine {number}", PARTS[number % 8]))
    return chunks


def near(prompt: Prompt) -> str:
    """The sentence of the prompt's passage that shares the most words with its question."""
    passage = prompt.user.split('"""')[1] if '"""' in prompt.user else ""
    words = set(re.findall(r"\w+", re.search(r"Question: (.*)", prompt.user).group(1)))
    sentences = [one for one in passage.split(". ") if one.strip()]
    return max(sentences, key=lambda one: len(words & set(re.findall(r"\w+", one))), default="")


class Scribe(ScriptedModel):
    """Asks for the place or the degrees of a sentence, reads them back, and finds what stands there likely."""

    name = "scribe"
    trusting = True

    def __init__(self, bad: str = "", die_after: int | None = None) -> None:
        super().__init__()
        self.bad, self.die_after = bad, die_after

    @property
    def calls(self) -> int:
        return len(self.batches)

    def keep(self, prompts):
        super().keep(prompts)
        if self.die_after is not None and self.calls > self.die_after:
            raise KeyboardInterrupt

    def reply_to(self, prompt: Prompt) -> str:
        if (plain := reworded(prompt)) is not None:
            return plain
        if (gap := gap_of(prompt)) is not None:
            return " a statement and no question." if self.bad else f" What fills: {gap[0].rstrip('.')}?"
        if "Right answer: " in prompt.user:
            return self._wrong(prompt.user.rsplit("Right answer: ", 1)[1])
        if '"""' in prompt.user:
            return self._answer(near(prompt))
        sentence = prompt.user.rsplit("Sentence: ", 1)[1].split("\n")[0]
        if self.bad and self.bad in sentence:
            return " a statement and no question."
        key = self._answer(sentence)
        return f" What answer goes with: {sentence.strip().rstrip('.').replace(key, 'what')}?\nAnswer: {key}"

    def _answer(self, sentence: str) -> str:
        return re.search(r"\d+ degrees|(?<=company in )\w+", sentence).group()

    def _wrong(self, key: str) -> str:
        return "; ".join(key[::-1].replace(" ", letter) for letter in "xyz")

    def log_likelihoods(self, prompt, continuations):
        self.keep([prompt])
        if prompt.user.startswith("Write one sentence about"):
            counts = tuple(len(text.split()) for text in continuations)
            return Likelihoods(tuple(-2.0 * count for count in counts), counts, 6)
        if tuple(continuations) == (" Yes", " No"):
            proposed = re.findall(r"Proposed answer: (.*)", prompt.user)[-1]
            right = self.trusting and proposed in near(prompt)
            return Likelihoods((-0.1, -5.0) if right else (-5.0, -0.1), (1, 1), 20)
        sums = [-0.2 if text.strip() in near(prompt) else -8.0 - len(text) / 50 for text in continuations]
        return Likelihoods(tuple(sums), tuple(len(text.split()) for text in continuations), 20)


def write(model=None, *, store=":memory:", chunks=None, seed=3, embed=None, **settings) -> WrittenExam:
    options = {"questions": 12, "batch": 4} | settings
    with ReplyStore(store) as replies:
        return write_screened(
            chunks or corpus(), model or Scribe(), WritingSettings(**options), seed=seed, replies=replies, embed=embed
        )


def test_the_wanted_number_of_questions_is_written():
    written = write()
    assert len(written.questions) == 12
    assert not written.stopped
    assert len(Exam(tuple(written.questions))) == 12


def test_a_corpus_that_runs_out_says_so():
    written = write(questions=500)
    assert 0 < len(written.questions) < 500
    assert re.fullmatch(r"all \d+ facts of the corpus were used", written.stopped)


def test_keys_stand_in_the_passage_and_not_in_the_stem():
    for question in write().questions:
        assert question.answer in question.context
        assert question.answer in question.metadata["evidence"]
        assert not re.search(rf"(?<!\w){re.escape(question.answer)}(?!\w)", question.stem)


def test_wrong_answers_are_absent_from_the_key_sentence():
    for question in write().questions:
        wrong = [text for text in question.choices if text != question.answer]
        assert len(set(question.choices)) == 4
        assert not any(text in question.metadata["evidence"] for text in wrong)


def test_the_same_seed_gives_the_same_exam_and_another_seed_another():
    first, second, other = write(), write(), write(seed=4)
    assert Exam(tuple(first.questions)).hash == Exam(tuple(second.questions)).hash
    assert Exam(tuple(first.questions)).hash != Exam(tuple(other.questions)).hash


def test_every_position_holds_equally_many_keys():
    places = [question.key for question in write(questions=16).questions]
    assert [places.count(place) for place in range(4)] == [4, 4, 4, 4]


def test_the_longest_choice_finds_about_a_quarter_of_the_keys():
    shares = []
    for question in write(questions=16).questions:
        lengths = [len(text) for text in question.choices]
        shares.append((len(question.answer) == max(lengths)) / lengths.count(max(lengths)))
    assert abs(sum(shares) / len(shares) - 0.25) < 0.13


def test_a_second_run_asks_the_model_nothing(tmp_path):
    first = write(store=tmp_path / "replies.sqlite")
    second = write(Scribe(die_after=0), store=tmp_path / "replies.sqlite")
    assert second.questions == first.questions
    assert second.dropped == first.dropped
    assert second.usage.cached == second.usage.calls == first.usage.calls
    assert first.usage.cached == 0
    assert second.usage.prompt_tokens == first.usage.prompt_tokens > 0
    assert second.usage.written_tokens == first.usage.written_tokens > 0


@pytest.mark.parametrize("calls", [0, 1, 2, 5, 9, 17])
def test_a_run_stopped_after_any_call_ends_with_the_same_exam(tmp_path, calls):
    undisturbed = write()
    with pytest.raises(KeyboardInterrupt):
        write(Scribe(die_after=calls), store=tmp_path / "replies.sqlite")
    resumed = write(store=tmp_path / "replies.sqlite")
    assert resumed.questions == undisturbed.questions
    assert resumed.dropped == undisturbed.dropped


def test_a_killed_process_leaves_whole_batches(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import importlib.util, sys, time
            sys.path.insert(0, {str(Path(__file__).parents[2])!r})
            spec = importlib.util.spec_from_file_location("shared", {__file__!r})
            shared = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(shared)
            class Slow(shared.Scribe):
                def _count(self):
                    time.sleep(0.02)
            shared.write(Slow(), store={str(tmp_path / "replies.sqlite")!r})
            """
        )
    )
    undisturbed = write()
    store = tmp_path / "replies.sqlite"
    job = subprocess.Popen([sys.executable, str(script)])
    for _ in range(600):
        time.sleep(0.05)
        if store.exists() and store.stat().st_size and _rows(store) >= 8:
            break
    job.send_signal(signal.SIGKILL)
    job.wait()
    assert _rows(store) >= 8
    assert write(store=store).questions == undisturbed.questions


def _rows(path: Path) -> int:
    with ReplyStore(path) as store:
        return len(store)


def test_a_stem_that_failed_is_replaced_by_a_completion_up_to_a_share():
    written = write(Scribe(bad="company"), completions=0.1, questions=30)
    versions = [question.metadata["prompt"] for question in written.questions]
    assert versions.count(COMPLETION_VERSION) == 3
    assert versions.count(QUESTION_VERSION) == len(versions) - 3 > 9
    assert any(one.reason == "stem is not a question" for one in written.dropped)
    assert COMPLETION_VERSION not in [q.metadata["prompt"] for q in write(Scribe(bad="a"), completions=0).questions]


def test_facts_are_asked_about_otherwise_only_when_all_were_asked_about():
    def asked(questions):
        model = Scribe(bad="company")
        write(model, questions=questions)
        return [gap_of(batch[0]) is not None for batch in model.batches if batch[0].user.startswith("Topic:")]

    assert not any(asked(12))
    assert sorted(asked(40)) == asked(40)
    assert any(asked(40))


def test_every_loss_names_its_chunk_and_its_reason():
    written = write(Scribe(bad="company"), completions=0, questions=6, batch=8)
    assert {one.reason for one in written.dropped} >= {"stem is not a question"}
    assert all(one.chunk_id and one.raw for one in written.dropped)
    beyond = [one for one in written.dropped if one.reason == BEYOND]
    assert all(one.question is not None for one in beyond)


def test_metadata_names_the_verifier_and_survives_json():
    for question in write().questions:
        assert question.metadata["verifier"] == question.metadata["model"] == "scribe"
        assert json.loads(json.dumps(dict(question.metadata))) == dict(question.metadata)
        assert question.metadata["lift"] > 0


def test_stems_name_their_document():
    for question in write().questions:
        assert question.metadata["title"].lower() in question.stem.lower()


def test_progress_ends_at_the_wanted_number():
    seen = []
    with ReplyStore(":memory:") as replies:
        settings = WritingSettings(questions=6, batch=4)
        write_screened(corpus(), Scribe(), settings, seed=0, replies=replies, progress=seen.append)
    assert seen[-1] == (6, 6, "", "")
    assert [now.done for now in seen] == sorted(now.done for now in seen)
    doing = {now.doing.split(" ")[0] for now in seen if now.doing}
    assert doing == {"asking", "reading", "judging", "wording", "finding", "weighing"}
    told = [now for now in seen if now.newest]
    assert [now.done for now in told] == sorted({now.done for now in told}), "once each"
    assert "?" in told[0].newest


class Unsure(Scribe):
    """Finds every answer about a governor as likely as the key."""

    def log_likelihoods(self, prompt, continuations):
        if "governor" in prompt.user and tuple(continuations) != (" Yes", " No"):
            return Likelihoods((-0.2,) * len(continuations), (1,) * len(continuations), 5)
        return super().log_likelihoods(prompt, continuations)


def test_what_fails_by_its_choices_alone_keeps_a_query():
    written = write(Unsure(), questions=30)
    lost = [one.question for one in written.dropped if one.question is not None and one.question.queries]
    assert lost
    assert {one.reason for one in written.dropped if one.question in lost} <= {KNOWN, AMBIGUOUS}
    told = [one.metadata["evidence"] for one in (*written.questions, *lost)]
    assert len(told) == len(set(told))
    for one in written.questions:
        asked = [query for query in one.queries if query.kind == "question"]
        assert 1 <= len(asked) <= 2, "one about the fact, one about the passage"
        kinds = ["question", "keywords", "typos"]
        assert [query.kind for query in one.queries] == [kind for kind in kinds for _ in asked]
    for one in lost:
        assert [query.kind for query in one.queries] == ["question", "keywords", "typos"], "one about the fact"


def test_few_wrong_answers_drop_a_question_before_its_passage_is_read():
    class Poor(Scribe):
        def _wrong(self, key: str) -> str:
            return "none"

    few = [replace(one, text=one.text.split("\n")[0]) for one in corpus(3)]
    model = Poor()
    written = write(model, chunks=few)
    assert {one.reason for one in written.dropped} >= {TOO_FEW}
    assert not any('"""' in prompt.user for prompt in model.asked)


def test_what_the_model_gets_wrong_tests_no_retrieval():
    class Doubting(Scribe):
        trusting = False

    assert not any(one.question and one.question.queries for one in write(Doubting()).dropped)


def test_no_more_questions_of_a_passage_stay_than_wanted():
    chunks = corpus(6)
    written = write(chunks=chunks, questions=12, per_chunk=1)
    counts = Counter(one.chunk_id for one in written.questions)
    assert set(counts.values()) == {1}
    assert SETTLED in {one.reason for one in written.dropped}


def test_embeddings_decide_which_wrong_answers_come_near():
    def embed(texts):
        return np.array([[1.0, float(len(text)), float(sum(map(ord, text)) % 7)] for text in texts])

    assert write(embed=embed).questions != write().questions


def test_a_passage_that_supports_nothing_yields_nothing():
    class Blind(Scribe):
        def log_likelihoods(self, prompt, continuations):
            if tuple(continuations) == (" Yes", " No"):
                return super().log_likelihoods(prompt, continuations)
            return Likelihoods((-9.0,) * len(continuations), (1,) * len(continuations), 5)

    written = write(Blind())
    assert written.questions == []
    assert "key not supported by the passage" in {one.reason for one in written.dropped}


def test_a_key_that_is_judged_incomplete_is_dropped_with_what_was_measured():
    class Doubter(Scribe):
        trusting = False

    written = write(Doubter(), completions=0)
    assert written.questions == []
    doubted = [one.question for one in written.dropped if one.reason == "key judged wrong or incomplete"]
    assert doubted
    assert {question.metadata["judgment"] for question in doubted} == {-4.9}


@pytest.mark.parametrize(("loose", "kept"), [(True, ["cold", "dry", "old"]), (False, ["wet", "cold", "dry", "old"])])
def test_a_wrong_answer_judged_nearly_as_right_as_a_loose_key_is_left_out(loose, kept):
    class Judge(Scribe):
        def log_likelihoods(self, prompt, continuations):
            if tuple(continuations) != (" Yes", " No"):
                return super().log_likelihoods(prompt, continuations)
            proposed = re.findall(r"Proposed answer: (.*)", prompt.user)[-1]
            return Likelihoods({"damp": (0.0, -3.0), "wet": (0.0, -2.0)}.get(proposed, (0.0, -1.5)), (1, 1), 20)

    asked = VerificationCase(
        "Air", "The air was damp. ", "How was the air?", "damp", ("wet", "cold", "dry", "old"), loose=loose
    )
    with ReplyStore(":memory:") as store:
        judge = LikelihoodVerifier(CachedLanguageModel(Judge(), store), Thresholds())
        (verdict,) = judge.verdicts([asked], judge.keys([asked]))
    assert verdict.reason is None
    assert [option.text for option in verdict.options] == kept


@pytest.mark.parametrize(
    ("tempting", "reason"),
    [(("wet", "cold", "dry", "old"), None), (("old",), None), ((), "key guessed without the passage")],
)
def test_a_key_that_a_reader_of_the_choices_alone_would_take_is_dropped(tempting, reason):
    class Guesser(Scribe):
        def log_likelihoods(self, prompt, continuations):
            if not prompt.user.endswith("guess if you must."):
                return super().log_likelihoods(prompt, continuations)
            assert "The air was damp" not in prompt.user
            shown = dict(re.findall(r"([A-Z])\) (.*)", prompt.user))
            # The first letter is liked better, whatever it names: in two orders that comes to each choice alike.
            sums = [3.0 * (shown[one.strip()] in {"damp", *tempting}) - 1.5 * ord(one[1]) for one in continuations]
            return Likelihoods(tuple(sums), (1,) * len(sums), 20)

    asked = VerificationCase(
        "Air", "The air was damp. ", "How was the air?", "damp", ("wet", "cold", "dry", "old"), loose=False
    )
    with ReplyStore(":memory:") as store:
        judge = LikelihoodVerifier(CachedLanguageModel(Guesser(), store), Thresholds(guess=0.7))
        (verdict,) = judge.verdicts([asked], judge.keys([asked]))
    assert verdict.reason == reason
    assert verdict.guess == (0.0 if tempting else 3.0)
    assert [option.text for option in verdict.options if option.tempting] == list(tempting)


@pytest.mark.parametrize(
    ("statement", "reason", "kept"),
    [
        ("The air was ____ all day.", None, ["wet", "cold", "dry"]),
        ("The wind made ____ of it.", "wrong answers do not fit the statement", ["wet", "cold"]),
        ("", None, ["wet", "cold", "dry", "ten lakes"]),
    ],
)
def test_a_wrong_answer_that_makes_a_completed_statement_unlikely_is_left_out(statement, reason, kept):
    class Reader(Scribe):
        def log_likelihoods(self, prompt, continuations):
            if not prompt.user.startswith("Write one sentence about Air"):
                return super().log_likelihoods(prompt, continuations)
            odd = {"The air was ten lakes all day.", "The wind made ten lakes of it.", "The wind made dry of it."}
            sums = tuple(-12.5 if text in odd else -11.5 if " damp " not in text else 0.0 for text in continuations)
            return Likelihoods(sums, (7,) * len(sums), 6)

    passage = "The air was damp and made damp of it. "
    asked = VerificationCase(
        "Air", passage, "How was the air?", "damp", ("wet", "cold", "dry", "ten lakes"), False, False, statement
    )
    with ReplyStore(":memory:") as store:
        judge = LikelihoodVerifier(CachedLanguageModel(Reader(), store), Thresholds())
        (verdict,) = judge.verdicts([asked], judge.keys([asked]))
    assert verdict.reason == reason
    assert [option.text for option in verdict.options] == kept


def test_a_question_that_is_read_to_another_answer_is_dropped_before_anything_is_weighed():
    class Stray(Scribe):
        def reply_to(self, prompt):
            return "nothing of the kind" if '"""' in prompt.user else super().reply_to(prompt)

        def log_likelihoods(self, prompt, continuations):
            raise AssertionError("nothing is judged or weighed")

    written = write(Stray())
    assert written.questions == []
    astray = [one.question for one in written.dropped if one.reason == "the passage is read to another answer"]
    assert {(one.metadata["read_back"], one.metadata["agreement"]) for one in astray} == {("nothing of the kind", 0.0)}
    assert not any(one.queries for one in astray)


def test_an_empty_corpus_yields_an_empty_exam():
    with ReplyStore(":memory:") as replies:
        written = write_screened([], Scribe(), WritingSettings(), seed=0, replies=replies)
    assert written.questions == []
    assert written.stopped == "all 0 facts of the corpus were used"


@pytest.mark.parametrize(
    ("field", "value"), [("questions", 0), ("batch", 0), ("candidates", 2), ("completions", 1.5), ("mode", "essay")]
)
def test_settings_out_of_range_are_refused(field, value):
    with pytest.raises(ValueError, match=f"exam: {field} is"):
        WritingSettings(**{field: value})


class Free(Scribe):
    def reply_to(self, prompt: Prompt) -> str:
        number = int(re.search(r"Engine (\d+)", prompt.user).group(1))
        if number % 3 == 0:
            return "I cannot write a question about this."
        return (
            f"Question: Where was the {word(number)} engine of the {word(number + 99)} works shown by "
            f"{word(number + 50)}?\n"
            "A) Lisbon\nB) Vienna\nC) Naples\nD) Geneva\nCorrect Answer: A"
        )


def test_paper_mode_keeps_what_parses_and_counts_the_rest():
    written = write(Free(), mode="paper", questions=8)
    assert len(written.questions) == 8
    assert {question.metadata["prompt"] for question in written.questions} == {PAPER_VERSION}
    assert "verifier" not in written.questions[0].metadata
    assert any(one.reason.startswith("unparsable: ") for one in written.dropped)


def screen(filters, model=None, *, store=":memory:", chunks=None, **settings) -> WrittenExam:
    options = {"questions": 12, "batch": 4} | settings
    with ReplyStore(store) as replies:
        return write_screened(
            chunks or corpus(),
            model or Scribe(),
            WritingSettings(**options),
            seed=3,
            replies=replies,
            filters=filters,
        )


def test_rules_that_drop_nothing_leave_the_exam_as_it_was_written():
    assert screen({"repeated-fact": False}).questions == write().questions


def test_writing_goes_on_until_enough_questions_pass_the_rules_of_the_finished_exam(tmp_path):
    filters = {"stem-long": "30%"}
    written = screen(filters, store=tmp_path / "replies.sqlite")
    assert len(written.questions) == 12
    reasons = Counter(rule_of(lost.reason) for lost in written.dropped)
    assert reasons["stem-long"] >= 1
    model = Scribe()
    again = screen(filters, model, store=tmp_path / "replies.sqlite")
    assert (again.questions, again.dropped) == (written.questions, written.dropped)
    assert model.calls == 0
    ids = [question.id for question in written.questions]
    lost = [lost.question.id for lost in written.dropped if lost.question and rule_of(lost.reason) == "stem-long"]
    assert not set(ids) & set(lost)


def test_when_nothing_is_left_to_write_fewer_questions_are_given_and_said():
    written = screen({"stem-long": 10}, chunks=corpus(4))
    assert written.questions == []
    assert written.stopped.startswith("all ")
    assert {rule_of(lost.reason) for lost in written.dropped} >= {"stem-long"}


def test_settings_reach_the_rules_that_questions_meet_as_they_arrive():
    stems = [question.stem for question in write().questions]
    limit = sorted(map(len, stems))[6]
    written = screen({"stem-long": limit}, questions=5)
    assert len(written.questions) == 5
    assert max(len(question.stem) for question in written.questions) <= limit


def test_a_model_can_be_asked_by_the_rules_of_the_finished_exam():
    written = screen({"needless-passage": 6.5, "solved-blind": True})
    assert len(written.questions) == 12
    assert written.usage.calls > write().usage.calls


class Clerk(Scribe):
    """A scribe that counts the questions it was asked for."""

    @property
    def questions(self) -> int:
        asked = [prompt for prompts in self.batches for prompt in prompts]
        return sum("Sentence: " in prompt.user or gap_of(prompt) is not None for prompt in asked)


@pytest.mark.parametrize(("bad", "wanted"), [("", 5), ("", 1000), ("pressure", 8), ("company", 1000)])
def test_every_stem_that_was_asked_for_or_completed_is_accounted_for(bad: str, wanted: int, tmp_path: Path) -> None:
    clerk = Clerk(bad)
    settings = WritingSettings(questions=wanted, batch=7)
    with ReplyStore(tmp_path / "replies.sqlite") as replies:
        written = write_screened(corpus(), clerk, settings, seed=1, replies=replies)
    whole = [*written.questions, *(one.question for one in written.dropped if one.question)]
    completed = sum(one.metadata["prompt"] == COMPLETION_VERSION for one in whole)
    found = exam_statistics(written.questions, written.dropped)
    assert found.generated == clerk.questions + completed
    assert found.surviving == len(written.questions)
    assert found.beyond == sum(one.reason == BEYOND for one in written.dropped)
