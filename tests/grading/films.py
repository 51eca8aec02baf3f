"""The worked example of ARGUE (Mayfield et al. 2024, figures 3 and 4): its nuggets and outcomes, sentences retold."""

from __future__ import annotations

from grading._records import BankQuestion, KeyAnswer, Sentence, SystemReport

TOPIC, RUN = "films", "figure4"


def answer(text: str, *documents: int) -> KeyAnswer:
    return KeyAnswer(text, frozenset(f"D{one}" for one in documents))


CHINA = (1, 2, 5, 6, 7, 8, 9, 10)
NUGGETS = tuple(
    BankQuestion(str(number), TOPIC, question, answers)
    for number, question, answers in (
        (1, "When did Avatar first earn most?", (answer("2010", 1),)),
        (
            2,
            "When did Endgame come to earn most?",
            (
                answer("2019", 1, 2, 3, 8, 10, 12, 13),
                answer("July 2019", 3, 12, 13),
                answer("20 July 2019", 3),
                answer("21 July 2019", 13),
            ),
        ),
        (
            3,
            "What did the studio do to Endgame to get there?",
            (answer("six more minutes", 4), answer("more footage", 4), answer("footage at the end", 14)),
        ),
        (
            4,
            "When did Avatar earn most again?",
            (
                answer("2021", 1, 2, 6, 7, 9, 11),
                answer("March 2021", 1, 6, 7, 9, 11),
                answer("13 March 2021", 1, 6, 9),
                answer("two years after Endgame", 2),
            ),
        ),
        (5, "What brought Avatar there?", (answer("shown again in China", *CHINA), answer("back in cinemas", 11))),
    )
)

# (sentence retold, what it cites, outcome, nugget)
FIGURE4: tuple[tuple[str, str, int, str], ...] = (
    ("Two films have earned more than nearly all others.", "", 4, ""),
    ("Endgame overtook Avatar with 2.787 billion dollars.", "D12", 2, ""),
    ("That was made known in July 2019.", "D13", 3, "2"),
    ("The studio tried several things to fill cinemas again.", "", 4, ""),
    ("One was to show the film anew with something added.", "", 6, ""),
    ("The studio's head confirmed plans for unseen footage.", "D101", 2, ""),
    ("The new version has scenes after the credits and a tribute.", "D14", 3, "3"),
    ("This was to draw old and new viewers.", "", 6, ""),
    ("Avatar, too, came back to the top.", "", 4, ""),
    ("It was shown again in China and took 8 million in a day.", "D2", 3, "5"),
    ("Its second run in China put it on top again.", "D1", 3, "5"),
    ("That run is put down to the pandemic's delays.", "D2", 3, "5"),
    ("So both films were at the top at different times.", "", 4, ""),
    ("The studio showed Endgame again with more in it.", "", 6, ""),
    ("Avatar gained from the delays in China.", "", 6, ""),
    ("All this served to make both films record holders.", "", 4, ""),
)
REPORT = SystemReport(RUN, TOPIC, tuple(Sentence(text, (cited,) if cited else ()) for text, cited, _, _ in FIGURE4))


def judgments() -> list[dict[str, object]]:
    """What an assessor says of each sentence, one line each."""
    found: list[dict[str, object]] = []
    for number, (_, cited, outcome, nugget) in enumerate(FIGURE4):
        line: dict[str, object] = {"run": RUN, "topic": TOPIC, "sentence": number}
        if cited:
            line |= {"supported": True, "nuggets": [nugget] if nugget else []}
        else:
            line |= {"needs_citation": outcome == 6} | ({"repeats": True} if outcome == 6 else {})
        found.append(line)
    return found
