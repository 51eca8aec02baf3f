"""Exams in the language of their documents, or in another, by writers that know one thing of each harbour."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from exam_gen import AnsweredQuestion, WritingSettings, WrittenExam, question_prompt, write_screened
from exam_gen._prompts import gap_question_prompt, subject_of, version_in, wording_prompt, wrong_answers_prompt
from exam_gen.language import _stems
from exam_gen.language._known_languages import MODULES, exam_language
from exam_gen.language._reply_language import foreign
from exam_gen.language._spans import sentences, spans
from exam_gen.language._stems import find_answer, leaks, one_of_list, read_question
from examcore import Chunk, Likelihoods, Prompt, ReplyStore, content_stems, language_named
from tests.language_samples import SAMPLES
from tests.scripted_model import ScriptedModel


class Told(NamedTuple):
    """What the writer says in a language; places and fees are filled in."""

    places: tuple[str, ...]
    title: str
    text: str
    question: str
    plain: str
    key: str


EUROPEAN = ("Lisboa", "Triest", "Bergen", "Odessa", "Cardiff", "Rotterdam", "Marseille", "Danzig")
TOLD = {
    "de": Told(
        EUROPEAN,
        "Hafen von {}",
        "Die Verwaltung des Hafens von {} verlangt für einen festen Liegeplatz am Kai {} Euro im Monat.\n",
        "Wie viel verlangt die Verwaltung des Hafens von {} monatlich für einen festen Liegeplatz?",
        "was kostet ein Platz für mein Boot in {} jeden Monat?",
        "{} Euro",
    ),
    "fr": Told(
        EUROPEAN,
        "Port de {}",
        "La direction du port de {} demande pour un emplacement fixe le long du quai {} euros par mois.\n",
        "Combien la direction du port de {} demande-t-elle chaque mois pour un emplacement fixe ?",
        "quel est le prix d'une place pour un bateau à {} ?",
        "{} euros",
    ),
    "es": Told(
        EUROPEAN,
        "Puerto de {}",
        "La dirección del puerto de {} pide por un amarre fijo a lo largo del muelle {} euros al mes.\n",
        "¿Cuánto pide cada mes la dirección del puerto de {} por un amarre fijo?",
        "¿qué precio tiene un sitio para mi barco en {}?",
        "{} euros",
    ),
    "ja": Told(
        ("横浜", "神戸", "長崎", "函館", "新潟", "敦賀", "舞鶴", "釧路"),
        "{}港",
        "{}港の管理事務所は、岸壁に専用の係留場所を持つ船主に毎月{}円の料金を請求する。\n",
        "{}港の管理事務所は岸壁に専用の係留場所を持つ船主に毎月いくら請求しますか？",
        "{}で船を置いておくと月にどれくらいかかるの？",
        "{}円",
    ),
    "it": Told(
        EUROPEAN,
        "Porto di {}",
        "La direzione del porto di {} chiede per un ormeggio fisso lungo la banchina circa {} monete al mese.\n",
        "Quanto chiede ogni mese la direzione del porto di {} per un ormeggio fisso?",
        "che prezzo ha un posto per la mia barca a {}?",
        "{} monete",
    ),
    "en": Told(
        EUROPEAN,
        "Port of {}",
        "A skipper with a permanent berth in the port of {} pays {} dollars a month for water and light.\n",
        "How much does a skipper with a permanent berth in the port of {} pay each month for water and light?",
        "what is the price of a place for my boat in {}?",
        "{} dollars",
    ),
}


def fee(number: int) -> int:
    return 210 + 37 * number


def corpus(code: str) -> list[Chunk]:
    chunks = []
    for number, place in enumerate(TOLD[code].places):
        text = TOLD[code].text.format(place, fee(number))
        title = TOLD[code].title.format(place)
        chunks.append(Chunk(f"{code}{number}#0", f"{code}{number}", text, 0, len(text), title, language=code))
    return chunks


class HarbourWriter(ScriptedModel):
    """Asks for the fee of the harbour that a prompt is about last, in one language, and finds it in the passage.

    `stems_in`: another language for its questions. `wrong`: what it replies when it is asked for wrong answers.
    """

    def __init__(self, code: str, *, stems_in: str | None = None, wrong: str = "") -> None:
        super().__init__()
        self.code, self._stems_in, self._wrong = code, stems_in or code, wrong

    def reply_to(self, prompt: Prompt) -> str:
        said = exam_language(self.code).prompts
        asked = prompt.user.split("\n\n")[-1] if '"""' not in prompt.user else prompt.user
        number, place = self._harbour(asked)
        if said.answerable_request in prompt.user:
            return f" {said.yes}."
        if said.search_request in prompt.user or prompt.reply == said.plain_words:
            return f" {TOLD[self.code].plain.format(place)}"
        if prompt.reply == said.wrong_answers:
            return self._wrong
        if prompt.reply == said.answer:
            return f" {TOLD[self.code].key.format(fee(number))}"
        stem = TOLD[self._stems_in].question.format(place)
        return f" {stem}\n{said.answer} {TOLD[self.code].key.format(fee(number))}"

    def score_of(self, prompt: Prompt, continuation: str) -> float:
        said = exam_language(self.code).prompts
        number, _ = self._harbour(prompt.user)
        if continuation.strip() in {said.yes, said.no}:
            answer = re.findall(rf"^{re.escape(said.proposed_answer)} (.*)$", prompt.user, re.MULTILINE)[-1]
            return -0.1 if (str(fee(number)) in answer) == (continuation.strip() == said.yes) else -5.0
        return -0.2 if '"""' in prompt.user and str(fee(number)) in continuation else -8.0

    def log_likelihoods(self, prompt: Prompt, continuations) -> Likelihoods:
        found = super().log_likelihoods(prompt, continuations)
        return found._replace(tokens=(1,) * len(continuations))

    @staticmethod
    def _harbour(text: str) -> tuple[int, str]:
        known = {place: number for told in TOLD.values() for number, place in enumerate(told.places)}
        place = max((one for one in known if one in text), key=text.rfind)
        return known[place], place


def write(model: ScriptedModel, chunks: list[Chunk], **settings: object) -> WrittenExam:
    wanted = WritingSettings(questions=6, batch=8, **settings)
    with ReplyStore(":memory:") as replies:
        filters = {"near-duplicate": False}
        return write_screened(chunks, model, wanted, seed=1, replies=replies, filters=filters)


@pytest.mark.parametrize("code", ["de", "fr", "es", "ja", "en"])
def test_questions_are_asked_in_the_language_of_their_documents(code: str) -> None:
    written = write(HarbourWriter(code), corpus(code))
    assert len(written.questions) == 6, [one.reason for one in written.dropped]
    for question in written.questions:
        assert question.language == code
        assert question.answer in question.context
        assert foreign(question.stem, code) is None
        assert question.metadata["prompt"] == version_in("question-1", code)
        assert {one.kind for one in question.queries} == {"question", "keywords", "typos"}


def test_versions_name_the_language() -> None:
    assert version_in("question-1", "en") == "question-1"
    assert version_in("question-1", "de") == "question-de-1"
    assert version_in("wording-2", "ja") == "wording-ja-1"
    assert version_in("answer-3", "it") == "answer-any-1"
    assert version_in("people-1", "de") == "people-1"


def test_a_corpus_of_two_languages_gives_questions_in_both() -> None:
    class Bilingual(HarbourWriter):
        def _of(self, prompt: Prompt) -> str:
            return "ja" if re.search("[ぁ-ん]", prompt.user + prompt.reply) else "de"

        def reply_to(self, prompt: Prompt) -> str:
            return HarbourWriter(self._of(prompt)).reply_to(prompt)

        def score_of(self, prompt: Prompt, continuation: str) -> float:
            return HarbourWriter(self._of(prompt)).score_of(prompt, continuation)

    written = write(Bilingual("de"), [*corpus("de")[:5], *corpus("ja")[:5]], per_chunk=1)
    assert {one.language for one in written.questions} == {"de", "ja"}
    for question in written.questions:
        assert all(("円" in choice) == (question.language == "ja") for choice in question.choices)


@pytest.mark.parametrize(("code", "other"), [("de", "en"), ("fr", "en"), ("es", "fr"), ("ja", "en"), ("de", "ja")])
def test_a_writer_that_answers_in_another_language_has_its_reason_for_each_question(code: str, other: str) -> None:
    written = write(HarbourWriter(code, stems_in=other), corpus(code))
    wanted = f"stem is in {language_named(other).name}, wanted {language_named(code).name}"
    assert not written.questions
    assert wanted in {one.reason for one in written.dropped}


class Clerk(HarbourWriter):
    """Asks who keeps the list of ships, for a phrase that wants written wrong answers."""

    def reply_to(self, prompt: Prompt) -> str:
        said = exam_language("de").prompts
        if prompt.reply == said.question and "Verwaltung" in prompt.user.split("\n\n")[-1]:
            return " Wie nennt man in Lisboa, wer die Liste aller Schiffe führt?\nAntwort: der alte Hafenmeister"
        return " der alte Hafenmeister" if said.open_request in prompt.user else super().reply_to(prompt)

    def score_of(self, prompt: Prompt, continuation: str) -> float:
        if continuation.strip() in {"Ja", "Nein"}:
            answer = re.findall(r"^Vorgeschlagene Antwort: (.*)$", prompt.user, re.MULTILINE)[-1]
            return -0.1 if ("Hafenmeister" in answer) == (continuation.strip() == "Ja") else -5.0
        return -0.2 if '"""' in prompt.user and "Hafenmeister" in continuation else -8.0


LIST_TEXT = "In der Verwaltung von Lisboa führt der alte Hafenmeister jeden Tag die lange Liste aller Schiffe.\n"


def test_wrong_answers_in_another_language_are_the_reason_where_too_few_are_left() -> None:
    chunk = Chunk("a#0", "a", LIST_TEXT, 0, len(LIST_TEXT), "Hafen von Lisboa", language="de")
    written = write(
        Clerk("de", wrong=" the mayor of the old town; the captain of the ship; the cook of the inn"), [chunk]
    )
    assert "wrong answers are in English, wanted German" in {one.reason for one in written.dropped}
    written = write(Clerk("de", wrong=" der junge Kapitän; der dicke Wirt; die neue Lotsin; der müde Koch"), [chunk])
    assert [one.answer for one in written.questions] == ["der alte Hafenmeister"]


def test_questions_can_be_asked_in_another_language_than_that_of_the_documents() -> None:
    writer = HarbourWriter("de", wrong=" 15 Euro; 27 Euro; 81 Euro; 99 Euro")
    written = write(writer, corpus("en"), language="de")
    assert len(written.questions) == 6, [one.reason for one in written.dropped]
    for question in written.questions:
        assert question.language == "de"
        assert question.answer.endswith("Euro")
        assert "dollars" in question.context
        assert question.metadata["prompt"] == "question-de-1"


def test_people_s_own_questions_join_in_their_language() -> None:
    chunks = corpus("de")
    own = AnsweredQuestion("Was zahlt man in Bergen für einen Platz am Kai?", "284 Euro", [chunks[2]])
    with ReplyStore(":memory:") as replies:
        written = write_screened(
            chunks, HarbourWriter("de"), WritingSettings(questions=2), seed=1, replies=replies, people=[own]
        )
    found = [one for one in written.questions if one.metadata["prompt"] == "people-1"]
    assert [(one.stem, one.answer, one.language) for one in found] == [(own.text, "284 Euro", "de")]


def test_the_prompt_for_another_language_shows_sentences_in_that_of_the_documents() -> None:
    prompt = question_prompt("Bees", "Bees sleep.", "de", "en")
    assert "Satz: An induction motor draws" in prompt.user
    assert "Frage: Wie viel Strom nimmt ein Asynchronmotor" in prompt.user
    assert "in einer anderen Sprache" in prompt.system
    assert "in einer anderen Sprache" not in question_prompt("Bienen", "Bienen schlafen.", "de").system


def test_a_language_without_a_module_is_asked_for_in_english() -> None:
    prompt = question_prompt("Porto", "Il porto apre alle sei.", "it")
    assert "Write the question in Italian" in prompt.system
    assert prompt.user == "Topic: Porto\nSentence: Il porto apre alle sei."
    written = write(HarbourWriter("it", wrong=" 15 monete; 27 monete; 81 monete; 99 monete"), corpus("it"))
    assert len(written.questions) == 6, [one.reason for one in written.dropped]
    assert {one.metadata["prompt"] for one in written.questions} == {"question-any-1"}


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValueError, match="exam: language is 'xx'; wanted one of ar, bg"):
        WritingSettings(language="xx")


def test_a_run_without_a_language_stores_none() -> None:
    assert "language" not in WritingSettings().identity
    assert WritingSettings(language="de").identity["language"] == "de"


@pytest.mark.parametrize("code", sorted(MODULES.keys() - {"en"}))
def test_the_examples_of_a_language_pass_its_own_checks(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_stems, "_examples", lambda _code: frozenset())
    for title, sentence, question, answer in MODULES[code].prompts.question_examples:
        label = MODULES[code].prompts.answer
        read = read_question(f"{question}\n{label} {answer}", title=title, sentence=sentence, code=code)
        assert read.key == answer
        assert read.reason is None, (question, read.reason)
    for question, key, wrong in MODULES[code].prompts.wrong_examples:
        assert len(wrong.split(";")) == 4
        assert foreign(f"{question} {wrong}", code) is None
        assert not leaks(question, key, code)


@pytest.mark.parametrize("code", sorted(MODULES.keys() - {"en"}))
def test_a_reply_that_gives_an_example_back_is_dropped(code: str) -> None:
    title, sentence, question, answer = MODULES[code].prompts.question_examples[1]
    raw = f"{question}\n{MODULES[code].prompts.answer} {answer}"
    assert (
        read_question(raw, title=title, sentence=sentence, code=code).reason == "stem repeats an example of its prompt"
    )


def test_question_and_answer_may_share_a_line() -> None:
    raw = "港長は船の名前をどこに書きますか？ 答え： 帳簿"
    read = read_question(raw, title="横浜の港長", sentence="港長は船の名前を帳簿に書く。", code="ja")
    assert read == ("港長は船の名前をどこに書きますか？", "帳簿", None)


@pytest.mark.parametrize("code", MODULES)
def test_prompts_are_in_their_language(code: str) -> None:
    prompts = [
        question_prompt("T", "S", code),
        gap_question_prompt("T", "S ____", "S", code),
        wording_prompt("S", code),
        wrong_answers_prompt("S", "K", code),
    ]
    for prompt in prompts:
        assert foreign(prompt.system, code) is None
        assert foreign(prompt.user, code) is None
        others = [one for one in MODULES if one not in {code, "en"} and foreign(prompt.system, one) is None]
        assert others == []


@pytest.mark.parametrize("code", ["de", "fr", "es", "ja"])
def test_the_sentences_of_a_paragraph_are_found(code: str) -> None:
    found = sentences(SAMPLES[code], code)
    assert found
    assert "".join(found).replace(" ", "") in SAMPLES[code].replace(" ", "")


def test_sentences_are_found_in_scripts_with_marks_above_letters_and_with_other_full_stops_or_none() -> None:
    hindi = "बंदरगाह का प्रमुख हर सुबह पहले जहाज़ों के आने से पहले बड़ा फाटक खोलता है।"
    thai = "นายท่าเรือเปิดประตูใหญ่ทุกเช้าก่อนที่เรือลำแรกจะเข้ามาและจดชื่อเรือลงในสมุด"
    assert sentences(hindi, "hi") == [hindi]
    assert sentences(thai, "th") == [thai]


@pytest.mark.parametrize(
    ("code", "sentence", "keys"),
    [
        (
            "de",
            "Der alte Leuchtturm von Husum wurde am 3. März 1902 für 12.500 Euro gebaut.",
            {"Leuchtturm", "3. März 1902", "12.500 Euro"},
        ),
        (
            "fr",
            "Le gardien du phare consigne l'arrivée des navires depuis le 3 mars 1902 pour 2,5 euros.",
            {"gardien du phare", "3 mars 1902", "2,5 euros", "arrivée des navires"},
        ),
        (
            "es",
            "El farero de Vigo apunta la llegada de los barcos desde el 3 de marzo de 1902 por 25 euros.",
            {"Vigo", "llegada de los barcos", "3 de marzo de 1902", "25 euros"},
        ),
        (
            "ja",
            "横浜港の灯台守は1902年3月3日から帳簿に船の名前を書き、Debian システムで30日間保存する。",
            {"1902年3月3日", "帳簿", "Debian", "30日間", "横浜港の灯台守"},
        ),
    ],
)
def test_spans_are_found_by_rule(code: str, sentence: str, keys: set[str]) -> None:
    assert keys <= {one.text for one in spans(sentence, code)}


def test_code_in_quotes_is_told_from_a_title_in_quotes() -> None:
    sentence = "La orden «apt-get source» y el capítulo «El gran puerto» nombran el fichero «/etc/fstab» y «tar»."
    found = {one.text for one in spans(sentence, "es") if one.kind.startswith("code")}
    assert found == {"apt-get source", "/etc/fstab", "tar"}


@pytest.mark.parametrize(
    ("code", "sentence", "item", "single"),
    [
        ("de", "Der Lotse prüft Anker, Segel und Ruder vor der Einfahrt.", "Segel", "der Einfahrt"),
        ("fr", "Le pilote contrôle les voiles et les rames avant l'entrée.", "les voiles", "l'entrée"),
        ("es", "El práctico revisa las velas y los remos antes de la entrada.", "los remos", "la entrada"),
        ("ja", "水先人は入港の前に帆と舵を調べる。", "帆", "水先人"),
    ],
)
def test_one_thing_of_several_is_told_by_the_words_for_and(code: str, sentence: str, item: str, single: str) -> None:
    assert one_of_list(sentence, item, code)
    assert not one_of_list(sentence, single, code)


def test_answers_are_found_as_they_stand_in_the_sentence() -> None:
    assert find_answer("Die Standardausgabe.", "tar schreibt in die „Standardausgabe“.", "de") == "Standardausgabe"
    assert find_answer("標準 出力に", "tar は標準出力に書き出す。", "ja") == "標準出力に"
    assert find_answer("「標準出力」。", "tar は標準出力へ書き出す。", "ja") == "標準出力"
    assert find_answer("標準入力", "tar は標準出力へ書き出す。", "ja") == ""


def test_a_title_that_is_a_question_loses_its_form() -> None:
    assert subject_of("Wie kann ich ein Paket installieren?", "de") == "ein Paket installieren"
    assert subject_of("Comment installer un paquet ?", "fr") == "installer un paquet"
    assert subject_of("¿Cómo puedo instalar un paquete?", "es") == "instalar un paquete"


def test_short_texts_and_code_are_in_any_language() -> None:
    assert foreign("dpkg --configure -a", "de") is None
    assert foreign("Port 22", "ja") is None
    assert foreign("標準出力の文字列; 標準入力の文字列; 標準誤差", "ja") is None
    assert foreign("什么命令用于安装软件包？", "ja") == "Chinese, wanted Japanese"
    assert len(content_stems("標準出力", "ja")) == 3
