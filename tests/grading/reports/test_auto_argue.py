"""Auto-ARGUE's judgments.jsonl: its own aggregates by hand, ARGUE's outcomes of the same judgements, bad files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import ragexam_here as ragexam

SENTENCES = (
    ("The dam was closed in 1932.", {"d1": (True, True)}, [("When was the dam closed?", ["1932"])], {}),
    ("Stone and clay were used.", {"d1": (True, True), "d2": (False, False)}, [("Of what?", ["clay"])], {}),
    ("It is long.", {}, [], {"REQUIRES_CITATION": True, "FIRST_INSTANCE": True}),
    ("This report is on dams.", {}, [], {"REQUIRES_CITATION": False}),
)
"""Sentence, document -> (supports, relevant), nuggets stated, judgements of a sentence that cites nothing."""
QUESTIONS = {
    "When was the dam closed?": ("OR", "vital", {"1932": ["d1"], "in the thirties": ["d2"], "1931": []}),
    "Of what?": ("AND", "okay", {"clay": ["d1"], "stone": ["d1"]}),
    "How long is it?": ("OR", "okay", {"30 km": ["d3"]}),
    "Who paid?": ("OR", "vital", {"nobody knows": []}),
}


def line(sentences: Sequence[Any] = SENTENCES, topic: str = "t1") -> dict[str, Any]:
    """A report with its judgements in the published layout."""
    references = sorted({name for _, cited, _, _ in sentences for name in cited})
    responses = [{"text": text, "citations": dict.fromkeys(cited, 90.0)} for text, cited, _, _ in sentences]
    report = {
        "metadata": {"team_id": "team", "topic_id": topic, "run_id": "ours", "collection_ids": ["dams"]},
        "responses": responses,
        "references": references,
    }
    return {"report": report, "judgments": [judged(*one) for one in sentences]}


def judged(
    text: str, cited: Mapping[str, tuple[bool, bool]], nuggets: Sequence[tuple[str, Sequence[str]]], uncited: Any
) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    for name, (supports, relevant) in cited.items():
        matched = [
            {"question_text": one, "matched_answer": list(answers), "importance": None} for one, answers in nuggets
        ]
        found += [
            one_judgment("CITED_DOCUMENT_RELEVANCE", name, doc_id=name, is_relevant=relevant),
            one_judgment("SENTENCE_ANSWERS_QUESTION", name, matched_nuggets=matched if relevant else []),
            one_judgment("SENTENCE_ATTESTED", name, is_attested=supports),
        ]
    found += [one_judgment(kind, None, verdict=value) for kind, value in uncited.items()]
    documents = [{"doc_id": name, "text": f"Text of {name}."} for name in cited]
    return {"segment_type": "sentence", "text": text, "citations": documents, "judgments": found}


def one_judgment(kind: str, document: str | None, **response: Any) -> dict[str, Any]:
    provenance = {"doc_id": document, "sentence": None, "run_id": None, "sent_id": None}
    return {
        "judgment_type_id": kind,
        "response": {"judgment_type_id": kind, **response},
        "evaluator": "from_env",
        "provenance": provenance,
    }


def bank(topic: str) -> dict[str, Any]:
    """A nugget bank in the published layout, version 3."""
    nuggets = {
        question: {
            "question": question,
            "answers": {
                text: {"answer": text, "references": [{"doc_id": one} for one in documents]}
                for text, documents in answers.items()
            },
            "question_id": f"id{number}",
            "aggregator_type": combine,
            "importance": importance,
            "query_id": topic,
        }
        for number, (question, (combine, importance, answers)) in enumerate(QUESTIONS.items())
    }
    return {"query_id": topic, "title_query": "dams", "format_version": "v3", "nugget_bank": nuggets}


def written(tmp_path: Path, *records: Any) -> tuple[str, str]:
    judgments, nuggets = tmp_path / "ours.judgments.jsonl", tmp_path / "nuggets"
    judgments.write_text("".join(json.dumps(one) + "\n" for one in records))
    nuggets.mkdir()
    for one in records:
        topic = one["report"]["metadata"]["topic_id"]
        (nuggets / f"nuggets_{topic}.v3.json").write_text(json.dumps(bank(topic)))
    return str(judgments), str(nuggets)


def scored(tmp_path: Path, *records: Any) -> Any:
    found = ragexam("grade", "argue", *written(tmp_path, *records), "--json")
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def test_its_aggregates_are_counted_as_it_counts_them(tmp_path: Path) -> None:
    (run,) = scored(tmp_path, line())["auto_argue"]
    (report,) = run["reports"]
    assert {name: report[name] for name in ("sentences", "citations")} == {"sentences": 4, "citations": 3}
    assert report["character_count"] == sum(len(text) for text, _, _, _ in SENTENCES)
    # One of three sentences: the second has a citation against it, the third lacks one, the fourth needs none.
    assert report["sentence_support"] == pytest.approx(1 / 3)
    # "Who paid?" has no answer with a document and does not count; of "Of what?" one answer of two is missing.
    assert (report["correct_nuggets"], report["nuggets"]) == (1, 3)
    assert report["nugget_coverage_weighted"] == pytest.approx(2 / 4)
    assert report["f1"] == pytest.approx(1 / 3)
    assert report["f1_weighted"] == pytest.approx(0.4)
    assert (report["citation_support"], report["citation_relevance"]) == pytest.approx((2 / 3, 2 / 3))


def test_a_nugget_counts_to_it_even_where_the_sentence_is_not_supported(tmp_path: Path) -> None:
    sentence = ("It was closed in 1932.", {"d1": (False, True)}, [("When was the dam closed?", ["1932"])], {})
    found = scored(tmp_path, line([sentence]))
    assert found["auto_argue"][0]["reports"][0]["nugget_coverage"] == pytest.approx(1 / 3)
    assert found["reports"][0]["recall"] == 0
    assert found["sentences"][0]["outcome"] == 1


def test_the_same_judgements_come_to_the_eight_outcomes(tmp_path: Path) -> None:
    assert [one["outcome"] for one in scored(tmp_path, line())["sentences"]] == [3, 3, 5, 4]


def test_answers_of_several_sentences_complete_a_nugget_that_wants_all(tmp_path: Path) -> None:
    rest = ("Stone was piled up.", {"d1": (True, True)}, [("Of what?", ["stone"])], {})
    (run,) = scored(tmp_path, line([*SENTENCES, rest]))["auto_argue"]
    assert run["reports"][0]["correct_nuggets"] == 2


def test_macro_is_the_mean_over_topics_and_micro_of_summed_counts(tmp_path: Path) -> None:
    (run,) = scored(tmp_path, line(), line(SENTENCES[:1], "t2"))["auto_argue"]
    assert run["macro"]["sentence_support"]["estimate"] == pytest.approx((1 / 3 + 1) / 2)
    assert run["micro"]["sentence_support"]["estimate"] == pytest.approx(2 / 4)
    assert run["micro"]["f1"]["estimate"] == pytest.approx(2 * (2 / 4) * (2 / 6) / (2 / 4 + 2 / 6))
    assert run["character_count_max"] == sum(len(text) for text, _, _, _ in SENTENCES)


def test_the_table_names_whose_measures_they_are(tmp_path: Path) -> None:
    found = ragexam("grade", "argue", *written(tmp_path, line()))
    assert "run by Auto-ARGUE" in found.stdout
    assert "nugget_coverage" in found.stdout


def test_validate_reads_the_reports_in_it(tmp_path: Path) -> None:
    judgments, _ = written(tmp_path, line())
    assert "1 reports by 1 runs, 4 sentences, 3 citations" in ragexam("grade", "validate", judgments).stdout


def edited(change: str) -> dict[str, Any]:
    found = line()
    first = found["judgments"][0]["judgments"][2]
    if change == "unknown type":
        first["judgment_type_id"] = "SENTENCE_LENGTH"
    elif change == "no verdict":
        del first["response"]["is_attested"]
    elif change == "no document":
        first["provenance"]["doc_id"] = None
    elif change == "fewer":
        found["judgments"].pop()
    elif change == "other text":
        found["judgments"][0]["text"] = "Another."
    return found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("unknown type", r"jsonl:1: judgments\[0\]: judgment_type_id .*SENTENCE_LENGTH.*; wanted SENTENCE_ATTESTED"),
        ("no verdict", "SENTENCE_ATTESTED has 0 truth values; wanted one"),
        ("no document", "SENTENCE_ATTESTED has doc_id null; wanted the document"),
        ("fewer", "3 judged sentences; wanted 4, as in the report"),
        ("other text", "text .*Another.*; wanted .*The dam was closed"),
    ],
)
def test_what_is_wrong_is_named_by_line(tmp_path: Path, change: str, message: str) -> None:
    found = ragexam("grade", "argue", *written(tmp_path, edited(change)))
    assert found.returncode == 2
    assert re.search(message, found.stderr), found.stderr
