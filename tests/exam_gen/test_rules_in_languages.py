"""The usual rules on questions in other languages than English."""

from __future__ import annotations

import pytest

from exam_gen.rules import RuleTools, objections, rules_of
from examcore import Question

CLEAN = {
    "de": (
        "Wie viele Schiffe liegen im Hafen von Husum?",
        ("zwölf Kutter", "drei Fähren", "neun Boote", "vier Jachten"),
    ),
    "fr": ("Combien de navires sont amarrés au port de Dieppe ?", ("douze navires", "trois bacs", "neuf barques")),
    "es": ("¿Cuántos barcos hay en el puerto de Vigo?", ("doce barcos", "tres balsas", "nueve lanchas")),
    "ja": ("横浜の港には船が何隻ありますか？", ("十二隻の帆船", "三隻の渡船", "九隻の小舟")),
}


def asked(code: str, stem: str, choices: tuple[str, ...], context: str = "", name: str = "q") -> Question:
    return Question(name, stem, choices, 0, context=context, metadata={"language": code})


def found(name: str, *questions: Question) -> list[object]:
    (rule,) = rules_of(only=[name])
    return rule.reasons(questions, RuleTools())


@pytest.mark.parametrize("code", CLEAN)
def test_no_usual_rule_has_anything_against_a_good_question(code: str) -> None:
    assert objections(asked(code, *CLEAN[code])) == []


@pytest.mark.parametrize(
    ("code", "stem"),
    [
        ("de", "Was steht laut dem Text im Hafen?"),
        ("de", "Wie heißt das Schiff in diesem Abschnitt?"),
        ("de", "Was bewirkt sie?"),
        ("de", "Welche Option ist in Tabelle 3 genannt?"),
        ("fr", "Selon le passage, où se trouve le port ?"),
        ("fr", "Que montre ce tableau ?"),
        ("fr", "Que fait-il ?"),
        ("es", "Según el texto, ¿dónde está el puerto?"),
        ("es", "¿Qué muestra esta tabla?"),
        ("es", "¿Para qué sirve en este caso el puerto?"),
        ("ja", "この表は何を示していますか？"),
        ("ja", "本文によれば、港はどこにありますか？"),
        ("ja", "それは何をしますか？"),
    ],
)
def test_a_stem_that_points_outside_is_dropped(code: str, stem: str) -> None:
    assert found("self-contained", asked(code, stem, ("a", "b")))[0] is not None


@pytest.mark.parametrize(
    ("code", "stem"),
    [
        ("de", "Wofür verwendet man den Texteditor vim?"),
        ("de", "Welche Tabelle der Partition nennt die Sektoren?"),
        ("fr", "Quel éditeur de texte Debian installe-t-il ?"),
        ("es", "¿Qué orden muestra la tabla de particiones?"),
        ("ja", "パーティション表を表示するコマンドはどれですか？"),
    ],
)
def test_a_thing_that_is_called_like_a_text_is_none(code: str, stem: str) -> None:
    assert found("self-contained", asked(code, stem, ("a", "b"))) == [None]


@pytest.mark.parametrize(
    ("code", "choice"),
    [("de", "Port 22 (richtig)"), ("fr", "bonne réponse : le port"), ("es", "22 (correcto)"), ("ja", "22番（正）")],
)
def test_a_choice_that_says_that_it_is_right_is_dropped(code: str, choice: str) -> None:
    assert found("marked-choice", asked(code, "?", (choice, "b")))[0] is not None
    assert found("marked-choice", asked("en", "?", (choice, "b"))) == [None]


def test_the_limits_on_length_count_a_japanese_character_twice() -> None:
    short, enough = "港はどこですか？", "横浜の港はどこにありますか？"
    assert found("stem-short", asked("ja", short, ("a",)), asked("ja", enough, ("a",)))[0] == (
        "stem-short: 16, wanted at least 20"
    )
    assert found("stem-short", asked("ja", enough, ("a",))) == [None]


def test_a_long_japanese_key_is_a_cue() -> None:
    choices = ("港の管理者が毎朝開ける門", "港の入口", "税関の窓口", "船の甲板")
    assert "length-cue: " in str(found("length-cue", asked("ja", "何ですか？", choices))[0])
    assert found("length-cue", asked("ja", "何ですか？", ("港の門", "港の入口", "税関", "甲板"))) == [None]


def test_a_japanese_stem_that_holds_the_key_is_dropped_by_its_pairs_of_characters() -> None:
    stem, choices = "港長は船の名前をどこに書きますか、大きい帳簿ですか？", ("大きい帳簿", "門の柱", "木の箱")
    assert found("answer-leak", asked("ja", stem, choices)) == [
        "answer-leak: all 4 pairs of characters of the key are in the stem"
    ]
    assert found("answer-leak", asked("ja", "港長は船の名前をどこに書きますか？", choices)) == [None]


def test_japanese_stems_that_differ_in_a_character_are_near_duplicates() -> None:
    first = asked("ja", "横浜の港で港長が毎朝いちばん先に開けるのは何ですか？", ("甲", "乙"), name="a")
    same = asked("ja", "横浜の港で港長が毎朝いちばん先に開けるものは何ですか？", ("甲", "乙"), name="b")
    other = asked("ja", "神戸の税関が夜に調べる荷物はどの船から来ますか？", ("甲", "乙"), name="c")
    reasons = found("near-duplicate", first, same, other)
    assert reasons[0] is None
    assert str(reasons[1]).startswith("near-duplicate: 0.8")
    assert reasons[2] is None


def test_chinese_choices_are_compared_by_their_pairs_of_characters() -> None:
    alike = asked("zh", "港务长打开什么？", ("港口北侧的大门", "港口北侧的大门口", "仓库"))
    assert str(found("intra-words", alike)[0]).startswith("intra-words: 0.85")
    assert found("intra-words", asked("zh", "港务长打开什么？", ("港口北侧的大门", "仓库南面的窗户"))) == [None]


@pytest.mark.parametrize(
    ("code", "choices", "odd"),
    [
        (
            "de",
            ("kein Schiff im Hafen", "der Kran am Ufer", "das Boot am Steg", "die Boje im Meer"),
            "article, negation",
        ),
        (
            "fr",
            ("aucun navire au port", "le treuil du quai", "la barque du lac", "les bouées du large"),
            "article, negation",
        ),
        (
            "es",
            ("ningún barco en puerto", "la grúa del muelle", "el bote del lago", "las boyas del mar"),
            "article, negation",
        ),
    ],
)
def test_a_key_without_the_article_that_all_distractors_have_is_the_odd_one(
    code: str, choices: tuple[str, ...], odd: str
) -> None:
    assert odd in str(found("odd-one-out", asked(code, "?", choices))[0])


def test_a_german_statement_that_quotes_the_key_from_the_passage_leaks_it() -> None:
    passage = "Der Lotse bringt jedes Schiff sicher durch die enge Einfahrt."
    stem = "Wer „bringt jedes Schiff sicher durch die enge Einfahrt“ des Hafens?"
    assert (
        found("quoted-leak", asked("de", stem, ("die enge Einfahrt", "der Lotse", "der Kran"), passage))[0] is not None
    )
    assert found("quoted-leak", asked("de", stem, ("der Lotse", "der Wirt", "der Koch"), passage)) == [None]
