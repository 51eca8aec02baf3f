"""References out of a question: to the text it was written from, or to a thing it never names."""

from __future__ import annotations

from exam_gen.language._known_languages import exam_language
from examcore import ENGLISH


def outside_reference(stem: str, code: str = ENGLISH) -> str | None:
    """The words of a stem that point outside it, or None.

    Two kinds: references to a text ("according to the passage", "in Figure 3", a quoted title), and a pronoun or "this"
    with nothing before it to stand for ("What does it return?"). "Which of the following" points to the choices and
    is fine, and so is a pronoun after a sentence or clause that names something. None is found in a language without a
    module.
    """
    language = exam_language(code)
    text = " ".join(stem.split())
    opening = text.lstrip("\"'“‘„«¿「*( ")
    found = [*(one.search(text) for one in language.references), *(one.search(opening) for one in language.unnamed)]
    return next((match.group().strip() for match in found if match), None)
