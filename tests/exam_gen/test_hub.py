"""Data sets in the layouts they have on the hub, made small: the same columns, types and files."""

import gzip
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from exam_gen.corpora import Selection, gather
from exam_gen.corpora._hub import HubSource, hub_records, hub_source

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("hf:org/set", ("org/set", "", "", "train")),
        ("hf:org/set:test", ("org/set", "", "", "test")),
        ("hf:org/set:small:test", ("org/set", "", "small", "test")),
        ("hf:org/set@refs/convert/parquet:small:train", ("org/set", "refs/convert/parquet", "small", "train")),
        ("hf:org/set@v2", ("org/set", "v2", "", "train")),
        ("hf:C:/data/set", ("C:/data/set", "", "", "train")),
    ],
)
def test_a_source_names_set_revision_configuration_and_split(source: str, parts: tuple[str, ...]) -> None:
    assert hub_source(source) == HubSource(*parts)


def test_a_folder_that_exists_is_taken_by_its_whole_name(tmp_path: Path) -> None:
    folder = tmp_path / "me@home" / "set:test"
    folder.mkdir(parents=True)
    assert hub_source(f"hf:{folder}") == HubSource(str(folder), "", "", "train")
    assert hub_source(f"hf:{folder}:dev") == HubSource(str(folder), "", "", "dev")


def abstract(number: str, length: int, *categories: str) -> dict[str, Any]:
    """A row of gfissore/arxiv-abstracts-2021."""
    return {
        "id": number,
        "submitter": "A. Person",
        "authors": "A. Person",
        "title": f"On the\n  matter of {number}",
        "comments": None,
        "journal-ref": None,
        "doi": None,
        "abstract": ("  Word words\n" * length)[:length],
        "report-no": None,
        "categories": list(categories),
        "versions": ["v1"],
    }


def test_arxiv_abstracts_load_by_tag_length_and_year(tmp_path: Path) -> None:
    rows = [
        abstract("1706.03762", 1200, "cs.CL cs.LG"),
        abstract("2102.00001", 1200, "cs.CL"),
        abstract("hep-th/9901001", 1300, "hep-th gr-qc"),
        abstract("0704.0001", 1300, "gr-qc"),
        abstract("0704.0002", 200, "math.CO"),
        abstract("0704.0003", 1300, "alg-geom"),
    ]
    rows += [abstract(f"1801.{n:05d}", 1200, "cs.LG") for n in range(9)]
    folder = tmp_path / "arxiv-abstracts-2021"
    folder.mkdir()
    with gzip.open(folder / "arxiv-abstracts.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    found = gather(
        f"hf:{folder}:train",
        layout="abstracts",
        selection=Selection(min_characters=1000, max_characters=1500, before=2021, topics=13, per_topic=4),
        seed=1,
    )
    topics = {one.id: one.topic for one in found.documents}
    assert [topics["hep-th/9901001"], topics["0704.0003"]] == ["hep", "math"]
    assert sorted(topics.values()) == ["cs"] * 4 + ["hep", "math"]
    assert all("\n" not in one.text and "\n" not in one.title for one in found.documents)
    assert {one.id: one.date for one in found.documents}["hep-th/9901001"] == "1999"
    assert found.left_out == {
        "not dated before 2021": 1,
        "no tag among the thirteen": 1,
        "shorter than 1000 characters": 1,
        "beyond 4 of a topic": 6,
    }


def thread(number: int, site: str, *answers: tuple[int, bool, str]) -> dict[str, Any]:
    """A row of HuggingFaceH4/stack-exchange-preferences."""
    address = f"https://{site}.stackexchange.com"
    return {
        "qid": number,
        "metadata": [f"{address}/questions/{number}", address, f"{address}/users/1/"],
        "answers": [
            {"answer_id": n, "author": "x", "author_id": 1, "author_profile": "", "pm_score": score, "selected": best}
            | {"text": text}
            for n, (score, best, text) in enumerate(answers)
        ],
        "date": "2016/12/01",
        "question": f"<p>Why does <code>x{number}</code> fail?</p>\n",
    }


def test_stack_exchange_questions_are_joined_with_their_best_answer(tmp_path: Path) -> None:
    import datasets

    rows = [
        thread(
            1, "unix", (2, False, "<p>Low.</p>"), (5, False, "<p>High &amp; <b>dry</b>.</p>"), (5, False, "<p>C</p>")
        ),
        thread(2, "math", (3, False, "<p>First.</p>"), (3, True, "<p>Accepted.</p>")),
        thread(3, "unix", (-1, False, "<p>" + "long " * 400 + "</p>")),
        thread(4, "unix", (1, False, "<p> </p>")),
    ]
    (tmp_path / "set" / "data").mkdir(parents=True)
    datasets.Dataset.from_list(rows).to_parquet(tmp_path / "set" / "data" / "train-00000-of-00001.parquet")
    found = gather(f"hf:{tmp_path / 'set'}", layout="threads", selection=Selection(max_characters=1500))
    first, second = found.documents
    assert first.text == "Question: Why does x1 fail?\n\nTop answer: High & dry."
    assert (first.id, first.topic, first.date) == ("unix/1", "unix", "2016/12/01")
    assert first.source == "https://unix.stackexchange.com/questions/1"
    assert first.title == "Why does x1 fail?"
    assert second.text.endswith("Accepted.")
    assert found.left_out == {"longer than 1500 characters": 1, "no answer": 1}


SECTIONS = [
    f"section_{name}"
    for name in [
        "1",
        "10",
        "11",
        "12",
        "13",
        "14",
        "15",
        "1A",
        "1B",
        "2",
        "3",
        "4",
        "5",
        "6",
        "7",
        "7A",
        "8",
        "9",
        "9A",
        "9B",
    ]
]


def test_sentences_of_filings_are_joined_by_item_and_labels_get_their_names(tmp_path: Path) -> None:
    """JanosAudran/financial-reports-sec: one sentence a row, each configuration a folder of the hub's Parquet copy."""
    import datasets

    rows = [
        {
            "filename": f"{filing}.htm",
            "cik": "0000001750",
            "sentence": f"The company sold product number {n} of its line {section} in the year.",
            "section": SECTIONS.index(section),
            "docID": filing,
            "sentenceID": f"{filing}_{section}_{n}",
            "sentenceCount": n,
            "filingDate": "2019-07-18",
            "name": "AAR CORP",
        }
        for filing in ("0000001750_10-K_2018", "0000001750_10-K_2019")
        for section, count in (("section_1", 60), ("section_1A", 60), ("section_2", 60), ("section_7", 5))
        for n in range(count)
    ]
    features = datasets.Features(
        {name: datasets.Value("int64" if name == "sentenceCount" else "string") for name in rows[0]}
        | {"section": datasets.ClassLabel(names=SECTIONS)}
    )
    (tmp_path / "set" / "small_full" / "train").mkdir(parents=True)
    table = datasets.Dataset.from_list(rows, features=features)
    table.to_parquet(tmp_path / "set" / "small_full" / "train" / "0000.parquet")
    source = f"hf:{tmp_path / 'set'}:small_full:train"
    assert next(hub_records(source)).fields["section"] == "section_1"
    found = gather(source, layout="filings")
    assert [one.id for one in found.documents] == [
        f"0000001750_10-K_{year}/item-{item}" for year in (2018, 2019) for item in ("1", "1A")
    ]
    first = found.documents[0]
    assert first.title == "AAR CORP Form 10-K, 2019: Business"
    assert first.topic == "AAR CORP"
    assert first.text.count("The company sold") == 60
    assert found.left_out == {"no item 7": 2}


def test_a_filing_by_items_gives_its_items(tmp_path: Path) -> None:
    """EDGAR-CORPUS: one filing a row, an item a column."""
    row = {"filename": "718413_1993.txt", "cik": "718413", "year": "1993"}
    row |= {section: f"ITEM {section}.\n" + "Some prose stands here. " * 200 for section in SECTIONS}
    row["section_7"] = "Incorporated by reference."
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "train.jsonl").write_text(json.dumps(row) + "\n")
    found = gather(f"hf:{tmp_path / 'set'}", layout="filings")
    assert [one.id for one in found.documents] == ["718413_1993.txt/item-1", "718413_1993.txt/item-1A"]
    assert [one.title for one in found.documents][1] == "718413 Form 10-K, 1993: Risk Factors"
    assert found.left_out == {"no item 7": 1}


def test_passages_with_an_id_and_an_address_are_documents(tmp_path: Path) -> None:
    """sauravjoshi23/aws-documentation-chunked: passages in one JSON-lines file."""
    rows = [{"id": f"p{n}", "text": f"# Page {n}\n\nSome text.", "source": f"https://x/{n}.html"} for n in range(30)]
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = gather(f"hf:{tmp_path / 'set'}", selection=Selection(topics=18), sample=9, seed=1)
    assert len(found.documents) == 9
    assert found.documents[0].title == f"Page {found.documents[0].id[1:]}"
    assert found.documents[0].source.startswith("https://x/")
    assert found.left_out == {"not drawn into the sample": 21}


def test_a_missing_split_or_configuration_is_named(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "train.jsonl").write_text('{"text": "a"}\n')
    for part, split in (("dev", "dev"), ("large:train", "train")):
        with pytest.raises(ValueError, match=rf"hf:.*set: cannot load split '{split}' \(.+\); wanted a data set"):
            gather(f"hf:{tmp_path / 'set'}:{part}")
