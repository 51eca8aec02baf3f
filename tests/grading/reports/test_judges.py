"""Judges that are models: scripted, tiny and random; strict reading of replies; resumption; entailment by windows."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from examcore import CachedLanguageModel, Likelihoods, Prompt, ReplyStore
from grading._records import BankQuestion, KeyAnswer, Sentence, SystemReport
from grading.reports._argue import argue
from grading.reports._argue_scores import score_reports
from grading.reports._judges import EntailmentJudge, LanguageModelJudge, cross_encoder, entailment_label, read_reply
from grading.reports._judging_material import Ask, InTurn, ReportMaterial
from tests.rag.conftest import tiny_folder as tiny_folder

DOCUMENTS = {"D1": "The bridge was opened in 1931 by the mayor.", "D2": "Its paint is grey."}
NUGGETS = (
    BankQuestion("opened", "t", "When was the bridge opened?", (KeyAnswer("1931", frozenset({"D1"})),)),
    BankQuestion("paint", "t", "What did the paint cost?"),
)
REPORT = SystemReport(
    "r",
    "t",
    (
        Sentence("This report is about the bridge."),
        Sentence("The bridge was opened in 1931.", ("D1",)),
        Sentence("Its paint is grey.", ("D2",)),
        Sentence("It was opened in 1950.", ("D1",)),
        Sentence("It carries ten thousand cars a day."),
        Sentence("It carries ten thousand cars a day, as was said."),
        Sentence("What the paint did cost is not known."),
    ),
)
EXPECTED = [4, 3, 2, 1, 5, 6, 8]
MATERIAL = ReportMaterial([REPORT], NUGGETS, DOCUMENTS, {"t": "Tell me about the bridge."})


def reads(prompt: str) -> bool:
    """What a careful reader replies to the prompts of the report above."""
    sentence = re.findall(r"[Ss]entence: (.*)", prompt)[-1]
    if "Source:" in prompt:
        return "1950" not in sentence
    if "Acceptable answer" in prompt:
        return "1931" in sentence
    if "no answer to this very question" in prompt or "not available" in prompt:
        return "not known" in sentence
    if "need a citation" in prompt:
        return "cars" in sentence
    return sentence.endswith("as was said.")


class Reader:
    """A model that replies as `reads`, or as it is told; counts its calls."""

    name, context_tokens = "reader", 4000

    def __init__(self, reply: Callable[[str], str] | None = None) -> None:
        self.reply, self.asked = reply, list[Prompt]()

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def generate(self, prompts: Sequence[Prompt], **_: Any) -> list[str]:
        self.asked.extend(prompts)
        return [self.reply(one.user) if self.reply else ("Yes." if reads(one.user) else "no") for one in prompts]

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        self.asked.append(prompt)
        assert list(continuations) == [" Yes", " No"]
        return Likelihoods((-0.2, -2.0) if reads(prompt.user) else (-2.0, -0.2), (1, 1), 10)


def judge(model: Any, store: str | Path = ":memory:", **options: Any) -> LanguageModelJudge:
    return LanguageModelJudge(CachedLanguageModel(model, ReplyStore(store)), MATERIAL, **options)


@pytest.mark.parametrize("by", ["likelihood", "reply"])
def test_a_careful_reader_finds_all_eight_outcomes_but_the_false_absence(by: str) -> None:
    judged = argue([REPORT], NUGGETS, judge(Reader(), by=by))
    assert [one.outcome for one in judged] == EXPECTED
    (score,) = score_reports([REPORT], judged, NUGGETS)
    assert score.ratios["precision"] == (2, 4)
    assert score.ratios["recall"] == (2, 2)


def test_replies_are_kept_so_that_a_second_run_asks_nothing(tmp_path: Path) -> None:
    first, second = Reader(), Reader()
    before = argue([REPORT], NUGGETS, judge(first, tmp_path / "replies.sqlite"))
    assert argue([REPORT], NUGGETS, judge(second, tmp_path / "replies.sqlite")) == before
    assert first.asked
    assert not second.asked


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("Yes", True),
        ("yes.", True),
        (' **"No"**, it does not', False),
        ("NO", False),
        ("Yes, but only in part", True),
        ("Not at all", None),
        ("Nothing", None),
        ("Yes or No", None),
        ("The answer is yes", None),
        ("", None),
    ],
)
def test_a_reply_is_yes_or_no_by_its_first_word_or_neither(reply: str, verdict: bool | None) -> None:
    assert read_reply(reply).verdict is verdict


def test_replies_that_are_neither_are_counted_and_stop_the_scoring() -> None:
    vague = judge(Reader(lambda prompt: "Perhaps" if "Source:" in prompt else "No"), by="reply")
    with pytest.raises(
        ValueError, match=r"sentence 1 .* \(reply 'Perhaps' is neither yes nor no\); wanted 'supported'"
    ):
        argue([REPORT], NUGGETS, vague)
    assert vague.unparsed == {"Perhaps": 3}


def test_a_document_without_text_is_named() -> None:
    material = ReportMaterial([REPORT], NUGGETS, {"D1": DOCUMENTS["D1"]})
    blind = LanguageModelJudge(CachedLanguageModel(Reader(), ReplyStore(":memory:")), material)
    with pytest.raises(
        ValueError, match=r"not judged \(no text of document 'D2'\); wanted 'supported' of document 'D2'"
    ):
        argue([REPORT], NUGGETS, blind)


def test_a_document_that_is_too_long_is_cut_and_counted() -> None:
    model = Reader()
    model.context_tokens = 200
    long = ReportMaterial([REPORT], NUGGETS, {**DOCUMENTS, "D1": "word " * 5000})
    cutting = LanguageModelJudge(CachedLanguageModel(model, ReplyStore(":memory:")), long)
    cutting.decide([Ask("supported", "r", "t", 1, document="D1"), Ask("supported", "r", "t", 2, document="D2")])
    assert cutting.cut == {"D1"}
    assert all(model.count_tokens(one.user) < 200 for one in model.asked)


def test_what_needs_no_model_is_not_asked() -> None:
    model = Reader()
    cited, first = judge(model).decide([Ask("claims_absence", "r", "t", 1), Ask("repeats", "r", "t", 0)])
    assert (cited.verdict, first.verdict) == (False, False)
    assert not model.asked


def test_a_tiny_model_judges_from_end_to_end(tiny_folder: Callable[..., Path]) -> None:
    from rag import load_model

    tiny = judge(load_model(str(tiny_folder("llama")), dtype="float32", device="cpu", threads=1))
    judged = argue([REPORT], NUGGETS, tiny)
    assert all(one.outcome in range(1, 9) for one in judged)
    # A random model's verdicts are not worth a name; that every sentence has one by its citations is.
    assert all((one.outcome in {1, 2, 3}) == bool(REPORT.sentences[one.index].citations) for one in judged)


def overlap(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Stands for a model of entailment: the share of the hypothesis's words that the premise holds."""
    found = []
    for premise, hypothesis in pairs:
        held, said = (set(re.findall(r"\w+", one.lower())) for one in (premise, hypothesis))
        found.append(len(held & said) / len(said))
    return found


def test_entailment_decides_support_answers_and_repetition_and_leaves_the_rest_open() -> None:
    entails = EntailmentJudge(overlap, MATERIAL, threshold=0.65)
    asks = [
        Ask("supported", "r", "t", 1, document="D1"),
        Ask("supported", "r", "t", 3, document="D1"),
        Ask("answers", "r", "t", 1, nugget="opened", answer=0),
        Ask("repeats", "r", "t", 5),
        Ask("repeats", "r", "t", 4),
        Ask("claims_absence", "r", "t", 1),
        Ask("claims_absence", "r", "t", 6),
        Ask("needs_citation", "r", "t", 4),
        Ask("answers", "r", "t", 6, nugget="paint"),
        Ask("supported", "r", "t", 1, document="D9"),
    ]
    assert [one.verdict for one in entails.decide(asks)] == [
        True, False, True, True, False, False, None, None, None, None,
    ]  # fmt: skip
    judged = argue([REPORT], NUGGETS, InTurn([EntailmentJudge(overlap, MATERIAL, threshold=0.65), judge(Reader())]))
    assert [one.outcome for one in judged] == EXPECTED


def test_a_long_document_is_read_in_windows() -> None:
    asked: list[tuple[str, str]] = []

    def entails(pairs: Sequence[tuple[str, str]]) -> list[float]:
        asked.extend(pairs)
        return [float("needle" in premise) for premise, _ in pairs]

    long = ReportMaterial([REPORT], NUGGETS, {"D1": "hay " * 499 + "needle", "D2": "hay " * 10})
    one, other = EntailmentJudge(entails, long).decide(
        [Ask("supported", "r", "t", 1, document="D1"), Ask("supported", "r", "t", 2, document="D2")]
    )
    assert (one.verdict, other.verdict) == (True, False)
    assert [len(premise.split()) for premise, _ in asked] == [200, 200, 200, 10]


@pytest.fixture
def nli_folder(tmp_path: Path) -> Callable[[dict[int, str]], Path]:
    """A random cross-encoder with the labels that are wanted."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    torch.set_num_threads(1)

    def make(labels: dict[int, str]) -> Path:
        words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted(set(" ".join(DOCUMENTS.values()).split()))]
        raw = Tokenizer(models.WordLevel({word: at for at, word in enumerate(words)}, unk_token="[UNK]"))
        raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        raw.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
        )
        special = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, model_max_length=64, **special)
        config = BertConfig(
            vocab_size=len(words),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
            id2label=labels,
            label2id={label: at for at, label in labels.items()},
            initializer_range=0.5,
        )
        with torch.random.fork_rng():
            torch.manual_seed(3)
            BertForSequenceClassification(config).save_pretrained(tmp_path / "nli")
        tokenizer.save_pretrained(tmp_path / "nli")
        return tmp_path / "nli"

    return make


def test_a_cross_encoder_gives_the_probability_of_its_entailment_label(
    nli_folder: Callable[[dict[int, str]], Path],
) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = nli_folder({0: "contradiction", 1: "ENTAILMENT", 2: "neutral"})
    pairs = [(DOCUMENTS["D1"], "bridge 1931"), (DOCUMENTS["D2"], "paint")]
    found = cross_encoder(str(folder))(pairs)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        inputs = tokenizer([one for one, _ in pairs], [two for _, two in pairs], padding=True, return_tensors="pt")
        expected = model(**inputs).logits.softmax(dim=1)[:, 1].tolist()
    assert found == pytest.approx(expected, abs=1e-5)
    assert 0 < found[0] != found[1] < 1


@pytest.mark.parametrize("spelt", [str.lower, str.upper, str.title])
def test_the_label_of_entailment_is_found_in_every_order_and_case(spelt: Callable[[str], str]) -> None:
    """MNLI's three labels, of which models have all six orders; two labels as of SciTail and RTE models."""
    for names in permutations(("contradiction", "entailment", "neutral")):
        assert entailment_label(dict(enumerate(map(spelt, names))), "m") == names.index("entailment")
    for names in permutations(("not_entailment", "entailment")):
        assert entailment_label(dict(enumerate(map(spelt, names))), "m") == names.index("entailment")


@pytest.mark.parametrize("names", [("LABEL_0", "LABEL_1", "LABEL_2"), ("LABEL_0",), ("entailment",), ("yes", "no")])
def test_labels_without_a_name_are_refused_in_one_line(names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"^entailment model m: its labels are .*; wanted one of them to be 'entail"):
        entailment_label(dict(enumerate(names)), "m")


def test_the_order_of_the_labels_changes_no_probability(nli_folder: Callable[[dict[int, str]], Path]) -> None:
    """The same weights under three namings: each class is called entailment once, and the three sum to 1."""
    names = ["entailment", "neutral", "contradiction"]
    pair = (DOCUMENTS["D1"], "bridge 1931")
    turned = [dict(enumerate(names[-by:] + names[:-by])) for by in range(3)]
    found = [cross_encoder(str(nli_folder(labels)))([pair])[0] for labels in turned]
    assert sum(found) == pytest.approx(1, abs=1e-5)
    assert len({round(one, 4) for one in found}) == 3


def test_a_premise_longer_than_the_model_is_read_to_its_end(nli_folder: Callable[[dict[int, str]], Path]) -> None:
    """The best of parts that are cut by hand: 64 tokens less the hypothesis's two and three marks, a quarter shared."""
    judge = cross_encoder(str(nli_folder({0: "contradiction", 1: "entailment", 2: "neutral"})))
    words = " ".join(DOCUMENTS.values()).split()
    text = [words[(5 * n) % len(words)] for n in range(150)]
    room = 64 - 2 - 3
    parts = [" ".join(text[start : start + room]) for start in range(0, 150 - room // 4, room - room // 4)]
    assert len(parts) == 4
    assert parts[-1].endswith(text[-1])
    each = judge([(one, "bridge 1931") for one in parts])
    (whole,) = judge([(" ".join(text), "bridge 1931")])
    assert whole == pytest.approx(max(each), abs=1e-5)
    with pytest.raises(ValueError, match=r"text '.*': 58 tokens leave 3 of 64 for a premise; wanted at least 8"):
        judge([(" ".join(text), " ".join(text[:58]))])


def test_a_model_that_knows_no_entailment_is_refused(
    nli_folder: Callable[[dict[int, str]], Path], tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="its labels are good, bad; wanted one of them to be 'entailment'"):
        cross_encoder(str(nli_folder({0: "good", 1: "bad"})))
    assert entailment_label({0: "entailment", 1: "not_entailment"}, "m") == 0
    (tmp_path / "none").mkdir()
    with pytest.raises(OSError, match=r"entailment model .*none: cannot be loaded: "):
        cross_encoder(str(tmp_path / "none"))
