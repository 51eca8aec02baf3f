import pytest

from examcore import Arrival, CachedLanguageModel, ModelUsage, NoReply, Prompt, ReplyStore, StoredReply, usage_by_step
from examcore._reply_store import PART
from tests.scripted_model import ScriptedModel


class Echo(ScriptedModel):
    """Says the prompt, how many were asked with it, and the seed."""

    name = "echo"

    def __init__(self, settings=None) -> None:
        super().__init__(score=lambda _, text: -0.1 * len(text))
        self.settings = settings or {}

    def generate(self, prompts, *, max_tokens, stop=(), temperature=0.0, seed=0):
        self.batches.append([prompt.user for prompt in prompts])
        return [f"{prompt.user} {len(prompts)} {seed}" for prompt in prompts]


def test_a_reply_is_asked_for_once_per_setting():
    with ReplyStore(":memory:") as store:
        model = Echo()
        cached = CachedLanguageModel(model, store)
        prompts = [Prompt("one two"), Prompt("three")]
        first = cached.generate(prompts, max_tokens=5)
        assert cached.generate(prompts, max_tokens=5) == first
        assert len(model.batches) == 1
        cached.generate(prompts, max_tokens=6)
        cached.generate(prompts, max_tokens=5, seed=1)
        cached.generate([Prompt("one two", reply="x"), Prompt("three")], max_tokens=5)
        assert len(model.batches) == 4


def test_a_batch_that_is_not_whole_in_the_store_is_written_as_a_whole():
    with ReplyStore(":memory:") as store:
        model = Echo()
        cached = CachedLanguageModel(model, store)
        cached.generate([Prompt("one")], max_tokens=5)
        texts = cached.generate([Prompt("one"), Prompt("two")], max_tokens=5)
        assert model.batches[-1] == ["one", "two"]
        assert texts == ["one 1 0", "two 2 0"]
        assert cached.generate([Prompt("one"), Prompt("two")], max_tokens=5) == texts


def test_a_large_batch_is_written_and_kept_in_equal_parts():
    class Killed(Echo):
        def generate(self, prompts, **options):
            if self.batches and prompts[0].user == "14":
                raise KeyboardInterrupt
            return super().generate(prompts, **options)

    prompts = [Prompt(str(place)) for place in range(41)]
    assert len(prompts) > 2 * PART
    with ReplyStore(":memory:") as store:
        model = Killed()
        with pytest.raises(KeyboardInterrupt):
            CachedLanguageModel(model, store).generate(prompts, max_tokens=5)
        assert len(store) == 14
        again = Echo()
        texts = CachedLanguageModel(again, store).generate(prompts, max_tokens=5)
        assert [len(one) for one in again.batches] == [14, 13]
        with ReplyStore(":memory:") as other:
            assert CachedLanguageModel(Echo(), other).generate(prompts, max_tokens=5) == texts


def test_a_reply_that_no_file_can_hold_is_lost_and_the_others_are_kept():
    class Halving(Echo):
        def generate(self, prompts, **options):
            return [f"{prompt.user} \ud800" if prompt.user == "bad" else prompt.user for prompt in prompts]

    class Far(Halving):
        def replies(self, prompts, *, schema=None, **options):
            return (Arrival(place, text, 1, 1) for place, text in enumerate(self.generate(prompts, **options)))

        def likelihoods(self, asked):
            raise AssertionError("no likelihood is asked for")

    for model in (Halving(), Far()):
        with ReplyStore(":memory:") as store:
            found = CachedLanguageModel(model, store).replies(
                [Prompt("one"), Prompt("bad"), Prompt("two")], max_tokens=5
            )
            assert found == ["one", NoReply("a reply with half a character (a lone surrogate)"), "two"]
            assert len(store) == 2


def test_the_dtype_of_a_model_is_part_of_the_key():
    with ReplyStore(":memory:") as store:
        CachedLanguageModel(Echo({"dtype": "float32"}), store).generate([Prompt("one")], max_tokens=5)
        other = Echo({"dtype": "bfloat16"})
        CachedLanguageModel(other, store).generate([Prompt("one")], max_tokens=5)
        assert len(other.batches) == 1


def test_likelihoods_come_back_as_they_were():
    with ReplyStore(":memory:") as store:
        model = Echo()
        cached = CachedLanguageModel(model, store)
        asked = [(Prompt("a"), ("x", "yy")), (Prompt("b"), ("zzz",))]
        first = cached.all_log_likelihoods(asked)
        assert first == cached.all_log_likelihoods(asked)
        assert first[0] == model.log_likelihoods(Prompt("a"), ("x", "yy"))
        assert cached.log_likelihoods(*asked[1]) == first[1]


def test_usage_adds_up_and_tells_what_was_cached():
    with ReplyStore(":memory:") as store:
        cached = CachedLanguageModel(Echo(), store)
        cached.generate([Prompt("one two"), Prompt("three")], max_tokens=5)
        cached.generate([Prompt("one two"), Prompt("three")], max_tokens=5)
        assert (cached.usage.calls, cached.usage.cached) == (4, 2)
        assert cached.usage.prompt_tokens == 2 * 3
        assert cached.usage.written_tokens == 2 * 7


class Counting(Echo):
    """Reads a prompt's words but those of prompts before it, as a cache of beginnings does."""

    tokens_read = 0

    def generate(self, prompts, **options):
        self.tokens_read += 5
        return super().generate(prompts, **options)

    def log_likelihoods(self, prompt, continuations):
        self.tokens_read += 7
        return super().log_likelihoods(prompt, continuations)


def test_what_a_model_counts_as_read_is_what_its_answers_cost_by_step_even_when_they_come_from_the_store():
    with ReplyStore(":memory:") as store:
        for model in (Counting(), Counting()):
            cached = CachedLanguageModel(model, store)
            cached.step = "asking"
            cached.generate([Prompt("one two"), Prompt("three")], max_tokens=5)
            cached.step = "weighing"
            cached.all_log_likelihoods([(Prompt("a"), ("x",)), (Prompt("b"), ("y",))])
            assert {step: cost.prompt_tokens for step, cost in cached.steps.items()} == {"asking": 5, "weighing": 14}
            assert cached.usage.prompt_tokens == 19
        assert model.tokens_read == 0


def test_costs_of_two_models_add_up_by_step():
    one, two = ModelUsage(1, 0, 2, 3, 0.5), ModelUsage(1, 1, 1, 1, 0.5)
    assert usage_by_step({"a": one}, {"a": two, "b": two}) == {"a": one + two, "b": two}


def test_usage_is_a_sum():
    assert ModelUsage(1, 0, 2, 3, 0.5) + ModelUsage(1, 1, 1, 1, 0.5) == ModelUsage(2, 1, 3, 4, 1.0)


def test_rows_outlive_the_connection_and_the_first_value_stays(tmp_path):
    with ReplyStore(tmp_path / "r.sqlite") as store:
        store.add([StoredReply("k", '"a"', 1, 1, 0.1)])
    with ReplyStore(tmp_path / "r.sqlite") as store:
        store.add([StoredReply("k", '"b"', 1, 1, 0.1)])
        assert store.get("k") == StoredReply("k", '"a"', 1, 1, 0.1)
        assert len(store) == 1


def test_a_file_that_is_no_store_is_refused_in_one_line(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are not replies " * 50)
    with pytest.raises(ValueError, match=r"notes\.txt: .*; wanted a reply store"):
        ReplyStore(path)


def test_a_store_in_a_missing_folder_is_refused_in_one_line(tmp_path):
    with pytest.raises(ValueError, match="wanted a reply store"):
        ReplyStore(tmp_path / "nowhere" / "r.sqlite")
