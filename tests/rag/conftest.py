"""Small random models in the hub's folder layout, a small exam, and a model that needs no weights."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from examcore import Chunk, Exam, Prompt, Question
from tests.scripted_model import ScriptedModel

CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEXT = (
    "The river Oder rises in the hills and flows north. A lighthouse keeper counts ships, lamps and storms. "
    "Bread needs flour, water, salt and yeast; the baker kneads it at four. Question: what does the keeper count? "
    "Answer: ships. The train to the coast leaves at seven and arrives at noon. "
) * 4


@pytest.fixture(autouse=True)
def own_embeddings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a test's embeddings in its own folder: encoders of one name differ between tests."""
    monkeypatch.setattr("rag.retrieval._dense.cache_folder", lambda: tmp_path)


def _tokenizer(chat: bool) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    special = ["<pad>", "<s>", "<|im_start|>", "<|im_end|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator([TEXT], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token="<s>", eos_token="<|im_end|>", pad_token="<pad>", model_max_length=512
    )
    if chat:
        tokenizer.chat_template = CHAT
    return tokenizer


def _config(family: str, vocabulary: int) -> Any:
    from transformers import Gemma3TextConfig, LlamaConfig, Qwen2Config

    common = {
        "vocab_size": vocabulary,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 512,
        "bos_token_id": 1,
        "eos_token_id": 3,
        "pad_token_id": 0,
        # Wide enough for clear differences between continuations of a random model.
        "initializer_range": 0.4,
    }
    if family == "llama":
        return LlamaConfig(**common)
    if family == "qwen2":
        return Qwen2Config(**common)
    return Gemma3TextConfig(
        **common, head_dim=8, sliding_window=24, layer_types=["sliding_attention", "full_attention"]
    )


FAMILIES = ("llama", "qwen2", "gemma3")


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """From a family name to a folder with a random model of it and a tokenizer trained on the spot."""
    import torch

    # Threads gain nothing at this size, and they wait for each other on a busy machine.
    torch.set_num_threads(1)
    made: dict[tuple[str, bool], Path] = {}

    def make(family: str, chat: bool = True) -> Path:
        from transformers import AutoModelForCausalLM

        if (family, chat) not in made:
            folder = tmp_path_factory.mktemp("models") / f"tiny-{family}"
            tokenizer = _tokenizer(chat)
            with torch.random.fork_rng():
                torch.manual_seed(7)
                model = AutoModelForCausalLM.from_config(_config(family, len(tokenizer)))
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            made[(family, chat)] = folder
        return made[(family, chat)]

    return make


class HashModel(ScriptedModel):
    """A fast examinee: the log-likelihood of a continuation is drawn from the hash of prompt and continuation."""

    def __init__(self, name: str = "hash", context_tokens: int = 4096) -> None:
        super().__init__(score=lambda prompt, one: -_hash(f"{prompt}|{one}"), context_tokens=context_tokens)
        self.name = name

    @property
    def calls(self) -> int:
        return len(self.batches)

    def generate(self, prompts: Sequence[Prompt], **options: Any) -> list[str]:
        return [" ".join(prompt.user.split()[: options["max_tokens"]]) for prompt in prompts]


def _hash(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") / 2**28


@pytest.fixture
def hash_model() -> HashModel:
    return HashModel()


SUBJECTS = (
    ("oder", "The river Oder rises in the Moravian hills and flows north to the sea.", "Where does the Oder rise?"),
    ("keeper", "The lighthouse keeper of Skagen counts ships by night.", "What does the lighthouse keeper count?"),
    ("bread", "A baker kneads flour, water and salt; yeast lifts the bread.", "What lifts the bread of a baker?"),
    ("train", "The train to the coast leaves at seven and arrives at noon.", "When does the coast train arrive?"),
    ("glass", "Glass is melted from sand in a furnace of brick.", "From what is glass melted?"),
    ("bees", "Bees dance to tell the hive where nectar is found.", "Why do bees dance in the hive?"),
)
ANSWERS = ("the Moravian hills", "ships", "yeast", "at noon", "sand", "to tell where nectar is")


@pytest.fixture
def chunks() -> list[Chunk]:
    return [Chunk(f"c-{name}", f"d-{name}", text, 0, len(text), name.title()) for name, text, _ in SUBJECTS]


@pytest.fixture
def questions(chunks: list[Chunk]) -> list[Question]:
    made = []
    for place, (name, text, stem) in enumerate(SUBJECTS):
        choices = tuple(ANSWERS[(place + step) % len(ANSWERS)] for step in range(4))
        turn = place % 4
        choices = choices[-turn:] + choices[:-turn] if turn else choices
        made.append(
            Question(f"q-{name}", stem, choices, choices.index(ANSWERS[place]), f"d-{name}", f"c-{name}", context=text)
        )
    return made


@pytest.fixture
def exam(questions: list[Question]) -> Exam:
    """The first four questions; the last two are left for the pool of shots."""
    return Exam(tuple(questions[:4]))


@pytest.fixture
def pool(questions: list[Question]) -> list[Question]:
    return questions[4:]
