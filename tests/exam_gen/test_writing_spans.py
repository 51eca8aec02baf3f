import pytest
from hypothesis import given
from hypothesis import strategies as st

from exam_gen.drafting import facts
from exam_gen.drafting._subjects import main_stems
from exam_gen.language._spans import code_kind, key_span, sentences, spans
from exam_gen.language._standalone_sentences import stands_alone
from exam_gen.language._stems import (
    echoes,
    find_answer,
    leaks,
    names_subject,
    one_of_list,
    read_question,
    read_stem,
    with_topic,
)
from examcore import Chunk


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
        ("(key, value)", "code:expression"),
        ("-(x+1)", "code:expression"),
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


def test_what_documents_are_about_comes_before_what_they_mention():
    about = {
        0: "Garlic from the fields of Arles holds 12 grams of allicin after a week of drying.",
        1: "The tonnage of the harbour of Oslo reached 40,000 barrels under the Board of Trade.",
    }
    also = {
        0: "Older cooks of Provence serve roast lamb with thyme and 3 spoons of olive oil.",
        1: "Winter storms of the northern coast broke 17 windows of the church of Bergen.",
    }
    more = {
        0: " Garlic is dried in sheds. Fresh garlic keeps for a month. Allicin gives garlic its smell.",
        1: " The harbour was deepened twice. Tonnage fell later. The harbour board kept books of tonnage.",
    }
    for seed in range(5):
        found = facts([chunk(about[n] + " " + also[n] + more[n], n, "") for n in (0, 1)], per_chunk=4, seed=seed)
        asked = [one.span.sentence for one in found]
        assert {asked.index(one) for one in about.values()} == {0, 1}
        assert asked[2:]
        assert set(asked[2:]) <= set(also.values())


def test_main_words_are_those_of_many_sentences_and_few_documents():
    texts = ["Garlic grows. Garlic smells. Garlic is old and grows here.", "Salt is old. Salt grows here.", "Old salt."]
    main = main_stems([chunk(text, number, "") for number, text in enumerate(texts)])
    assert "garlic" in main["d0"]
    assert "garlic" not in main["d1"]


def test_a_gap_replaces_the_key():
    (fact,) = facts(
        [chunk("The tonnage of Oslo reached a peak under the Harbour Board after long wars at sea.")],
        per_chunk=1,
        seed=0,
    )
    assert fact.gapped.replace("____", fact.span.text) == fact.span.sentence


SENTENCE = "After a long war the Harbour Board ran the port of Oslo for ten years."


@pytest.mark.parametrize(
    ("question", "answer", "reason"),
    [
        ("Which body ran the port of Oslo for ten years after a long war?", "the Harbour Board", None),
        ("How long did the Harbour Board run the port of Oslo after a long war?", "for ten years.", None),
        ("The board ran the port of Oslo after the war.", "ten years", "stem is not a question"),
        ("Did the Harbour Board run the port of Oslo?", "yes", "stem asks yes or no"),
        ("Which body in the text ran the port of Oslo?", "Harbour Board", "stem refers to the text"),
        ("Which of our boards ran the port of Oslo?", "Harbour Board", "stem speaks in the first person"),
        ("When did the Harbour Board run Oslo?", "the Harbour Board", "stem contains the key"),
        ("Which one?", "the Harbour Board", "stem is too short or too long"),
        (
            "Which body ran the port of Oslo for ten years after a long war?",
            "the Port Authority",
            "answer is not in the sentence",
        ),
        ("What did the board run after the war?", SENTENCE, "answer is too long"),
        ("Which body ran the port of Oslo for ten years after a long war?", "the", "answer says little"),
        ("Who ran the docks of Oslo once a war was over?", "the Harbour Board", None),
        ("What is an important port of the Harbour Board?", "Oslo", "stem has more than one answer"),
    ],
)
def test_a_reply_is_a_question_with_its_key_or_says_why_not(question, answer, reason):
    found = read_question(f" {question}\nAnswer: {answer}", title="Port of Oslo", sentence=SENTENCE)
    assert found.reason == reason
    assert reason or found.key in SENTENCE


def test_a_key_that_holds_one_of_two_quotes_is_cut_off():
    reply = ' What does a closed port of Oslo raise?\nAnswer: Error" exception'
    found = read_question(reply, title="Port of Oslo", sentence='A closed port of Oslo raises an "Error" exception.')
    assert found.reason == "answer is cut off"


@pytest.mark.parametrize(
    ("answer", "sentence", "key"),
    [
        ('"iter()"', 'The function "iter()" returns an iterator.', "iter()"),
        ("The Harbour Board", SENTENCE, "the Harbour Board"),
        ("a Harbour Board", SENTENCE, "Harbour Board"),
        ("coerce zeros", "The option coerces zeros to ones.", "coerces zeros"),
        ("True if it is odd", 'It gives "True" if it is odd.', 'True" if it is odd'),
        ("arb", SENTENCE, ""),
        ("", SENTENCE, ""),
    ],
)
def test_an_answer_is_found_in_its_sentence_but_for_case_marks_and_inflection(answer, sentence, key):
    found = find_answer(answer, sentence)
    assert found in sentence
    assert found.replace('"', "") == key.replace('"', "")


@pytest.mark.parametrize(
    ("sentence", "key", "listed"),
    [
        ("The crane lifts coal, iron and timber from the ships.", "iron", True),
        ("The crane lifts coal and iron from the ships.", "coal", True),
        ("The crane lifts goods such as coal from the ships.", "coal", True),
        ("The crane lifts coal and iron from the ships.", "coal and iron", False),
        ("If it rains, the conversion fails and the crane is stopped.", "fails", False),
        ("The crane lifts coal from the ships.", "coal", False),
    ],
)
def test_one_of_several_things_named_together_is_told(sentence, key, listed):
    assert one_of_list(sentence, key) is listed


def test_a_question_that_repeats_a_title_that_asks_is_refused():
    reply = " How long did the Harbour Board run the port of Oslo?\nAnswer: ten years"
    asking = "Did the Harbour Board run the port of Oslo long?"
    assert read_question(reply, title=asking, sentence=SENTENCE).reason == "stem repeats the title"
    assert read_question(reply, title="Port of Oslo", sentence=SENTENCE).reason is None


LOST = "stem leaves out a condition"


@pytest.mark.parametrize(
    ("stem", "sentence", "reason"),
    [
        (
            "What closes the port of Oslo?",
            "If a storm comes, the port is closed by a chain.",
            "stem leaves out a condition",
        ),
        ("What closes the port of Oslo if a storm comes?", "If a storm comes, the port is closed by a chain.", None),
        ("What closes the port of Oslo in a storm?", "If a storm comes, the port is closed by a chain.", None),
        ("What closes the port of Oslo?", "In storms (if any) the port is closed by a chain.", None),
        ("What closes the port of Oslo?", "The port is closed as if by a chain.", None),
        (
            "What is the port of Oslo closed for?",
            "Unless a chain closes it, the port is open.",
            "stem leaves out a condition",
        ),
    ],
)
def test_a_stem_keeps_the_condition_of_its_sentence(stem, sentence, reason):
    assert read_stem(stem, "a chain", title="Port of Oslo", sentence=sentence).reason == reason


@given(st.text(max_size=200))
def test_any_reply_gives_a_key_of_the_sentence_or_a_reason(raw):
    found = read_question(raw, title="Port of Oslo", sentence=SENTENCE)
    assert found.reason or (found.key and found.key in SENTENCE)


def test_a_key_that_is_a_known_span_has_its_kind_and_any_other_is_a_clause():
    assert key_span(SENTENCE, "the Harbour Board").kind == "name:2"
    assert key_span(SENTENCE, "the Harbour Board").text == "Harbour Board"
    clause = key_span(SENTENCE, "ran the port of Oslo")
    assert (clause.kind, SENTENCE[clause.start : clause.end]) == ("clause:5", "ran the port of Oslo")


def test_a_stem_without_its_subject_is_given_it():
    reply = " What took over after a long war?\nAnswer: Harbour Board"
    sentence = "After a long war the Harbour Board took over."
    stem = read_question(reply, title="Port of Oslo", sentence=sentence).stem
    assert stem == "Port of Oslo. What took over after a long war?"
    assert with_topic("Which one?", "Is it so?") == "Is it so? Which one?"
    assert names_subject("Which port froze?", "Ports of the north")


def test_a_key_whose_words_are_spread_over_the_stem_leaks():
    assert leaks("Which board of the harbour met?", "harbour board")
    assert not leaks("Which body ran the harbour?", "harbour board meeting")


def test_a_key_echoes_a_stem_that_holds_parts_of_its_words():
    assert echoes("Which header shows the replication of a harbour?", "x-port-replicationStatus") == {"repli"}
    assert echoes("Which permission switches acceleration on?", "PutAccelerateConfiguration") == {"accel"}
    assert echoes("Which board of the port met?", "pilots") == set()
    assert echoes("Which method is called for the modulo operation?", "__mod__()") == {"mod"}
    assert echoes("Which settings does the modest tree have?", "set of old oaks") == set()


@pytest.mark.parametrize(
    ("question", "title", "stem"),
    [
        ("Who ran Oslo after 1850?", "Port of Oslo", "Who ran Oslo after 1850?"),
        ("Who ran what after 1850?", "Port of Oslo", "Port of Oslo. Who ran what after 1850?"),
        ("Who ran the port after 1850?", "Port of Oslo", "Port of Oslo. Who ran the port after 1850?"),
        ("Who ran what after 1850?", "It was not only the port of Oslo.", "Who ran what after 1850?"),
        ("Who ran what after 1850?", 'The word is "harbour". It says', "Who ran what after 1850?"),
        ("Who ran what after 1850?", "The U.S. port", "The U.S. port. Who ran what after 1850?"),
    ],
)
def test_a_stem_gets_the_title_in_front_only_where_it_does_not_stand_alone(question, title, stem):
    found = read_stem(question, "the Harbour Board", title=title, sentence="After 1850 the Harbour Board ran it.")
    assert (found.stem, found.reason) == (stem, None)


def test_a_capitalised_plain_word_is_no_name():
    text = "The clerks of the port say that Cargo of the second order pays a duty in winter; cargo pays none in June."
    assert [fact.span.text for fact in facts([chunk(text)], per_chunk=1, seed=0) if fact.span.kind == "name:1"] != [
        "Cargo"
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "The Harbour Board of Oslo was founded by merchants after a war.",
        "If no pilot is aboard, a ship pays twice the usual fee of Oslo and waits.",
        "A ship that enters the port without a pilot pays a fee, and twice the fee at night.",
    ],
)
def test_a_sentence_that_names_what_it_speaks_of_stands_alone(sentence):
    assert stands_alone(sentence, "Port of Oslo")


@pytest.mark.parametrize(
    "sentence",
    [
        "However, the Harbour Board of Oslo was founded by the merchants.",
        "Failing to do so will raise the fee of the pilots in the port.",
        "In the left pane, choose the harbour and the date of the arrival.",
        "To see the ships of the port, enter the name of the Harbour Board.",
        "Extensive trials demonstrate that the harbour is deep enough for all ships.",
        "Our harbour is deeper than all the other harbours of the country.",
        "The second line of the log holds the name of the ship and its pilot.",
        "If both ships exist, the pilot of the port boards the larger one.",
        "The function executes until the pilot leaves the ship in the port.",
        "When the port is closed, the object waits for the pilot in the bay.",
        "Stone harbour: The harbour was built of stone by the merchants.",
    ],
)
def test_a_sentence_that_needs_others_does_not_stand_alone(sentence):
    assert not stands_alone(sentence, "Port of Oslo")


def test_a_general_noun_that_title_or_sentence_introduces_does_not_dangle():
    sentence = "The function executes until a pilot leaves a ship in the port."
    assert stands_alone(sentence, "Functions of a port")
    assert stands_alone("A function that is called at night executes until the function is stopped.", "Ports")


def test_bold_marks_go_and_powers_stay():
    text = "The **Harbour Board** of Oslo counts 2**3 ships and 10**2 boats in the port."
    assert sentences(text) == ["The Harbour Board of Oslo counts 2**3 ships and 10**2 boats in the port."]
