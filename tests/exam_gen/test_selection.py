from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exam_gen.corpora import Selection
from exam_gen.corpora._record_layouts import ARCHIVES, archive, arxiv_year, best_answer, site, threads
from exam_gen.corpora._selection import select
from exam_gen.corpora._tables import LocatedDocument
from examcore import Document, JsonRecord

KINDS = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 40), st.integers(1990, 2030)), max_size=60)


def placed(kinds: Iterable[tuple[str, int, int]]) -> list[LocatedDocument]:
    return [
        LocatedDocument(f"place {n}", Document(f"d{n}", "", "x" * length, topic=topic, date=str(year)))
        for n, (topic, length, year) in enumerate(kinds)
    ]


@given(KINDS, st.none() | st.integers(1, 8), st.none() | st.integers(1, 4), st.none() | st.integers(1, 50))
def test_every_document_is_taken_or_counted(
    kinds: list[tuple[str, int, int]], per_topic: int | None, topics: int | None, sample: int | None
) -> None:
    selection = Selection(min_characters=5, max_characters=30, before=2021, per_topic=per_topic, topics=topics)
    source = placed(kinds)
    chosen = select(source, selection, sample=sample, seed=2)
    assert len(chosen.documents) + sum(chosen.left_out.values()) == len(source)
    order = [place for place, _ in chosen.documents]
    assert order == [one.place for one in source if one.place in order]
    for _, one in chosen.documents:
        assert 5 <= len(one.text) <= 30
        assert int(one.date) < 2021
    counts = Counter(one.topic for _, one in chosen.documents)
    assert len(counts) <= (topics or 4)
    assert all(count <= (per_topic or 60) for count in counts.values())
    assert len(chosen.documents) <= (sample or 60)


@given(KINDS, st.integers(1, 20))
def test_a_larger_sample_contains_the_smaller(kinds: list[tuple[str, int, int]], size: int) -> None:
    small, large = (
        {place for place, _ in select(placed(kinds), sample=one, seed=5).documents} for one in (size, size + 3)
    )
    assert small <= large


def test_the_most_frequent_topics_are_kept() -> None:
    kinds = [(topic, 10, 2000) for topic in "aabbbcccc"]
    chosen = select(placed(kinds), Selection(topics=2, per_topic=3))
    assert Counter(one.topic for _, one in chosen.documents) == {"b": 3, "c": 3}
    assert chosen.left_out == {"other topic": 2, "beyond 3 of a topic": 1}
    named = select(placed(kinds), Selection(topics=("a",)))
    assert {one.topic for _, one in named.documents} == {"a"}


def test_undated_documents_are_not_before_any_year() -> None:
    found = [LocatedDocument("p", Document("d", "", "text", date=date)) for date in ("", "soon")]
    assert select(found, Selection(before=2021)).left_out == {"no date": 1, "not dated before 2021": 1}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"min_characters": -1}, "min_characters: found -1; wanted 0 or more"),
        ({"min_characters": 9, "max_characters": 8}, "max_characters: found 8; wanted at least 9"),
        ({"topics": 0}, "topics: found 0; wanted at least 1"),
        ({"per_topic": 0}, "per_topic: found 0; wanted at least 1"),
    ],
)
def test_contradictory_selections_are_refused(fields: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Selection(**fields)


def test_archives_take_what_lies_below_them_and_what_they_took_up() -> None:
    tags = {"cs.CL": "cs", "hep-th": "hep", "nucl-ex": "nucl", "math-ph": "math", "cmp-lg": "cs", "alg-geom": "math"}
    tags |= {"astro-ph.GA": "astro-ph", "q-alg": "math", "chao-dyn": "nlin", "physics.optics": "physics"}
    assert {tag: archive([tag]) for tag in tags} == tags
    assert set(tags.values()) <= set(ARCHIVES)
    assert archive(["gr-qc", "quant-ph"]) is None
    assert archive(["quant-ph", "stat.ML", "cs.LG"]) == "stat"


@pytest.mark.parametrize(
    ("identifier", "year"),
    [
        ("2009.03465v3", "2020"),
        ("0704.0001", "2007"),
        ("hep-th/9901001", "1999"),
        ("math.GT/0309136", "2003"),
        ("9108.00001", "1991"),
        ("2013.00001", ""),
        ("q1", ""),
    ],
)
def test_an_identifier_tells_its_year(identifier: str, year: str) -> None:
    assert arxiv_year(identifier) == year


def test_the_best_answer_has_most_votes_then_acceptance_then_comes_first() -> None:
    def best(*answers: dict[str, object]) -> str | None:
        return best_answer(JsonRecord("p", {"answers": list(answers)}))

    assert best({"text": "a", "score": 1}, {"text": "b", "score": 3}, {"text": "c", "score": 2}) == "b"
    assert best({"text": "a", "pm_score": 3}, {"text": "b", "pm_score": 3, "selected": True}) == "b"
    assert best({"text": "a"}, {"text": "b"}) == "a"
    assert best() is None
    assert best({"text": None, "pm_score": 9}) is None


def test_damaged_threads_are_named() -> None:
    with pytest.raises(ValueError, match="p: answers is of type string; wanted a list of objects"):
        list(threads([JsonRecord("p", {"question": "q", "answers": "none"})]))
    with pytest.raises(ValueError, match=r"p: no question field \(found answers\); wanted 'question'"):
        list(threads([JsonRecord("p", {"answers": []})]))


def test_sites_are_read_from_addresses() -> None:
    assert site("https://physics.stackexchange.com/questions/1") == "physics"
    assert site("https://stackoverflow.com/questions/1") == "stackoverflow"
    assert site("https://meta.stackexchange.com/questions/1") == "meta"
    assert site("") == ""
