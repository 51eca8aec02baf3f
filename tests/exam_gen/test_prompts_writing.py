from exam_gen.prompts import closed_prompt, completion_stem, open_prompt, paper_prompt, stem_opening, stem_prompt


def test_the_stem_prompt_shows_the_gap_and_never_the_key():
    prompt = stem_prompt("Tides", "The tide is highest at ____ in spring.", "phrase:2s")
    assert prompt.user.endswith("Topic: Tides\nSentence: The tide is highest at ____ in spring.\nMissing: some words")
    assert prompt.reply == "Question: What"


def test_the_question_is_opened_where_the_model_needs_it():
    assert stem_opening("The pump calls ____ at night.", "code:call") == " Which"
    assert stem_opening("The pump stopped in ____ at night.", "number:year") == ""
    assert "Missing: an exception" in stem_prompt("t", "____", "code:exception").user


def test_a_condition_at_the_start_is_kept_as_it_stands():
    opening = stem_opening("If the valve is stuck, the pump raises ____ at once.", "code:exception")
    assert opening == " If the valve is stuck, which"
    assert stem_opening("If ____ is stuck, the pump stops.", "phrase:1s") == " What"


def test_only_the_open_prompt_holds_the_passage():
    passage = "Spring tides follow the new moon."
    assert passage in open_prompt("Tides", passage, "When?").user
    assert passage not in closed_prompt("When?").user
    assert passage in paper_prompt("Tides", passage).user


def test_a_completion_names_its_topic_and_keeps_the_sentence():
    stem = completion_stem("Do tides matter?", "The tide is highest at ____ in spring.")
    assert stem == 'Do tides matter: which answer completes the statement "The tide is highest at ____ in spring."?'
