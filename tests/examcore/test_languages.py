from pathlib import Path

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from examcore import (
    LANGUAGES,
    Chunk,
    Document,
    Question,
    content_stems,
    find_language,
    function_words,
    language_named,
    overlap,
    read_chunks,
    read_documents,
    stemmer,
    text_units,
    words,
    write_chunks,
    write_documents,
)
from tests.language_samples import SAMPLES


@pytest.mark.parametrize("code", SAMPLES)
def test_the_language_of_a_paragraph_is_found(code: str) -> None:
    assert find_language(SAMPLES[code]) == code


@pytest.mark.parametrize("text", ["", "DNS", "x = f(y)\nreturn x", "0 1 2 3 4 5", "{}\n()"])
def test_no_language_is_found_in_code_numbers_and_single_words(text: str) -> None:
    assert find_language(text) is None


def test_every_language_is_one_that_the_detector_knows() -> None:
    assert set(LANGUAGES) <= set(LanguageIdentifier.from_model_file(MODEL_FILE).labels)


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_name_that_the_table_gives_a_library_is_known_to_it(code: str) -> None:
    assert text_units("A b c. D e f.", code)
    assert (stemmer(code) is None) == (not language_named(code).stemmer)
    assert bool(function_words(code)) == bool(language_named(code).stop_words or code == "en")


def test_an_unknown_code_is_refused() -> None:
    with pytest.raises(ValueError, match="language 'xx': unknown; wanted one of ar, bg"):
        language_named("xx")


@pytest.mark.parametrize(
    ("code", "one", "other"),
    [
        ("de", "Die Paketverwaltungen der Benutzer", "eine Paketverwaltung, des Benutzers"),
        ("fr", "les paquets installés", "installer un paquet"),
        ("es", "los paquetes instalados", "instalar el paquete"),
        ("ja", "パッケージを", "パッケージ"),
    ],
)
def test_inflected_forms_have_content_stems_in_common(code: str, one: str, other: str) -> None:
    assert content_stems(one, code) & content_stems(other, code)


def test_function_words_are_no_content_in_their_own_language_alone() -> None:
    assert content_stems("der die das", "de") == set()
    assert content_stems("der die das") == {"der", "die", "das"}
    assert overlap("die Katze", "eine Katze", "de") == 1.0
    assert overlap("die Katze", "eine Katze") == 0.5


def test_words_of_a_script_without_spaces_are_pairs_of_characters() -> None:
    assert words("東京都はDebianの町", "ja") == ["東京", "京都", "都は", "debian", "の町"]
    assert words("木", "zh") == ["木"]
    assert words("Tokyo is big") == ["tokyo", "is", "big"]


@pytest.mark.parametrize(
    ("code", "text", "starts"),
    [
        (
            "de",
            "Das gilt z. B. für Pakete bzw. Quellen. Am 3. Mai endet es. Danach nicht.",
            ["Das", "Am", "Danach"],
        ),
        ("fr", "Voir p. ex. le fichier. Il est lu au démarrage.", ["Voir", "Il"]),
        ("es", "Vea la pág. 3 del Dr. Gil. Después reinicia.", ["Vea", "Después"]),
        ("ja", "これは文です。次の文です。", ["これ", "次の"]),
    ],
)
def test_sentences_end_where_the_language_ends_them(code: str, text: str, starts: list[str]) -> None:
    found = [text[one.start : one.end] for one in text_units(text, code)]
    assert len(found) == len(starts)
    assert all(one.startswith(start) for one, start in zip(found, starts, strict=True))


def test_the_language_of_documents_and_chunks_is_kept_and_english_is_not_said(tmp_path: Path) -> None:
    documents = [Document("a", "", "x", language="de"), Document("b", "", "y")]
    chunks = [Chunk("a#0", "a", "x", 0, 1, language="de"), Chunk("b#0", "b", "y", 0, 1)]
    write_documents(tmp_path / "corpus.jsonl", documents)
    write_chunks(tmp_path / "chunks.jsonl", chunks)
    assert read_documents(tmp_path / "corpus.jsonl") == documents
    assert read_chunks(tmp_path / "chunks.jsonl") == chunks
    assert ["language" in line for line in (tmp_path / "chunks.jsonl").read_text().splitlines()] == [True, False]


def test_an_unknown_language_in_a_file_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"id": "a", "text": "x", "language": "xx"}\n')
    with pytest.raises(ValueError, match=r"corpus.jsonl:1: language is 'xx'; wanted a code such as en, de or fr"):
        read_documents(path)


def test_a_question_is_in_the_language_that_it_names() -> None:
    assert Question("q", "?", ("a", "b"), 0, metadata={"language": "de"}).language == "de"
    assert Question("q", "?", ("a", "b"), 0).language == "en"
    assert Question("q", "?", ("a", "b"), 0, metadata={"language": "Klingon"}).language == "en"
