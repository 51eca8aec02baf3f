import csv
import gzip
import json
import time
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exam_gen.corpora import Inventory, chunk, gather, need_source, take_inventory
from examcore import Document
from tests.corpus_reading import read_corpus
from tests.language_samples import SAMPLES

ROWS = [
    {"id": "a", "title": "Alpha", "text": "First text.", "source": "s", "topic": "t"},
    {"id": "b", "title": "Beta", "text": "Second, with “quotes”\nand a line.", "source": "", "topic": "u"},
]
WANTED = [Document(**row) for row in ROWS]


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def json_lines(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def table(path: Path, rows: list[dict[str, str]]) -> Path:
    """Write the rows in the format the file name asks for."""
    kind = path.name.removesuffix(".gz").rsplit(".")[-1]
    if kind == "jsonl":
        return put(path, json_lines(list(rows)))
    if kind == "json":
        return put(path, json.dumps(rows, indent=1).encode())
    if kind == "parquet":
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(rows), sink)
        return put(path, sink.getvalue().to_pybytes())
    plain = path.with_suffix(".plain")
    with open(plain, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if kind == "tsv" else ",")
        writer.writeheader()
        writer.writerows(rows)
    data = plain.read_bytes()
    plain.unlink()
    return put(path, data)


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "tsv", "parquet"])
def test_every_table_format_gives_the_same_documents(tmp_path: Path, kind: str, packed: str) -> None:
    path = table(tmp_path / f"corpus.{kind}{packed}", ROWS)
    assert read_corpus(path) == WANTED
    assert read_corpus(str(path)) == WANTED


def test_a_folder_gives_sorted_paths_titles_and_topics(tmp_path: Path) -> None:
    put(tmp_path / "b" / "page.html", b"<html><head><title>A &amp; B</title></head><body><p>Hello.</p></body></html>")
    put(tmp_path / "a_note.txt", b"\xef\xbb\xbfPlain\r\ntext.\r\n")
    put(tmp_path / "b" / "deep" / "guide.md.gz", b"---\ntitle: x\n---\n\n# Ignored **heading**\n\nText `code`.\n")
    put(tmp_path / "c.md", b"```\n# not a heading\n```\n\nThe [title](http://x)\n=====\n\nBody\n")
    put(tmp_path / "d.rst", b"=====\nRest \n=====\n\nBody.\n")
    put(tmp_path / ".hidden.md", b"# no")
    put(tmp_path / ".git" / "x.md", b"# no")
    put(tmp_path / "picture.png", b"\x89PNG")
    documents = read_corpus(tmp_path)
    assert [(d.id, d.title, d.topic) for d in documents] == [
        ("a_note.txt", "a note", ""),
        ("b/deep/guide.md.gz", "x", "b"),
        ("b/page.html", "A & B", "b"),
        ("c.md", "The title", ""),
        ("d.rst", "Rest", ""),
    ]
    assert documents[0].text == "Plain\ntext."
    assert documents[1].text == "# Ignored **heading**\n\nText `code`."
    assert documents[2].text == "Hello."
    assert documents[2].source == str(tmp_path / "b" / "page.html")


def test_html_keeps_text_and_code_and_loses_script_style_and_navigation(tmp_path: Path) -> None:
    page = b"""<!DOCTYPE html><html><head><style>p {}</style><script>alert('x')</script></head><body>
    <nav>Home | About</nav><h1>How to <em>sit</em></h1><!-- hidden --><p>One
    two<br>three &lt;tag&gt;.</p><ul><li>first</li><li>second <b>bold</b></li></ul>
    <table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table>
    <pre>def f():
        return 1 </pre><p>End</body>"""
    (document,) = read_corpus(put(tmp_path / "page.htm", page))
    assert document.title == "How to sit"
    assert document.text == (
        "How to sit\n\nOne two\nthree <tag>.\n\n- first\n- second bold\n\nk | v\n1 | 2\n\n"
        "def f():\n        return 1 \n\nEnd"
    )


def test_html_without_a_closed_head_keeps_its_body(tmp_path: Path) -> None:
    (document,) = read_corpus(put(tmp_path / "page.html", b"<head><title>T</title><body><p>Body 0"))
    assert (document.title, document.text) == ("T", "Body 0")


def test_html_with_navigation_never_closed_keeps_its_text(tmp_path: Path) -> None:
    (document,) = read_corpus(put(tmp_path / "page.html", b"<title>T</title><nav><a>Home</a><p>All the text.<br/>End"))
    assert (document.title, document.text) == ("T", "Home\n\nAll the text.\nEnd")


def test_html_with_a_title_never_closed_keeps_its_text(tmp_path: Path) -> None:
    (document,) = read_corpus(put(tmp_path / "page.html", b"<title>Name<p>All the text.</p><h1>Head</h1>"))
    assert (document.title, document.text) == ("Name", "All the text.\n\nHead")


def pdf(text: str) -> bytes:
    """A one-page PDF by hand: header, catalogue, page, font, stream and cross-reference table."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R "
        b"/Resources << /Font << /F1 4 0 R >> >> >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    body = b"%PDF-1.4\n"
    offsets = []
    for number, one in enumerate(objects, start=1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    tail = b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return body + tail % (table, len(body))


def test_pdf_text_is_read(tmp_path: Path) -> None:
    (document,) = read_corpus(put(tmp_path / "my-paper.pdf", pdf("Exams measure retrieval.")))
    assert (document.title, document.text) == ("my paper", "Exams measure retrieval.")


def test_files_of_a_folder_that_cannot_be_read_are_left_out_counted_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put(tmp_path / "bad.pdf", pdf("Exams measure.")[:300])
    put(tmp_path / "latin.txt", "Café au lait.".encode("latin-1"))
    put(tmp_path / "torn.md.gz", b"a")
    (tmp_path / "torn.md.gz").write_bytes(b"\x1f\x8b no archive")
    put(tmp_path / "good.txt", b"Text.")
    found = gather(tmp_path)
    assert [one.id for one in found.documents] == ["good.txt"]
    assert found.left_out == {"unreadable PDF": 1, "not UTF-8": 1, "damaged gzip data": 1}
    assert [line.partition(":")[0] for line in found.warnings] == ["left out"] * 3
    assert "latin.txt:1: byte 0xe9 at offset 3 is not UTF-8" in found.warnings[1]
    assert not caplog.records, "a library's own lines are not heard"


def test_many_unreadable_files_are_not_all_named(tmp_path: Path) -> None:
    put(tmp_path / "good.txt", b"Text.")
    for number in range(12):
        put(tmp_path / f"bad{number:02}.txt", b"\xe9")
    assert gather(tmp_path).warnings[-1] == "left out: 2 more files that cannot be read"
    assert len(gather(tmp_path).warnings) == 11


def test_a_folder_of_which_nothing_can_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    put(tmp_path / "latin.txt", b"caf\xe9")
    with pytest.raises(ValueError, match=r"the corpus is empty \(1 not UTF-8\); wanted at least one document"):
        gather(tmp_path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_a_byte_order_mark_tells_the_encoding(tmp_path: Path, encoding: str) -> None:
    (document,) = read_corpus(put(tmp_path / "note.txt", "Café au lait — 10 €.\n".encode(encoding)))
    assert document.text == "Café au lait — 10 €."


def test_a_text_that_breaks_off_after_its_byte_order_mark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"note\.txt: begins as UTF-16 and is not, at offset \d+; wanted UTF-8 text"):
        read_corpus(put(tmp_path / "note.txt", "Café".encode("utf-16")[:-1]))


@pytest.mark.parametrize(("name", "message"), [("none", "no such file or folder"), ("", "the corpus is empty, no rea")])
def test_a_source_is_looked_for_without_being_read(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        need_source(tmp_path / name)
    need_source("python-docs")
    need_source("hf:any/set")
    put(tmp_path / "latin.txt", b"\xe9")
    need_source(tmp_path)


def test_a_broken_pdf_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"bad\.pdf: cannot read the PDF \(.+\); wanted a readable"):
        read_corpus(put(tmp_path / "bad.pdf", b"%PDF-1.4 nothing"))


def test_auto_rag_eval_records_are_read(tmp_path: Path) -> None:
    rows = [
        {
            "source": ["https://stackoverflow.com/questions/1", "x"],
            "docs_id": 7,
            "title": "N/A",
            "section": "N/A",
            "start_character": "N/A",
            "end_character": "N/A",
            "text": "### User: Why? -\n\n### Top Answer: Because.",
        },
        {"source": "web", "docs_id": "p", "title": "Page", "section": "s3", "start_character": 0, "text": "One."},
        {"source": "web", "docs_id": "p", "title": "Page", "section": "s3", "start_character": 40, "text": "Two."},
    ]
    path = put(tmp_path / "main" / "data_2023.json", json.dumps(rows).encode())
    documents = read_corpus(path)
    assert documents == [
        Document("7", "User: Why? -", str(rows[0]["text"]), "https://stackoverflow.com/questions/1", ""),
        Document("p:0", "Page", "One.", "web", "s3"),
        Document("p:40", "Page", "Two.", "web", "s3"),
    ]
    assert read_corpus(path.parent) == documents


def test_ids_default_to_numbers_and_titles_to_first_lines(tmp_path: Path) -> None:
    path = put(tmp_path / "c.jsonl", json_lines([{"text": "word " * 40}, {"text": "# Head\n\nbody"}]))
    first, second = read_corpus(path)
    assert (first.id, second.id) == ("1", "2")
    assert first.title.startswith("word word")
    assert first.title.endswith("word…")
    assert len(first.title) <= 101
    assert second.title == "Head"


def test_text_that_no_file_could_hold_is_made_storable(tmp_path: Path) -> None:
    path = put(tmp_path / "c.jsonl", b'{"id": "a", "text": "x\\ud800y\\u0000z \\ud83d\\ude00\\r\\nend"}\n')
    assert (
        read_corpus(path)[0].text == "x\ufffdyz 😀\nend" or read_corpus(path)[0].text == "x\ufffd\ufffd\ufffdyz 😀\nend"
    )


def test_a_hub_layout_folder_is_read_by_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    table(tmp_path / "set" / "train-00000-of-00001.parquet", ROWS)
    table(tmp_path / "set" / "test-00000-of-00001.parquet", ROWS[:1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        assert read_corpus(f"hf:{tmp_path / 'set'}") == WANTED
        assert read_corpus(f"hf:{tmp_path / 'set'}:test") == WANTED[:1]
        with pytest.raises(
            ValueError, match=r"hf:.*set: cannot load split 'dev' \(.+\); wanted a data set and its split"
        ):
            read_corpus(f"hf:{tmp_path / 'set'}:dev")


def test_python_docs_are_readable_documents() -> None:
    documents = {document.id: document for document in read_corpus("python-docs")}
    assert len(documents) >= 70
    assert documents["if"].title == 'The "if" statement'
    assert documents["if"].topic == "statements"
    assert documents["debugger"].title == '"pdb" — The Python Debugger'
    assert all(document.topic != "other" for document in documents.values())
    assert all("\n****" not in document.text and "\n====" not in document.text for document in documents.values())
    text = documents["assert"].text
    assert "Assert statements are a convenient way to insert debugging assertions into a program:" in text
    assert "\n   if __debug__:\n       if not expression: raise AssertionError\n" in text
    assert '"**expression"' in documents["calls"].text


def test_a_sample_is_fixed_by_its_seed_and_grows_by_adding(tmp_path: Path) -> None:
    path = put(tmp_path / "c.jsonl", json_lines([{"id": f"d{n}", "text": f"text {n}"} for n in range(50)]))
    whole = [document.id for document in read_corpus(path)]
    ten = [document.id for document in read_corpus(path, sample=10, seed=3)]
    assert len(ten) == 10
    assert ten == [one for one in whole if one in ten]
    assert ten == [document.id for document in read_corpus(path, sample=10, seed=3)]
    assert set(ten) < {document.id for document in read_corpus(path, sample=20, seed=3)}
    assert ten != [document.id for document in read_corpus(path, sample=10, seed=4)]
    assert len(read_corpus(path, sample=99)) == 50
    with pytest.raises(ValueError, match="sample: found 0; wanted a whole number of at least 1"):
        read_corpus(path, sample=0)


def test_blank_files_are_left_out_and_counted(tmp_path: Path) -> None:
    put(tmp_path / "a.md", b"Text.")
    put(tmp_path / "b.md", b" \n\n")
    found = gather(tmp_path)
    assert [document.id for document in found.documents] == ["a.md"]
    assert found.left_out == {"no text": 1}


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("c.docx", b"x", r"c\.docx: unknown file type '\.docx'; wanted one of .*\.csv.*\.md"),
        ("noending", b"x", r"noending: unknown file type '\(none\)'"),
        ("c.jsonl", b"\n", r"c\.jsonl: the corpus is empty; wanted at least one document"),
        ("c.json", b"[]", r"c\.json: the corpus is empty"),
        ("c.csv", b"", r"c\.csv: the corpus is empty"),
        ("c.md", b"caf\xe9 au\n", r"c\.md:1: byte 0xe9 at offset 3 is not UTF-8; wanted UTF-8 text"),
        ("c.md", b"\xef\xbb\xbfa\nb\xff", r"c\.md:2: byte 0xff at offset 6 is not UTF-8"),
        ("c.jsonl", b'{"text": "a"}\n{"text": "\xff"}\n', r"c\.jsonl:2: byte 0xff at offset 24 is not UTF-8"),
        ("c.jsonl", b'{"text": "a"}\n\n{"text": \n', r"c\.jsonl:3: malformed JSON \(Expecting value at column 10\)"),
        ("c.jsonl", b"[" * 100_000, r"c\.jsonl:1: malformed JSON"),
        ("c.jsonl", b'{"id": "a"}\n', r"c\.jsonl:1: no text field \(found id\); wanted 'text'"),
        ("c.jsonl", b'{"text": " "}\n', r"c\.jsonl: the corpus is empty \(1 no text\); wanted at least one document"),
        ("c.jsonl", b'{"text": 5}\n', r"c\.jsonl:1: text is of type number; wanted a string"),
        (
            "c.jsonl",
            b'{"text": "a", "id": 1.5}\n',
            r"c\.jsonl:1: id is of type number; wanted a string or a whole number",
        ),
        ("c.jsonl", b'{"text": "a", "id": ["x"]}\n', r"c\.jsonl:1: id is of type list; wanted a string"),
        ("c.jsonl", b'{"text": "a", "title": {}}\n', r"c\.jsonl:1: title is of type object; wanted a string"),
        ("c.jsonl", b'{"text": "a", "topic": [1]}\n', r"c\.jsonl:1: topic is of type list; wanted a string"),
        ("c.jsonl", b'"text"\n', r"c\.jsonl:1: found JSON string; wanted an object"),
        (
            "c.jsonl",
            b'{"text": "a", "id": "x"}\n{"text": "b", "id": "y"}\n{"text": "c", "id": "x"}\n',
            r"c\.jsonl:3: id 'x' already stands at .*c\.jsonl:1; wanted unique ids",
        ),
        ("c.json", b'{"text": "a"}', r"c\.json:1: found JSON object; wanted a list of objects"),
        ("c.json", b'[{"text": "a"},\n {"text": }]', r"c\.json:2: malformed JSON \(Expecting value at column 11\)"),
        ("c.json", b'[{"text": "a"}, 3]', r"c\.json: record 2: found JSON number; wanted an object"),
        ("c.csv", b'id,text\na,"x\ny"\nb\n', r"c\.csv:4: found 1 cells; wanted 2"),
        ("c.csv", b"id,text\na,x,y\n", r"c\.csv:2: found 3 cells; wanted 2"),
        ("c.csv", b'id,text\na,"x"y\n', r"c\.csv:2: malformed CSV"),
        ("c.csv", b"id,id\na,b\n", r"c\.csv:1: column 'id' stands twice"),
        ("c.csv", b"id,body\na,x\n", r"c\.csv:2: no text field \(found body, id\)"),
        ("c.parquet", b"PAR1", r"c\.parquet: cannot read the table \(.+\); wanted a Parquet file"),
    ],
)
def test_bad_sources_are_named_in_one_line(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read_corpus(put(tmp_path / name, data))
    assert "\n" not in str(caught.value)


def test_missing_empty_and_damaged_sources_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere: no such file or folder; wanted a folder, a file, hf:NAME"):
        read_corpus(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"the corpus is empty, no readable file in the folder; wanted files of"):
        read_corpus(tmp_path)
    damaged = tmp_path / "c.jsonl.gz"
    damaged.write_bytes(gzip.compress(json_lines(list(ROWS)))[:-9])
    with pytest.raises(ValueError, match=r"c\.jsonl\.gz: damaged gzip data"):
        read_corpus(damaged)


def test_two_megabytes_in_one_csv_cell_are_read(tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    path = table(tmp_path / "c.csv", [{"id": "a", "text": "long text " * 200_000}])
    assert len(read_corpus(path)[0].text) == 1_999_999
    assert csv.field_size_limit() == limit


KEPT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0\r"), min_size=1, max_size=40)


@settings(max_examples=40, deadline=None)
@given(st.lists(KEPT.map(str.rstrip).filter(lambda text: text[:1].strip() != ""), min_size=1, max_size=5))
def test_any_text_is_read_alike_from_every_format(tmp_path_factory: pytest.TempPathFactory, found: list[str]) -> None:
    folder = tmp_path_factory.mktemp("any")
    rows = [{"id": f"d{number}", "title": "t", "text": text} for number, text in enumerate(found)]
    for kind in ("jsonl", "json", "csv", "parquet"):
        assert [one.text for one in read_corpus(table(folder / f"c.{kind}", rows))] == found


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 20_000 + "deep",
        "<p>x" * 50_000,
        "<" * 200_000 + "p>text",
        "<pre>" + "x\n" * 100_000,
        "&#55296;&#0;text",
    ],
    ids=["nested", "unclosed", "brackets", "verbatim", "bad references"],
)
def test_hostile_pages_are_read_in_seconds(tmp_path: Path, page: str) -> None:
    start = time.process_time()
    (document,) = read_corpus(put(tmp_path / "page.html", page.encode()))
    assert document.text
    document.text.encode()
    assert time.process_time() - start < 20


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path / "a" / "x.md", b"Text.")
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert [one.id for one in read_corpus(tmp_path)] == ["a/x.md"]


def test_each_document_has_the_language_it_is_found_in_or_the_commonest(tmp_path: Path) -> None:
    for name in ("de", "fr"):
        (tmp_path / f"{name}.txt").write_text(SAMPLES[name] * (3 if name == "de" else 1), encoding="utf-8")
    (tmp_path / "short.txt").write_text("x = 1", encoding="utf-8")
    found = gather(tmp_path)
    assert {one.id: one.language for one in found.documents} == {"de.txt": "de", "fr.txt": "fr", "short.txt": "de"}
    chunks = chunk(found.documents)
    assert {one.document_id: one.language for one in chunks} == {one.id: one.language for one in found.documents}
    counted = take_inventory(found.documents, chunks)
    assert counted.documents_by_language == {"de": 2, "fr": 1}
    assert counted.as_dict()["documents_by_language"] == {"de": 2, "fr": 1}
    assert Inventory.from_dict(counted.as_dict()) == counted


def test_a_language_that_is_named_is_that_of_all_documents(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(SAMPLES["de"], encoding="utf-8")
    assert [one.language for one in gather(tmp_path, language="fr").documents] == ["fr"]
    with pytest.raises(ValueError, match="language 'xx': unknown"):
        gather(tmp_path, language="xx")


def test_documents_in_english_alone_are_counted_as_before(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(SAMPLES["en"], encoding="utf-8")
    counted = take_inventory(gather(tmp_path).documents, [])
    assert counted.documents_by_language == {"en": 1}
    assert "documents_by_language" not in counted.as_dict()
