from collections.abc import Sequence

import pytest

from taxonomy import KNOWLEDGE_DIMENSION, PROCESS_DIMENSION, label_by_model
from taxonomy._labels import LABEL_PROMPT_CHARACTERS, parse, prompt


@pytest.mark.parametrize(
    ("reply", "levels"),
    [
        ("remember", ("remember",)),
        ("Remember, Apply", ("remember", "apply")),
        ("apply; remember and create.", ("remember", "apply", "create")),
        ("Levels: **understand**", ("understand",)),
        ("\n\n- Evaluate\nbecause it asks for the best", ("evaluate",)),
        ("'apply', apply", ("apply",)),
        ("The level is apply", None),
        ("applying", None),
        ("remember, think", None),
        ("remember apply", None),
        ("apply (because)", None),
        ("not create", None),
        ("", None),
        (",", None),
        ("🙂" * 50, None),
        ("apply" * 10_000, None),
    ],
)
def test_a_reply_is_names_of_levels_or_not_understood(reply: str, levels: tuple[str, ...] | None) -> None:
    assert parse(PROCESS_DIMENSION, reply) == levels


def test_one_level_is_one_level() -> None:
    assert parse(KNOWLEDGE_DIMENSION, "Factual") == ("factual",)
    assert parse(KNOWLEDGE_DIMENSION, "factual, factual") == ("factual",)
    assert parse(KNOWLEDGE_DIMENSION, "factual, conceptual") is None


def test_every_loss_is_counted() -> None:
    replies = iter(["apply", "no idea", None, "create"])
    seen: list[str] = []

    def ask(prompts: Sequence[str]) -> list[str | None]:
        seen.extend(prompts)
        return [next(replies) for _ in prompts]

    found = label_by_model(PROCESS_DIMENSION, ["one?", "two?", "three?", "x" * (LABEL_PROMPT_CHARACTERS + 1)], ask)
    assert found.levels == (("apply",), None, None, ("create",))
    assert (found.unparsed, found.unanswered, found.clipped, found.samples) == (1, 1, 1, ("no idea",))
    assert len(seen) == 4
    assert "two?" in seen[1]
    assert "x" * (LABEL_PROMPT_CHARACTERS + 1) not in seen[3]


def test_the_prompt_has_every_definition_and_asks_for_one_or_several() -> None:
    for taxonomy in (PROCESS_DIMENSION, KNOWLEDGE_DIMENSION):
        text = prompt(taxonomy, "Why?")
        assert all(f"- {level.name}: {level.definition}" in text for level in taxonomy.levels)
        assert ("all levels that apply" in text) == taxonomy.several
    one, other = (prompt(PROCESS_DIMENSION, stem) for stem in ("a", "b"))
    assert one.partition("The question")[0] == other.partition("The question")[0]
