"""Judges of relevance, our own by scale and published ones by name: what each is shown, and how its reply is a grade.

The instructions of the published judges are in our own words. Scale, order of query and passage, number and order of
solved examples are those of the source. A reply that is on no scale is unparsed, where published code counts it as 0 or
as relevant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from examcore import Prompt
from grading.graders._reply_parsing import Parsed, parse_final_score, parse_level, parse_yes_no

RELEVANCE_VERSION, JUDGE_PROMPTS_VERSION = "relevance-1", "relevance-judges-1"
"""Of our own prompts and of the published judges', stored with the grades; change them with every word of a prompt."""
Scale = Literal["yes-no", "0-2"]
WORD_TOKENS = 8
"""Tokens of a reply that is one word or number."""
SCORES_TOKENS = 64
"""Tokens of the three scores of UMBRELA, each with its label on a line."""


class SolvedExample(NamedTuple):
    """A query, a passage, and how relevant the passage is; 1 is yes where that is the highest grade."""

    query: str
    passage: str
    level: int


EXAMPLES = (
    SolvedExample(
        "how long do barn swallows sit on their eggs",
        "A pair of barn swallows builds its cup of mud under a roof. Four or five eggs are laid, and the female sits "
        "on them for about two weeks until they hatch.",
        2,
    ),
    SolvedExample(
        "what causes dry rot in timber",
        "Oak floors are sanded in three passes, each with a finer paper, and then oiled.",
        0,
    ),
    SolvedExample(
        "why does bread dough need salt",
        "Bakers weigh flour, water, yeast and salt. Too much salt slows the yeast, which is why some add it late.",
        1,
    ),
    SolvedExample(
        "when was the first tunnel under the Thames opened",
        "The lighthouse on the point was lit with oil until 1902 and can be seen from twenty miles away.",
        0,
    ),
)
"""Solved examples for few-shot judgements; they cover the scale and contain no facts of a test collection."""

SOLVED_EXAMPLES = (
    SolvedExample(
        "how long do eggs keep in the fridge",
        "Fresh eggs keep for three to five weeks in the refrigerator, counted from the day they were bought.",
        1,
    ),
    SolvedExample(
        "how long do eggs keep in the fridge",
        "We keep six hens, and the eggs go into the fridge door. My neighbour says they keep longer than you think, "
        "but she throws hers out by smell.",
        0,
    ),
    SolvedExample(
        "can you take a bicycle on the coast train",
        "Season tickets can be shown on a telephone, and the barrier at the station reads the code from the screen.",
        0,
    ),
    SolvedExample(
        "can you take a bicycle on the coast train",
        "Bicycles travel free of charge on coast trains outside the rush hour; each carriage has room for four.",
        1,
    ),
)
"""Two queries, each with a passage that answers it and one on the subject that does not: yes, no, no, yes, as in the
few-shot prompts of EXAM++'s appendix."""


class RelevanceJudge(NamedTuple):
    """A judge of relevance; grades are whole numbers from 0 to `highest`, of which `relevant` and more are relevant.

    `asked_as` names the query in the prompt; `closing` follows query and passage, `reply` starts the reply. Where there
    are examples, `passage_first` puts the passage before the query, as in published few-shot prompts.
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
    passage_first: bool = False
    max_tokens: int = WORD_TOKENS

    def prompt(self, query: str, passage: str) -> Prompt:
        """Ask how relevant a passage is for a query."""
        words = ["No", "Yes"] if self.highest == 1 else list(map(str, range(self.highest + 1)))
        solved = [
            f"{self._task(one.query, one.passage)}\n{self.reply} {words[min(one.level, self.highest)]}"
            for one in self.examples
        ]
        return Prompt(user="\n\n".join([self.instruction, *solved, self._task(query, passage)]), reply=self.reply)

    def _task(self, query: str, passage: str) -> str:
        parts = [f"{self.asked_as}: {query}", f"Passage: {passage}"]
        return "\n".join(
            [*(reversed(parts) if self.passage_first else parts), *([self.closing] if self.closing else [])]
        )


_YES_NO = "Would somebody with this query want to read this passage? Reply with Yes or No."
_LEVELS = """Judge how useful the passage is for the query:
2: it answers the query or an important part of it
1: it has to do with the query and helps a little
0: it does not help
Reply with one number: 0, 1 or 2."""
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

OWN_JUDGES: Mapping[Scale, RelevanceJudge] = {
    "yes-no": RelevanceJudge("", _YES_NO, 1, 1, parse_yes_no, reply="Judgement:"),
    "0-2": RelevanceJudge("", _LEVELS, 2, 1, parse_level, reply="Judgement:"),
}
"""Direct judgements of relevance in our own words, by their scale."""
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
    "faggioli-few": _FAGGIOLI_ZERO._replace(examples=SOLVED_EXAMPLES, passage_first=True),
    "helm": RelevanceJudge("HELM, Liang et al. 2022, as in EXAM++", _HELM, 1, 1, parse_yes_no),
    "sun": _SUN_ZERO,
    "sun-few": _SUN_ZERO._replace(
        examples=SOLVED_EXAMPLES, passage_first=True, closing="Does the passage answer the query?"
    ),
}
"""Each judge under its name on the command line."""
