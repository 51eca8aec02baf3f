"""What a language model is asked about a sentence of a report, one prompt for each of ARGUE's questions."""

from __future__ import annotations

from collections.abc import Callable

from examcore import Prompt
from grading.reports._judging_material import Ask, Kind, ReportMaterial

VERSION = "argue-1"
"""Of the prompts below; it is part of every prompt's system text and so of the key that replies are kept under."""
SYSTEM = f"You check sentences of reports against rules and sources. Reply Yes or No. ({VERSION})"


def prompt_for(ask: Ask, material: ReportMaterial, document: str) -> Prompt:
    """The prompt of a question, with the document's text where it asks about one."""
    return Prompt(_PROMPTS[ask.kind](ask, material, document), system=SYSTEM, reply="Reply:")


def _supported(ask: Ask, material: ReportMaterial, document: str) -> str:
    return (
        f'Source:\n"""\n{document}\n"""\n\nSentence: {material.sentence(ask)}\n\n'
        "Does the source say what the sentence says? Yes, if reading the source alone shows that everything in the "
        "sentence is so; No, if any part of it is missing there or said otherwise. Reply Yes or No."
    )


def _answers(ask: Ask, material: ReportMaterial, _: str) -> str:
    nugget = material.nugget(ask)
    if ask.answer < 0:
        return (
            f"Sentence: {material.sentence(ask)}\nQuestion: {nugget.question}\n\n"
            "Does the sentence say that no answer to this very question is known or was found? Reply Yes or No."
        )
    return (
        f"Sentence: {material.sentence(ask)}\nQuestion: {nugget.question}\n"
        f"Acceptable answer: {nugget.answers[ask.answer].text}\n\n"
        "Does the sentence answer the question with this answer, in whatever words? Reply Yes or No."
    )


def _claims_absence(ask: Ask, material: ReportMaterial, _: str) -> str:
    return (
        f"Sentence: {material.sentence(ask)}\n\n"
        "Does the sentence say that some information is not available, not known or was not found? Reply Yes or No."
    )


def _needs_citation(ask: Ask, material: ReportMaterial, _: str) -> str:
    request = material.requests.get(ask.topic, "")
    return (
        (f"The report was asked for so: {request}\n\n" if request else "")
        + "".join(f"Earlier in the report: {one}\n" for one in material.before(ask)[-5:])
        + f"Sentence: {material.sentence(ask)}\n\n"
        "Does the sentence need a citation of a source? No, if it only introduces, repeats what was asked or sums up "
        "cited sentences; Yes, if it states facts of its own. Reply Yes or No."
    )


def _repeats(ask: Ask, material: ReportMaterial, _: str) -> str:
    before = "\n".join(material.before(ask)) or "(nothing)"
    return (
        f'Report so far:\n"""\n{before}\n"""\n\nNext sentence: {material.sentence(ask)}\n\n'
        "Does the report so far say already what the next sentence claims? Reply Yes or No."
    )


_PROMPTS: dict[Kind, Callable[[Ask, ReportMaterial, str], str]] = {
    "supported": _supported,
    "answers": _answers,
    "claims_absence": _claims_absence,
    "needs_citation": _needs_citation,
    "repeats": _repeats,
}
