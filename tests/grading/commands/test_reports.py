"""The commands on reports and texts: argue, validate, similarity; and the commands that the page shows."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from grading.commands import _reports as commands
from grading.commands import _texts as texts
from grading.formats._bank_files import write_bank
from irt.commands import with_records
from tests import shared_data
from tests.command_line import block_here, snippet_here
from tests.grading import films

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PAGE = ROOT / "docs" / "free-text" / "reports.md"
SHARED = shared_data.SHARED / "data"


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


@pytest.fixture
def example(tmp_path: Path) -> tuple[Path, Path, Path]:
    """The paper's worked example as files: reports as in TREC RAG 24, a bank, judgements."""
    references = sorted({name for one in films.REPORT.sentences for name in one.citations})
    sentences = [
        {"text": one.text, "citations": [references.index(name) for name in one.citations]}
        for one in films.REPORT.sentences
    ]
    record = {"run_id": films.RUN, "topic_id": films.TOPIC, "topic": "", "references": references, "answer": sentences}
    write_bank(tmp_path / "nuggets.jsonl", films.NUGGETS)
    return (
        lines(tmp_path / "reports.jsonl", record),
        tmp_path / "nuggets.jsonl",
        lines(tmp_path / "judgments.jsonl", *films.judgments()),
    )


def run_argue(*paths: Path, **options: Any) -> None:
    """Run the command with the defaults of every option that is not given."""
    command = with_records(commands.argue)
    given = {**dict(zip(("reports", "nuggets", "judgments"), paths, strict=False)), **options}
    values = inspect.signature(command).bind(**given)
    values.apply_defaults()
    command(**values.arguments)


def argue(capsys: pytest.CaptureFixture[str], *paths: Path, **options: Any) -> dict[str, Any]:
    run_argue(*paths, as_json=True, **options)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_worked_example_as_files(example: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    found = argue(capsys, *example)
    assert found["precision"] == {"estimate": 1.0, "low": None, "high": None}
    assert found["recall"]["estimate"] == pytest.approx(0.6)
    assert found["f1"]["estimate"] == pytest.approx(0.75)
    assert [one["outcome"] for one in found["sentences"]] == [outcome for _, _, outcome, _ in films.FIGURE4]
    assert "".join(one["effect"] for one in found["sentences"]) == "00+000+00+++0000"
    assert found["reports"][0]["nuggets_credited"] == ["2", "3", "5"]
    assert found["reports"][0]["outcomes"] == {"1": 0, "2": 2, "3": 5, "4": 5, "5": 0, "6": 4, "7": 0, "8": 0}
    assert found["warnings"] == []
    run_argue(*example)
    shown = capsys.readouterr().out
    assert "precision 1.000 (5 of 5), recall 0.600 (3 of 5), F1 0.750" in shown
    assert "supported by D14; answers nugget 3 ('footage at the end'): rewarded" in shown


def test_what_was_decided_can_be_written_and_read_again(
    example: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = argue(capsys, *example, judged=tmp_path / "made.jsonl", grades=tmp_path / "grades.jsonl")
    grades = [json.loads(line) for line in (tmp_path / "grades.jsonl").read_text().splitlines()]
    assert [one["grade"] for one in grades] == [0, 1, 1, 0, 1]
    assert {(one["query"], one["passage"]) for one in grades} == {(films.TOPIC, films.RUN)}
    again = argue(capsys, *example[:2], tmp_path / "made.jsonl")
    assert again["sentences"] == first["sentences"]


def test_undefined_values_are_null_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = (
        lines(
            tmp_path / "reports.jsonl",
            *(
                {"run_id": run, "topic_id": topic, "references": [], "answer": [{"text": "A.", "citations": []}]}
                for run, topic in (("a", "1"), ("a", "2"), ("b", "1"), ("b", "9"))
            ),
        ),
        lines(
            tmp_path / "nuggets.jsonl",
            *({"id": "n", "query": topic, "question": "Q?", "answers": ["x"]} for topic in ("1", "2", "8")),
        ),
        lines(
            tmp_path / "judgments.jsonl",
            *(
                {"run": run, "topic": topic, "sentence": 0, "needs_citation": run == "b", "repeats": False}
                for run, topic in (("a", "1"), ("a", "2"), ("b", "1"))
            ),
        ),
    )
    found = argue(capsys, *paths)
    first, second = found["runs"]
    assert first["macro"]["precision"] == {"estimate": None, "low": None, "high": None}
    assert first["undefined"]["precision"] == ["1", "2"]
    assert second["macro"]["precision"]["estimate"] == 0.0
    assert second["missing_topics"] == ["2"]
    assert "precision" not in found
    said = "\n".join(found["warnings"])
    assert "run a: precision undefined (0 of 0) on 2 topics (1, 2), which its mean leaves out" in said
    assert "run b: 1 topic (2) without a report: recall and F1 are 0 there" in said
    assert "1 topics with reports but without nuggets: their reports are not scored (9)" in said
    assert "1 topics with nuggets but without any report: nothing is scored there (8)" in said
    assert "empty references: 4, first" in said
    run_argue(*paths, missing="skip")
    shown = capsys.readouterr().out
    assert "undefined" in shown
    assert "left out, so that it stands on fewer topics than others" in shown


def test_a_faulty_report_stops_or_is_lived_with(
    example: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    record = json.loads(example[0].read_text())
    record["answer"][1]["citations"].append(99)
    lines(example[0], record)
    with pytest.raises(ValueError, match=r"reports\.jsonl:1: answer\[1\]: citation 99; wanted an index from 0 to 5"):
        run_argue(*example)
    found = argue(capsys, *example, lenient=True)
    assert found["precision"]["estimate"] == 1.0
    assert any("citation out of range: 1, first" in one for one in found["warnings"])


def test_a_judge_that_does_not_exist_is_named(example: tuple[Path, Path, Path]) -> None:
    with pytest.raises(ValueError, match="--judge: 'gpt'; wanted model:NAME or entailment:NAME"):
        run_argue(*example, judge=["gpt"])


def test_nuggets_of_topics_most_of_which_have_no_report_are_refused(example: tuple[Path, Path, Path]) -> None:
    one, two = (json.dumps({"id": "n", "query": f"other-{at}", "question": "Why?"}) + "\n" for at in range(2))
    whole = example[1].read_text()
    example[1].write_text(whole + one)
    run_argue(*example)
    example[1].write_text(whole + one + two)
    message = (
        r"nuggets.jsonl: 2 of 3 topics \(such as 'other-0'\) have no report; wanted one for at least half of the to"
    )
    with pytest.raises(ValueError, match=message):
        run_argue(*example)


def test_files_about_other_reports_are_refused(example: tuple[Path, Path, Path], tmp_path: Path) -> None:
    foreign = lines(tmp_path / "foreign.jsonl", {"run": "x", "topic": "t", "sentence": 0, "outcome": 5})
    with pytest.raises(
        ValueError, match=r"foreign.jsonl:1: judges run 'x' .*, as of all others; wanted judgements such"
    ):
        run_argue(*example[:2], foreign)
    texts = lines(tmp_path / "texts.jsonl", {"id": "other", "text": "Nothing"})
    with pytest.raises(
        ValueError, match=r"texts.jsonl: found other, none of them a document that a report cites; wanted"
    ):
        run_argue(*example, documents=texts)
    with pytest.raises(
        ValueError, match=r"texts.jsonl: found other, none of them a topic of a report; wanted some, as"
    ):
        run_argue(*example, requests=texts)


def test_without_any_judge_nothing_can_be_judged(example: tuple[Path, Path, Path]) -> None:
    with pytest.raises(ValueError, match="neither a file nor a --judge"):
        run_argue(*example[:2])


def test_a_model_decides_what_the_file_leaves_open_and_goes_on(
    example: tuple[Path, Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    kept = [one for one in films.judgments() if "needs_citation" in one]
    lines(example[2], *kept)
    documents = lines(
        tmp_path / "documents.jsonl",
        *(
            {"docid": f"D{number}", "contents": f"In document {number} footage is added."}
            for number in (1, 2, 12, 13, 14, 101)
        ),
    )
    options = {
        "judge": ["model:python:sentence_assessor:assessor"],
        "documents": documents,
        "replies": tmp_path / "replies.db",
    }
    first = argue(capsys, *example, **options)
    assert [one["outcome"] for one in first["sentences"] if not one["citations"]] == [4, 4, 6, 6, 4, 4, 6, 6, 4]
    assert all(one["outcome"] in {1, 2, 3} for one in first["sentences"] if one["citations"])
    assert argue(capsys, *example, **options) == first
    with pytest.raises(ValueError, match="no text of document"):
        run_argue(*example, judge=["model:python:sentence_assessor:assessor"])


def test_validate_lists_every_fault_and_ends_with_status_2(
    example: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    commands.validate(example[0], as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["valid"], found["sentences"], found["citations"], found["faults"]) == (True, 16, 7, {})
    record = json.loads(example[0].read_text())
    record["answer"][0]["citations"] = [7, 0, 0]
    lines(example[0], record, record)
    with pytest.raises(typer.Exit) as stopped:
        commands.validate(example[0])
    assert stopped.value.exit_code == 2
    shown = capsys.readouterr().out
    assert "faults: citation out of range 2, duplicate report 1" in shown
    assert "remarks:\n  duplicate citation: 2, first " in shown
    assert shown.count("reports.jsonl:2: ") == 2
    commands.validate(example[0], lenient=True)


def test_a_collection_says_which_citations_lead_outside_it(
    example: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = lines(tmp_path / "documents.jsonl", *({"docid": one} for one in ("D1", "D2", "D12", "D13", "D14")))
    with pytest.raises(typer.Exit):
        commands.validate(example[0], known, as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["faults"] == {"document not in the collection": 1}
    assert "cites 'D101', which the collection lacks" in found["listed"][0]["message"]


def test_an_outcome_that_the_files_contradict_is_named(
    example: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    said = [
        {"sentence": at, "outcome": outcome, "nuggets": [nugget] if nugget else []}
        for at, (_, _, outcome, nugget) in enumerate(films.FIGURE4)
    ]
    lines(example[2], *said)
    assert argue(capsys, *example)["warnings"] == []
    lines(example[2], *said[:2], {"sentence": 2, "outcome": 3, "nuggets": ["1"]}, *said[3:])
    overruled, vain = argue(capsys, *example)["warnings"]
    assert "judgments.jsonl:3: outcome 3; reports, nuggets and judgements together make it 2" in overruled
    assert "judgments.jsonl:3: nugget '1': no document that supports the sentence" in vain


def test_two_texts_are_compared_by_all_measures(capsys: pytest.CaptureFixture[str]) -> None:
    texts.similarity("a b c", ["a b d"], as_json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["score"] == found["jaccard"] == pytest.approx((2 * 2 / 4 + 1 / 3) / 3)
    assert found["dice"] == pytest.approx((2 * 4 / 6 + 2 / 4) / 3)
    assert found["by_length"] == {"1": 0.5, "2": pytest.approx(1 / 3)}
    texts.similarity("a b c", ["x", "a b c"], measure="block", weights="1")
    assert capsys.readouterr().out.startswith("block with weights 1,0,0: 1.000\n")


def test_two_files_are_compared_line_by_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("a b c\nx y\n")
    second.write_text("a b d\tno\nq\tx y\r\n")
    texts.similarity(str(first), [str(second)], as_json=True)
    found = json.loads(capsys.readouterr().out)
    scores = [one["score"] for one in found["lines"]]
    assert scores == [pytest.approx(4 / 9), 1.0]
    assert found["score"]["estimate"] == pytest.approx(sum(scores) / 2)
    assert found["score"]["low"] == pytest.approx(4 / 9)
    assert found["distribution"]["lowest"] == pytest.approx(4 / 9)
    assert found["distribution"]["quartiles"][1] == pytest.approx(sum(scores) / 2)
    assert found["distribution"]["tenths"] == [0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    texts.similarity(str(first), [str(second)])
    assert "mean jaccard of 2 pairs with weights 2,1,0: 0.722 [" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "gold", "options", "match"),
    [
        ("a", ["b"], {"weights": "-1,2"}, "weights: -1,2; wanted numbers of 0 or more"),
        ("a", ["b"], {"weights": "0,0"}, "weights: 0,0; wanted at least one above 0"),
        ("a", ["b"], {"weights": "two"}, "--weights: 'two'; wanted numbers like 2,1,0"),
        ("", ["b"], {}, "TEXT_A: '' has no words"),
        ("a", ["?"], {}, r"TEXT_B: '\?' has no words"),
        ("FILE", ["b"], {}, "files beside texts; wanted two files, or texts alone"),
        ("FILE", ["SHORT"], {}, "short: 1 lines; wanted 2, one for each of"),
        ("FILE", ["BLANK"], {}, "blank:2: the line has no words; wanted a text"),
        ("EMPTY", ["EMPTY"], {}, "empty: is empty; wanted one text to a line"),
    ],
)
def test_texts_that_cannot_be_compared_are_refused(
    tmp_path: Path, text: str, gold: list[str], options: dict[str, str], match: str
) -> None:
    for name, content in (("file", "a\nb\n"), ("short", "a\n"), ("blank", "a\n\nb\n"), ("empty", "")):
        (tmp_path / name).write_text(content if name != "blank" else "a\n \n")
    (tmp_path / "blank").write_text("a\n-")

    def named(word: str) -> str:
        return str(tmp_path / word.lower()) if word.isupper() else word

    with pytest.raises(ValueError, match=match):
        texts.similarity(named(text), [named(one) for one in gold], **options)  # type: ignore[arg-type]


def test_from_the_command_line_bad_input_is_one_line_and_status_2(example: tuple[Path, Path, Path]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ragexam", "grade", "argue", *map(str, example[:2]), str(example[0])],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 2
    assert re.fullmatch(r"ragexam: .*reports\.jsonl:1: no sentence or .*\n", done.stderr)
    assert not done.stdout


@pytest.mark.skipif(not SHARED.is_dir(), reason="the reports of NeuCLIR 2024 are not here")
def test_neuclirs_files_are_valid(capsys: pytest.CaptureFixture[str]) -> None:
    folder = SHARED / "neuclir24_reports" / "resources"
    commands.validate(
        folder / "mini-test.report-sentences.json",
        cited_sentences=folder / "mini-test.citation-to-sentences.json",
        as_json=True,
    )
    found = json.loads(capsys.readouterr().out)
    counts = (found["runs"], found["reports"], found["sentences"], found["citations"])
    assert counts == (3, 177, 1589, 1881)
    assert (found["valid"], found["faults"], found["remarks"]) == (True, {}, {})


def test_the_page_shows_what_comes_out(tmp_path: Path) -> None:
    """Every shell block runs in order; what the page shows after a block as text stands in its output."""
    found = re.findall(
        r"^```sh\n(.*?)^```(?:\n+```text\n(.*?)^```)?", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(found) >= 4
    for block, shown in found:
        out = block_here(tmp_path, block.replace("embedded:qwen2.5-coder-1.5b", "python:sentence_assessor:assessor"))
        for line in shown.splitlines():
            assert line.rstrip() in out, f"{block}\n{out}"


def test_the_pages_snippets_run() -> None:
    snippets = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert snippets
    for code in snippets:
        assert snippet_here(ROOT, code)


def test_a_reader_is_shown_the_first_hundred_faults_and_a_program_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "dense.run"
    path.write_text("".join(f"q1 Q0 d{place} {place} 1.0 dense\n" for place in range(130)))
    with pytest.raises(typer.Exit):
        commands.validate(path)
    listed = capsys.readouterr().out.splitlines()
    assert "faults: malformed line 130" in listed
    assert sum("malformed JSON" in one for one in listed) == 100
    assert "  and 30 more, which --json lists" in listed
    with pytest.raises(typer.Exit):
        commands.validate(path, as_json=True)
    assert len(json.loads(capsys.readouterr().out)["listed"]) == 130
