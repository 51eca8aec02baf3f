"""Labels by rule of questions in German, French and Spanish, against labels by hand."""

import csv
from pathlib import Path

import pytest

from examcore import LANGUAGES, cohen_kappa
from taxonomy import LEVELS, TAXONOMIES, WORDINGS, bloom, form, labels
from taxonomy._taxonomy import NOTHING

DATA = Path(__file__).parent / "data"
PAGE = (Path(__file__).parents[2] / "docs" / "taxonomy.md").read_text(encoding="utf-8")
CODES = ("de", "fr", "es")
KINDS = ("bloom", "knowledge", "form")


def kappa(name: str, code: str, kind: str) -> float:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="|"))
    by_hand = [row[f"form_{code}" if kind == "form" else kind] for row in rows]
    by_rule = [";".join(labels(row[code], code)[kind]) for row in rows]
    return cohen_kappa(by_hand, by_rule).estimate


@pytest.mark.parametrize("code", CODES)
def test_the_manual_shows_the_agreement_with_labels_by_hand(code: str) -> None:
    for name in ("questions_by_language.csv", "held_out_by_language.csv"):
        shown = " | ".join(f"{kappa(name, code, kind):.2f}" for kind in KINDS)
        assert f"| {LANGUAGES[code].name} | {shown} |" in PAGE


@pytest.mark.parametrize(
    ("code", "forms"),
    [
        ("de", "nennt nennen nannte genannt nenne"),
        ("de", "vergleicht vergleichen verglichen vergleiche"),
        ("fr", "citez cite citent citer"),
        ("fr", "concevez conçoit concevoir"),
        ("es", "compara comparan comparar compare"),
        ("es", "resuelve resuelva resolver"),
    ],
)
def test_a_verb_counts_in_its_inflected_forms(code: str, forms: str) -> None:
    assert len({WORDINGS[code].reduce(word) for word in forms.split()}) == 1
    assert WORDINGS[code].reduce(forms.split()[0]) in WORDINGS[code].known


@pytest.mark.parametrize(
    ("code", "question"),
    [
        ("de", "Wo steht die Beschreibung der Liste?"),
        ("de", "Wann läuft der Test?"),
        ("de", "Was macht „verwenden“?"),
        ("fr", "Où est la liste ?"),
        ("fr", "Quand l'analyse a-t-elle été lancée ?"),
        ("fr", "Où est « créer » ?"),
        ("es", "¿Dónde está la lista?"),
        ("es", "¿Cuándo terminó la configuración?"),
    ],
)
def test_nouns_and_quoted_words_are_no_tasks(code: str, question: str) -> None:
    assert bloom(question, code) == ("remember",)


@pytest.mark.parametrize(
    ("code", "question", "wanted"),
    [
        ("de", "Wenn die Datei fehlt, welche Meldung erscheint?", "which"),
        ("de", "Gibt es eine Grenze?", "yes/no"),
        ("de", "Du kennst Listen. Wie unterscheiden sich Mengen?", "how"),
        ("de", "„Wer da?“", "who"),
        ("fr", "Qu’est-ce qu’un verrou ?", "what"),
        ("fr", "Est-ce que la commande qui liste les fichiers existe ?", "yes/no"),
        ("fr", "D’où vient le nom ?", "where"),
        ("fr", "Laquelle est la plus grande ?", "which"),
        ("fr", "Nommez la commande qui liste les fichiers.", "other"),
        ("es", "Si falla, ¿cuál es el código?", "which"),
        ("es", "¿Por qué espera?", "why"),
        ("es", "Nombra el comando que lista los archivos.", "other"),
        ("es", "¿Hay un límite?", "yes/no"),
    ],
)
def test_the_form_is_the_word_that_asks_in_each_language(code: str, question: str, wanted: str) -> None:
    assert form(question, code) == wanted


def test_every_language_has_every_level_and_question_word_of_english() -> None:
    for wording in WORDINGS.values():
        assert tuple(wording.verbs) == LEVELS
        assert all(wording.verbs.values())
        assert set(wording.question_words) == set(WORDINGS["en"].question_words)
        assert {kind for kind, _ in wording.knowledge} == set(TAXONOMIES[1].names)
        for verb, listed in wording.spellings.items():
            assert wording.reduce(verb) in wording.known, (verb, listed)


def test_a_language_without_rules_gets_no_labels() -> None:
    assert labels("Perché il cielo è blu?", "it") == {}
    assert all(one.read("Perché il cielo è blu?", "it") == NOTHING for one in TAXONOMIES)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("code", CODES)
def test_hostile_text_is_labelled_in_no_time_in_each_language(code: str) -> None:
    repeated = ("l'", "um a ", "«", "pour ", "le-il ", "a: ", "¿", "x")
    for text in ("", *(one * (10_000 // len(one)) for one in repeated)):
        assert set(labels(text, code)) == {one.name for one in TAXONOMIES}
