"""A language model that transformers runs on this machine."""

from __future__ import annotations

import contextlib
import ctypes
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from transformers import GenerationConfig

from examcore import Arrival, Likelihoods, Prompt, Schema, common_prefix, up_to_stop
from rag.local._batch_scoring import MAX_SHARED_BLOCK, BatchScorer, EncodedContinuations
from rag.local._decoding import AllowedTokens, BatchWriter, PromptTokens, TokenFilter, padded_groups
from rag.local._json_shape import Vocabulary
from rag.local._prefix_cache import BLOCK, BlockStore, PrefixCache, expand_cache, has_full_attention, shareable
from rag.local._transformers_writing import write_by_transformers
from rag.weights._placement import rows_are_independent
from rag.weights._sources import chat_text

MAX_LOGITS = 1 << 26
"""Most logits in memory while continuations are scored (256 MB in float32)."""

NO_LIMIT = 1 << 24
"""Tokenizers that know no context length report a number above this."""


class LocalModel:
    """Writes batches and scores continuations, reading prompts through one cache of their beginnings.

    `settings` holds everything the numbers depend on (source, dtype, device type, where prompts are cut into blocks)
    and is stored with answers. `keep` bounds the bytes of keys and values kept (see `PrefixCache`); `size` is the
    tokens of a pass over several prompts (see `BatchScorer`).
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        name: str,
        settings: Mapping[str, object] | None = None,
        block: int = BLOCK,
        keep: int | None = None,
        size: int | None = None,
    ) -> None:
        self._model = model.eval()
        self.tokenizer, self.name = tokenizer, name
        self._eos = _end_tokens(model, tokenizer)
        self._marks = _marks(tokenizer)
        # Published generation defaults (sampling, penalties) must not leak into greedy writing.
        model.generation_config = GenerationConfig()
        self._vocabulary = Vocabulary(tokenizer, self._eos)
        self._prefixes = PrefixCache(model, block=block, keep=keep)
        self._batches = BatchScorer(model, self._prefixes.blocks, block=min(block, MAX_SHARED_BLOCK), size=size)
        self.tokens_read = 0
        """Tokens computed so far, padding included, without those written and those taken from the cache."""
        model.base_model.register_forward_pre_hook(self._count, with_kwargs=True)
        self.settings: Mapping[str, object] = {
            "model": name,
            **(settings or {}),
            "block": block,
            "cut": "last paragraph",
        }

    @cached_property
    def streaming(self) -> Mapping[str, object]:
        """What the numbers of `likelihoods` also depend on: the tokens of a pass (0: each prompt is read alone) and of
        its blocks."""
        return {"pass": self._batches.size, "block": self._batches.block} if self._packs else {"pass": 0}

    @property
    def context_tokens(self) -> int:
        """The longest prompt and reply together, in tokens."""
        config = self._model.config.get_text_config()
        limits = [getattr(config, "max_position_embeddings", None), getattr(self.tokenizer, "model_max_length", None)]
        return min(int(limit) for limit in (*limits, NO_LIMIT) if limit)

    def count_tokens(self, text: str) -> int:
        """The number of tokens of a text, without special ones."""
        return len(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def render(self, prompt: Prompt) -> str:
        """The text that the model reads: by its chat template if it has one, else system, user and reply in turn.

        Special tokens in a text lose their meaning, so that a document cannot end the turn that quotes it.
        """
        prompt = Prompt(*(self._quoted(text) for text in (prompt.user, prompt.system, prompt.reply)))
        if not self.tokenizer.chat_template:
            above = f"{prompt.system}\n\n{prompt.user}" if prompt.system else prompt.user
            return f"{above}\n{prompt.reply}"
        return self._chat(prompt) + prompt.reply

    def generate(
        self,
        prompts: Sequence[Prompt],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        temperature: float = 0.0,
        seed: int = 0,
        allowed: AllowedTokens | None = None,
    ) -> list[str]:
        """One reply per prompt, as one batch, without the prompt's `reply`; a stop string ends it and is cut off.

        Greedy at temperature 0, else sampled from `seed`; the same batch always gives the same replies. `allowed`
        restricts the next token. Raises ValueError when a prompt and `max_tokens` exceed the context.
        """
        if not prompts:
            return []
        rows = [self._row(prompt) for prompt in prompts]
        width = max(len(row.ids) for row in rows)
        self._check_length(width + max_tokens, f"a prompt of {width} tokens and {max_tokens} to write")
        writing: dict[str, Any] = {
            "max_tokens": max_tokens,
            "done": lambda ids: bool(stop) and any(one in self._text(ids) for one in stop),
            "only": TokenFilter(allowed) if allowed else None,
            "temperature": temperature,
            "seed": seed,
        }
        with torch.inference_mode():
            if self._joinable:
                writer = BatchWriter(self._model, self._prefixes, self._eos)
                written = writer.write(writer.start(rows, max_tokens), **writing)
            else:
                written = write_by_transformers(self._model, [row.ids for row in rows], self._eos, **writing)
        give_memory_back()
        return [up_to_stop(self._text(row), stop) for row in written]

    def generate_json(
        self, prompts: Sequence[Prompt], schema: Schema, *, max_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> list[str]:
        """One JSON text of the schema's shape per prompt, as one batch (see `rag.local._json_shape`)."""
        shape = self._vocabulary.shape(schema, max_tokens)
        return self.generate(prompts, max_tokens=max_tokens, temperature=temperature, seed=seed, allowed=shape.allowed)

    def log_likelihoods(self, prompt: Prompt, continuations: Sequence[str]) -> Likelihoods:
        """Log-likelihood of each continuation right after the prompt, the prompt encoded once.

        Prompt and continuation are tokenised together; scoring starts where the first of the joint encodings leaves
        the encoding of the prompt alone, for every continuation at the same place. Raises ValueError for an empty
        continuation, a prompt longer than the context, or a model that returns NaN.
        """
        joint = self._scorable(prompt, continuations)
        with torch.inference_mode():
            sums = self._score(joint)
        if any(value != value for value in sums):
            raise ValueError(f"model {self.name}: log-likelihood is NaN; wanted a number (try dtype float32)")
        return _measured(joint, sums)

    def likelihoods(self, asked: Sequence[tuple[Prompt, tuple[str, ...]]]) -> Iterator[Arrival[Likelihoods]]:
        """The log-likelihoods of each prompt's continuations, each as soon as they are known, in any order.

        Prompts that begin alike share that part and are read together. The numbers of each are the same to the last bit
        whatever else is in the batch, and in float32 within 1e-3 of `log_likelihoods`, which reads a prompt alone.
        Raises like that method, except that NaN is returned, so that the caller can name the question. OSError when
        memory does not even suffice for small passes.
        """
        joints: dict[int, EncodedContinuations] = {}
        alone: list[int] = []

        def ready() -> Iterator[tuple[int, EncodedContinuations]]:
            for place, (prompt, continuations) in enumerate(asked):
                joint = joints[place] = self._scorable(prompt, continuations)
                if self._packs and self._batches.fits(joint):
                    yield place, joint
                else:
                    alone.append(place)

        for place, sums in self._batches.score(ready()):
            found = _measured(joints.pop(place), sums)
            yield Arrival(place, found, found.prompt_tokens, 0)
        for place in alone:
            with torch.inference_mode():
                found = _measured(joints[place], self._score(joints[place]))
            yield Arrival(place, found, found.prompt_tokens, 0)

    def _count(self, _: object, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        ids = named["input_ids"] if "input_ids" in named else given[0]
        if ids is not None and ids.shape[1] > 1:  # passes of one token a row write
            self.tokens_read += ids.numel()

    def _scorable(self, prompt: Prompt, continuations: Sequence[str]) -> EncodedContinuations:
        """The tokens of a prompt and its continuations, encoded together; raises as `log_likelihoods` does."""
        text = self.render(prompt)
        alone = self._encode(prompt, text)
        together = [self._encode(prompt, text + self._quoted(one)) for one in continuations]
        start = min((common_prefix(alone, ids) for ids in together), default=len(alone))
        for continuation, ids in zip(continuations, together, strict=True):
            if len(ids) <= start or not continuation:
                raise ValueError(f"model {self.name}: continuation {continuation!r} has no tokens; wanted some text")
        if start == 0:
            raise ValueError(f"model {self.name}: nothing precedes the continuations; wanted a prompt")
        longest = max(map(len, together), default=start)
        self._check_length(longest, f"a prompt of {start} tokens and its continuation")
        cut = min(start, self._own_part(prompt, text, alone))
        return EncodedContinuations(tuple(alone[:start]), cut, tuple(tuple(ids[start:]) for ids in together))

    @cached_property
    def _packs(self) -> bool:
        """Whether one pass can read pieces of several prompts; tried on a few tokens against a plain pass."""
        if not (getattr(self._model, "_supports_attention_backend", False) and self._takes_positions):
            return False
        if not rows_are_independent(self._model):
            return False
        some = [token % self._model.config.get_text_config().vocab_size for token in range(5, 37)]
        joint = EncodedContinuations(tuple(some[:24]), 12, (tuple(some[24:28]), tuple(some[27:30])))
        trial = BatchScorer(self._model, BlockStore(0), block=8, size=32)
        try:
            with torch.inference_mode():
                plain = [self._score_alone(joint.prompt, own) for own in joint.own]
            ((_, packed),) = trial.score([(0, joint)])
        except Exception:  # an architecture that cannot do this is read prompt by prompt
            return False
        exact = self._model.dtype == torch.float32 and "quantized" not in self.settings
        near, share = (1e-3, 0.0) if exact else (0.1, 0.05)
        return all(abs(a - b) <= near + share * abs(b) for a, b in zip(packed, plain, strict=True))

    @property
    def _takes_positions(self) -> bool:
        return "position_ids" in inspect.signature(self._model.forward).parameters

    @cached_property
    def _joinable(self) -> bool:
        """Whether prompts that were read one by one can go on as one batch: full attention and explicit positions."""
        return self._takes_positions and has_full_attention(self._prefixes.encode(self._eos[:1] or (0,)).cache)

    def _chat(self, prompt: Prompt) -> str:
        user = {"role": "user", "content": prompt.user}
        if prompt.system:
            try:
                return chat_text(self.tokenizer, [{"role": "system", "content": prompt.system}, user])
            except Exception as error:  # templates refuse a role with an exception of jinja's own
                if "TemplateError" not in {kind.__name__ for kind in type(error).__mro__}:
                    raise
                user = {"role": "user", "content": f"{prompt.system}\n\n{prompt.user}"}
        return chat_text(self.tokenizer, [user])

    def _quoted(self, text: str) -> str:
        """The text with a space inside each special token, which makes it ordinary characters."""
        return self._marks.sub(lambda match: f"{match.group()[0]} {match.group()[1:]}", text)

    def _encode(self, prompt: Prompt, text: str) -> list[int]:
        """The tokens of rendered text. A chat template writes its own special tokens; plain text gets the first."""
        ids = list(self.tokenizer(text, add_special_tokens=False)["input_ids"])
        bos = self.tokenizer.bos_token_id
        if not self.tokenizer.chat_template and bos is not None:
            opened = self.tokenizer("a")["input_ids"][:1] == [bos]
            ids = [bos, *ids] if opened else ids
        if not ids:
            raise ValueError(f"model {self.name}: the prompt {prompt.user[:40]!r} has no tokens; wanted some text")
        return ids

    def _row(self, prompt: Prompt) -> PromptTokens:
        text = self.render(prompt)
        ids = self._encode(prompt, text)
        return PromptTokens(ids, self._own_part(prompt, text, ids))

    def _own_part(self, prompt: Prompt, text: str, ids: Sequence[int]) -> int:
        """The token at which the last paragraph of `user` begins, after what prompts share; 0 if it has only one."""
        _, _, last = self._quoted(prompt.user).rpartition("\n\n")
        at = text.rfind(last.strip())
        if last == self._quoted(prompt.user) or not last.strip() or at < 0 or not text[:at].strip():
            return 0
        return common_prefix(ids, self._encode(prompt, text[:at]))

    def _check_length(self, tokens: int, what: str) -> None:
        if tokens > self.context_tokens:
            raise ValueError(f"model {self.name}: {what} are {tokens} tokens; wanted at most {self.context_tokens}")

    def _score(self, joint: EncodedContinuations) -> list[float]:
        if not joint.own:
            return []
        encoded = self._prefixes.encode(joint.prompt, joint.cut)
        first = torch.log_softmax(encoded.logits, dim=-1)
        sums = [float(first[own[0]]) for own in joint.own]
        if not shareable(encoded.cache):
            return [self._score_alone(joint.prompt, own) for own in joint.own]
        vocabulary = encoded.logits.shape[-1]
        longer = ((index, len(own) - 1) for index, own in enumerate(joint.own) if len(own) > 1)
        for batch in padded_groups(longer, MAX_LOGITS // vocabulary):
            rows = [joint.own[index][:-1] for index in batch]
            width = max(map(len, rows))
            # Padding is to the right of all real tokens, which never attend to it: no mask is needed.
            ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=self._model.device)
            output = self._model(input_ids=ids, past_key_values=expand_cache(encoded.cache, len(rows)), use_cache=True)
            for row, index in enumerate(batch):
                sums[index] += _sum_targets(output.logits[row], joint.own[index][1:])
        return sums

    def _score_alone(self, prompt: tuple[int, ...], own: tuple[int, ...]) -> float:
        """Score without a cache, for models whose state is more than keys and values."""
        ids = torch.tensor([[*prompt, *own[:-1]]], device=self._model.device)
        logits = self._model(input_ids=ids, use_cache=False).logits[0, len(prompt) - 1 :]
        return _sum_targets(logits, own)

    def _text(self, ids: Sequence[int]) -> str:
        ends = [position for position, token in enumerate(ids) if token in self._eos]
        kept = ids[: ends[0]] if ends else ids
        return str(self.tokenizer.decode(kept, skip_special_tokens=True))


def give_memory_back() -> None:
    """Return freed memory to the system: glibc keeps what a batch took in pieces, which grow to gigabytes."""
    with contextlib.suppress(OSError, AttributeError, TypeError):  # other allocators cannot be told
        ctypes.CDLL(None).malloc_trim(0)


def _measured(joint: EncodedContinuations, sums: Sequence[float]) -> Likelihoods:
    return Likelihoods(tuple(sums), tuple(map(len, joint.own)), len(joint.prompt))


def _sum_targets(logits: torch.Tensor, targets: Sequence[int]) -> float:
    """Sum of the log-probabilities of `targets` `[n]` under the first n rows of `logits` `[>= n, vocabulary]`."""
    count = len(targets)
    if not count:
        return 0.0
    logs = torch.log_softmax(logits[:count].float(), dim=-1)
    picked = logs.gather(-1, torch.tensor(targets, device=logs.device)[:, None])
    return float(picked.double().sum())


def _marks(tokenizer: Any) -> re.Pattern[str]:
    """A pattern of the special tokens as written, the longest first; without any it matches nothing."""
    added = getattr(tokenizer, "added_tokens_decoder", {}).values()
    names = {*tokenizer.all_special_tokens, *(str(one.content) for one in added if one.special)}
    written = sorted((name for name in names if len(name) > 1), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, written)) or r"(?!)")


def _end_tokens(model: Any, tokenizer: Any) -> tuple[int, ...]:
    """Every token that ends a reply: from the tokenizer, the published generation settings and known chat markers."""
    published = getattr(model.generation_config, "eos_token_id", None)
    ids = [tokenizer.eos_token_id, *(published if isinstance(published, list) else [published])]
    markers = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|endoftext|>", "</s>")
    vocabulary = tokenizer.get_vocab()
    ids += [vocabulary[marker] for marker in markers if marker in vocabulary]
    return tuple(dict.fromkeys(int(token) for token in ids if token is not None))
