"""The prompts that write and check questions; each has a version, which is stored with every question."""

from __future__ import annotations

from exam_gen.model import Prompt

STEM_VERSION = "stem-2"
ANSWER_VERSION = "answer-1"
PAPER_VERSION = "paper-1"

GAP = "____"

_STEM_SYSTEM = (
    f"You turn a sentence into an exam question. The question asks for the words replaced by {GAP}, "
    "keeps the other facts of the sentence, names its subject, and ends with a question mark."
)
# The examples are about things no corpus here treats and hold no personal names: a small model copies both.
_STEM_EXAMPLES = (
    (
        "Electric motors",
        f"An induction motor draws {GAP} times its rated current while it starts.",
        "five to seven",
        "How many times its rated current does an induction motor draw while it starts?",
    ),
    (
        "Bee colonies in winter",
        f"The colony survives the cold because the workers form {GAP} around the queen.",
        "dense cluster",
        "What do the workers of a bee colony form around the queen to survive the cold?",
    ),
    (
        "git-config",
        f"If {GAP} is set, the command reads its settings from that file instead of the home folder.",
        "GIT_CONFIG_GLOBAL",
        "Which variable makes git-config read its settings from another file instead of the home folder?",
    ),
)


def stem_prompt(title: str, gapped: str, key: str) -> Prompt:
    """Ask for the question whose answer is `key`, the words left out of the sentence `gapped`."""
    shown = [f"Topic: {t}\nSentence: {s}\nAnswer: {a}\nQuestion: {q}\n" for t, s, a, q in _STEM_EXAMPLES]
    asked = f"Topic: {title}\nSentence: {gapped}\nAnswer: {key}"
    return Prompt("\n".join([*shown, asked]), system=_STEM_SYSTEM, reply="Question:")


def open_prompt(title: str, passage: str, stem: str) -> Prompt:
    """Ask for the answer with the passage at hand; the likelihood of each choice follows it."""
    user = f'{title}\n"""\n{passage}\n"""\n\nQuestion: {stem}\nAnswer in a few words copied from the text.'
    return Prompt(user, reply="Answer:")


def closed_prompt(stem: str) -> Prompt:
    """Ask for the answer without a passage."""
    return Prompt(f"Question: {stem}\nAnswer in a few words.", reply="Answer:")


def paper_prompt(title: str, passage: str) -> Prompt:
    """One free-text request for a question with four candidates, in the spirit of the source paper."""
    user = (
        f"Here is some documentation on {title}:\n\n{passage}\n\n"
        "Write one difficult multiple-choice exam question about it. The question must make sense without the "
        "documentation, have four candidates marked A), B), C) and D), and exactly one right answer.\n"
        "Use this layout:\nQuestion: ...\nA) ...\nB) ...\nC) ...\nD) ...\nCorrect Answer: the letter"
    )
    return Prompt(user)
