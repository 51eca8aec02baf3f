import pytest
from hypothesis import given
from hypothesis import strategies as st

from exam_gen.facts import facts
from exam_gen.records import Chunk
from exam_gen.spans import code_kind, sentences, spans
from exam_gen.stems import leaks, names_subject, read_stem, strays, with_topic


def texts(sentence: str, kind: str) -> list[str]:
    return [span.text for span in spans(sentence) if span.kind.startswith(kind)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("KeyError", "code:exception"),
        ("__init__()", "code:special"),
        ("__dict__", "code:dunder"),
        ("len()", "code:call"),
        ("--verbose", "code:option"),
        ("sys.path", "code:dotted"),
        ("MAX_SIZE", "code:constant"),
        ("OrderedDict", "code:camel"),
        ("max_size", "code:snake"),
        ("yield", "code:word"),
        ("not x", "code:expression"),
    ],
)
def test_code_has_a_kind(text, kind):
    assert code_kind(text) == kind


def test_code_numbers_names_and_phrases_are_found():
    sentence = "In 1998 the Harbour Board paid 63% of it, then `close()` failed with a heavy cold front in Oslo."
    assert texts(sentence, "number") == ["1998", "63%"]
    assert texts(sentence, "name") == ["Harbour Board", "Oslo"]
    assert texts(sentence, "code") == ["close()"]
    assert "heavy cold front" in texts(sentence, "phrase")


def test_a_run_of_words_with_a_verb_is_no_phrase():
    assert texts("The old engine in the port regulates water flow in winter.", "phrase:3") == []


def test_citation_marks_are_no_numbers():
    assert texts("Chromium improves control[28,29] in patients, as 480–580 units showed.", "number") == ["480"]


def test_only_prose_is_taken():
    text = (
        "Heading without an end\n\n    x = {1: 2}\n    print(x)\n\n"
        "The engine was built in the port by two men. It ran for ten years without a break, e.g. at night.\n"
    )
    assert sentences(text) == ["It ran for ten years without a break, e.g. at night."] or sentences(text) == [
        "The engine was built in the port by two men.",
        "It ran for ten years without a break, e.g. at night.",
    ]


@given(st.text(max_size=400))
def test_any_text_gives_spans_that_stand_where_they_say(text):
    for sentence in [*sentences(text), text]:
        for span in spans(sentence):
            assert sentence[span.start : span.end] == span.text


def chunk(text: str, number: int = 0, title: str = "Harbours") -> Chunk:
    return Chunk(f"d{number}#0", f"d{number}", text, 0, len(text), title)


def test_sentences_that_lean_on_others_are_not_asked_about():
    leaning = "It was the largest of the old harbours and stood near Oslo in 1911."
    pointing = "The following table shows the tonnage of the port of Oslo in 1911."
    assert facts([chunk(f"{leaning} {pointing}")], per_chunk=5, seed=0) == []


def test_a_sentence_that_stands_in_two_documents_is_asked_about_once():
    text = "The tonnage of the port reached a peak under the Harbour Board of Oslo after the war."
    found = facts([chunk(text, 0), chunk(text, 1), chunk(text, 2)], per_chunk=1, seed=0)
    assert len(found) <= 1


def test_a_gap_replaces_the_key():
    (fact,) = facts(
        [chunk("The tonnage of the port reached a peak under the Harbour Board after the war.")], per_chunk=1, seed=0
    )
    assert fact.gapped.replace("____", fact.span.text) == fact.span.sentence


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (" Which board ran the port of Oslo after the war?", None),
        (" The board ran the port of Oslo after the war.", "stem is not a question"),
        (" Did the board run the port of Oslo after the war?", "stem asks yes or no"),
        (" Which body is named in the text about the port?", "stem refers to the text"),
        (" Which of our boards ran the port of Oslo then?", "stem speaks in the first person"),
        (" Where was the Harbour Board of Oslo?", "stem contains the key"),
        (" Which one?", "stem is too short or too long"),
    ],
)
def test_a_reply_is_a_stem_or_says_why_not(raw, reason):
    assert read_stem(raw, title="Port of Oslo", key="Harbour Board")[1] == reason


def test_a_stem_without_its_subject_is_given_it():
    assert read_stem(" Which board took over after the long war?", title="Port of Oslo", key="x")[0].startswith(
        "Port of Oslo. Which board"
    )
    assert with_topic("Which one?", "Is it so?") == "Is it so? Which one?"
    assert names_subject("Which port froze?", "Ports of the north")


def test_a_key_whose_words_are_spread_over_the_stem_leaks():
    assert leaks("Which board of the harbour met?", "harbour board")
    assert not leaks("Which body ran the harbour?", "harbour board meeting")


def test_a_stem_that_invents_or_forgets_strays():
    sentence = "The pilot boat leaves the outer harbour two hours before high water."
    keeps = "When does the pilot boat leave the outer harbour of Oslo?"
    assert not strays(keeps, sentence, "Port of Oslo", "two hours before high water")
    assert strays(
        "When does the mayor congratulate the sailors of the pilot boat?", sentence, "Port of Oslo", "two hours"
    )
    assert strays(
        "When does the boat leave?", sentence + " Passengers wait inside the customs hall.", "Oslo", "two hours"
    )


def test_a_capitalised_plain_word_is_no_name():
    text = "The clerks of the port say that Cargo of the second order pays a duty in winter; cargo pays none in June."
    assert [fact.span.text for fact in facts([chunk(text)], per_chunk=1, seed=0) if fact.span.kind == "name:1"] != [
        "Cargo"
    ]
