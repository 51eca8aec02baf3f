"""Published judges of relevance by name: what each is shown, on which scale, and how its reply becomes a grade.

The instructions are in our own words. Scale, order of query and passage, number and order of solved examples are those
of the source. A reply that is on no scale is unparsed, where published code counts it as 0 or as relevant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from examcore import Prompt
from grading.graders._reply_parsing import Parsed, parse_final_score, parse_level, parse_yes_no

JUDGE_PROMPTS_VERSION = "relevance-judges-1"
"""Stored with the grades; change it with every word of a prompt."""
WORD_TOKENS = 8
"""Tokens of a reply that is one word or number."""
SCORES_TOKENS = 64
"""Tokens of the three scores of UMBRELA, each with its label on a line."""


class SolvedExample(NamedTuple):
    """A passage, a query, and whether the passage answers it."""

    passage: str
    query: str
    answers: bool


SOLVED_EXAMPLES = (
    SolvedExample(
        "Fresh eggs keep for three to five weeks in the refrigerator, counted from the day they were bought.",
        "how long do eggs keep in the fridge",
        True,
    ),
    SolvedExample(
        "We keep six hens, and the eggs go into the fridge door. My neighbour says they keep longer than you think, "
        "but she throws hers out by smell.",
        "how long do eggs keep in the fridge",
        False,
    ),
    SolvedExample(
        "Season tickets can be shown on a telephone, and the barrier at the station reads the code from the screen.",
        "can you take a bicycle on the coast train",
        False,
    ),
    SolvedExample(
        "Bicycles travel free of charge on coast trains outside the rush hour; each carriage has room for four.",
        "can you take a bicycle on the coast train",
        True,
    ),
)
"""Two queries, each with a passage that answers it and one on the subject that does not: yes, no, no, yes, as in the
few-shot prompts of EXAM++'s appendix."""


class RelevanceJudge(NamedTuple):
    """A published judge; grades are whole numbers from 0 to `highest`, of which `relevant` and more are relevant.

    `asked_as` names the query in the prompt; `closing` follows query and passage, `reply` starts the reply. With
    `examples` the passage comes before the query, as in the few-shot prompts.
    """

    source: str
    instruction: str
    highest: int
    relevant: int
    parse: Callable[[str], Parsed]
    asked_as: Literal["Query", "Question"] = "Query"
    closing: str = ""
    reply: str = "Answer:"
    examples: tuple[SolvedExample, ...] = ()
    max_tokens: int = WORD_TOKENS

    def prompt(self, query: str, passage: str) -> Prompt:
        """Ask how relevant a passage is for a query."""
        solved = [
            f"{self._task(one.query, one.passage)}\nAnswer: {'Yes' if one.answers else 'No'}" for one in self.examples
        ]
        return Prompt(user="\n\n".join([self.instruction, *solved, self._task(query, passage)]), reply=self.reply)

    def _task(self, query: str, passage: str) -> str:
        parts = [f"{self.asked_as}: {query}", f"Passage: {passage}"]
        return "\n".join([*(reversed(parts) if self.examples else parts), *([self.closing] if self.closing else [])])


_UMBRELA = """Judge on a scale of whole numbers from 0 to 3 how well the passage meets the query:
3: it is about nothing but the query and holds the exact answer
2: it holds some answer, which is not quite clear or stands among other matter
1: it seems to belong to the query's subject and does not answer it
0: it has nothing to do with the query
Give 1 to a passage that is partly on the subject, 2 to one that says something important on the whole subject along
with other things, 3 to one that keeps to the subject alone and treats all of it, and 0 to any other."""
_UMBRELA_STEPS = """
Work in steps. Think of what a person who types this query wants to know. Rate how well the passage matches that (M).
Rate how far the passage can be trusted (T). Weigh both by their importance and decide on the final score (O), a whole
number from 0 to 3. Give no reasons and no code. Write three lines:
M: number
T: number
##final score: number"""
_THOMAS = """You rate the quality of search results. Score how relevant the passage is for the query:
2: highly relevant, of great help to whoever asks this
1: relevant, of some help, and perhaps among matter that is beside the point
0: not relevant, should not be shown for this query
Reply with one number: 0, 1 or 2."""
_FAGGIOLI = "State whether the passage is relevant for the question. Reply with Yes or No."
_HELM = "Is the query answered by the passage? Reply with Yes or No."
_SUN = (
    "You are given a passage and a query. Predict whether an answer to the query is contained in the passage, and "
    'write either "Yes" or "No".'
)

_FAGGIOLI_ZERO = RelevanceJudge(
    "Faggioli et al. 2023, as FaggioliB in EXAM++", _FAGGIOLI, 1, 1, parse_yes_no, asked_as="Question"
)
_SUN_ZERO = RelevanceJudge("Sun et al. 2023, as in EXAM++", _SUN, 1, 1, parse_yes_no)

RELEVANCE_JUDGES: Mapping[str, RelevanceJudge] = {
    "umbrela": RelevanceJudge(
        "UMBRELA, Upadhyay et al. 2024",
        _UMBRELA,
        3,
        2,
        parse_final_score,
        closing=_UMBRELA_STEPS,
        reply="",
        max_tokens=SCORES_TOKENS,
    ),
    "thomas": RelevanceJudge("Thomas et al. 2023, abridged as in EXAM++", _THOMAS, 2, 1, parse_level),
    "faggioli": _FAGGIOLI_ZERO,
    "faggioli-few": _FAGGIOLI_ZERO._replace(examples=SOLVED_EXAMPLES),
    "helm": RelevanceJudge("HELM, Liang et al. 2022, as in EXAM++", _HELM, 1, 1, parse_yes_no),
    "sun": _SUN_ZERO,
    "sun-few": _SUN_ZERO._replace(examples=SOLVED_EXAMPLES, closing="Does the passage answer the query?"),
}
"""Each judge under its name on the command line."""
