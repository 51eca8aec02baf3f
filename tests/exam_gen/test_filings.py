import random
import time

import pytest

from exam_gen.corpora import gather
from exam_gen.corpora._filings import ITEMS, headings, items_of
from exam_gen.corpora._paragraphs import reflow
from tests import shared_data

SHARED = shared_data.SHARED / "corpora/sec_filings.jsonl.gz"

TITLES = {
    "1": "Business",
    "1A": "Risk Factors",
    "1B": "Unresolved Staff Comments",
    "2": "Properties",
    "3": "Legal Proceedings",
    "4": "Mine Safety Disclosures",
    "5": "Market for Registrant's Common Equity",
    "6": "Selected Financial Data",
    "7": "Management's Discussion and Analysis of Financial Condition and Results of Operations",
    "7A": "Quantitative and Qualitative Disclosures About Market Risk",
    "8": "Financial Statements and Supplementary Data",
    "9": "Changes in and Disagreements With Accountants",
}
BROAD = {"1", "1A", "7", "8"}


def prose(item: str, paragraphs: int) -> str:
    return "\n".join(f"Paragraph {n} of the part on {TITLES[item].lower()} says something." for n in range(paragraphs))


def filing(style: str, *, mention: str = "", contents: bool = True) -> tuple[str, dict[str, str]]:
    """A filing with a table of contents, and its items as they were put in."""
    bodies = {item: prose(item, 80 if item in BROAD else 2) for item in TITLES}
    if mention:
        bodies["1A"] = bodies["1A"].replace("Paragraph 40", f"{mention}\nParagraph 40")
    heads = {item: style.format(item=item, title=title) for item, title in TITLES.items()}
    listing = "\n".join(f"Item {item}.\n\n{title}\n\n{n}" for n, (item, title) in enumerate(TITLES.items()))
    parts = {item: f"{heads[item]}\n{bodies[item]}\n" for item in TITLES}
    front = "UNITED STATES\nFORM 10-K\n\nTABLE OF CONTENTS\n" + (listing if contents else "") + "\n\nPART I\n"
    return front + "".join(parts.values()), parts


@pytest.mark.parametrize(
    "style",
    [
        "Item {item}. {title}",
        "ITEM {item}.\n\n{title}",
        "Item {item}: {title}.",
        "ITEM {item} — {title}",
        "PART I, Item {item}.{title}",
        "Items {item} and 99. {title}",
    ],
)
@pytest.mark.parametrize("contents", [True, False])
def test_items_are_found_behind_any_table_of_contents(style: str, contents: bool) -> None:
    text, parts = filing(style, contents=contents)
    assert items_of(text) == {item: parts[item] for item in ITEMS}


@pytest.mark.parametrize(
    "mention",
    [
        "Item 7. Management's Discussion and Analysis of this report has more.",
        'See "\nItem 1A. Risk Factors - Competition below."',
        "as told in\nItem 3. Legal Proceedings",
        "Item 8. Financial Statements and Supplementary Data",
    ],
)
def test_a_line_that_only_speaks_of_an_item_does_not_end_another(mention: str) -> None:
    text, parts = filing("Item {item}. {title}", mention=mention)
    assert items_of(text) == {item: parts[item] for item in ITEMS}


def test_an_item_that_only_points_elsewhere_is_absent() -> None:
    text, parts = filing("Item {item}. {title}")
    text = text.replace(parts["7"], f"Item 7. {TITLES['7']}\nIncorporated by reference.\n")
    assert set(items_of(text)) == {"1", "1A"}
    assert items_of("No heading at all.\n" * 1000) == {}


def test_a_bare_label_is_a_heading_where_no_titled_one_stands() -> None:
    text, parts = filing("Item {item}. {title}")
    split = parts["7"].replace(f"Item 7. {TITLES['7']}", f"ITEM 7.\n$\n3,159\n\n{TITLES['7']}")
    assert items_of(text.replace(parts["7"], split)) == {"1": parts["1"], "1A": parts["1A"], "7": split}
    cited = parts["1A"].replace("Paragraph 40", "ITEM 7.\nParagraph 40")
    assert items_of(text.replace(parts["1A"], cited))["7"] == parts["7"]


def test_running_heads_are_no_headings() -> None:
    assert [one.item for one in headings("PART I\nItem 1\n\n5\n\nItem 1. Business\nItem 1\nMore prose.")] == ["1"]


@pytest.mark.parametrize(
    "text",
    [
        "Item 1. Business\n" * 60_000,
        "".join(f"Item {item}. {title}\n" for item, title in TITLES.items()) * 3_000,
        "item " * 400_000,
        "Item 1" + " " * 2_000_000 + "Business",
        "Part I - " * 200_000,
        "\n" * 2_000_000,
        "x" * 2_000_000,
    ],
    ids=["one item", "all items", "items", "spaces", "parts", "blank", "one line"],
)
def test_hostile_filings_take_seconds(text: str) -> None:
    start = time.process_time()
    items_of(text)
    reflow(text)
    assert time.process_time() - start < 10


def test_wrapped_lines_are_joined_and_page_furniture_is_left_out() -> None:
    printed = (
        "Our Business\n\nThe company makes engines for ships and for\nmills, and it sells them in every part of the\n"
        "12\n\nTable of Contents\n\nPART I\nItem 1\n\nworld that has water.\nIt was founded in 1901 by two brothers"
        " from the\ncoast.\nRevenue\n2020\n2021\n"
    )
    assert reflow(printed).split("\n\n")[:2] == [
        "Our Business",
        "The company makes engines for ships and for mills, and it sells them in every part of the world that "
        "has water.",
    ]
    assert "It was founded in 1901 by two brothers from the coast." in reflow(printed)
    assert "Revenue\n2020\n2021" in reflow(printed)
    assert "Table of Contents" not in reflow(printed)


def test_reflowing_keeps_every_word_that_is_no_furniture() -> None:
    rng = random.Random(1)
    words = [f"w{rng.randrange(500)}{'.' if rng.random() < 0.1 else ''}" for _ in range(3000)]
    lines = []
    while words:
        lines.append(" ".join(words[: rng.randrange(1, 14)]))
        del words[: len(lines[-1].split())]
        lines += [""] * (rng.random() < 0.2)
    assert reflow("\n".join(lines)).split() == " ".join(lines).split()


@pytest.mark.skipif(not SHARED.exists(), reason="the shared corpora are not here")
def test_real_filings_give_their_items() -> None:
    found = gather(SHARED, layout="filings")
    # One filing has its items under names of its own, three have item 7 in an exhibit.
    assert len(found.documents) == 84
    assert found.left_out == {"no item 1": 1, "no item 1A": 1, "no item 7": 4}
    for one in found.documents:
        item = one.id.rsplit("-", 1)[1]
        # In one filing the columns of a table stand between "ITEM 7." and its title.
        assert ITEMS[item].split("'")[0].lower() in one.text[:2000].lower()
        assert one.text.lower().startswith(f"item {item.lower()}")
        assert one.title.endswith(ITEMS[item])
        assert "Unresolved Staff Comments" not in one.text[:600]
