"""Claims and texts that are hard to judge, from people's questions: what a judge of claims is measured on.

    python benchmarks/claim_pairs.py questions COLLECTIONS OUT    # exam.jsonl, chunks.jsonl and grid.yaml
    ragexam sit OUT/exam.jsonl --pipelines OUT/grid.yaml --out OUT/run
    python benchmarks/claim_pairs.py sheet OUT                    # sheet.jsonl: 100 pairs to label blind
    python benchmarks/claim_pairs.py labels OUT LABELS            # the sheet with kept labels filled in
    python benchmarks/claim_pairs.py measure OUT MODEL            # a judge on the labelled sheet, as JSON

COLLECTIONS is a folder of collections as `benchmarks/external_validity.py` reads them. Two models answer each question
from the passage that answers it and from the one that BM25 finds. A pair is a sentence of an answer beside the passage
that its model read, or the passage that answers the question; the same with a number, a name, a direction or a negation
changed; or a sentence of the source beside an answer or the passage found. What makes a pair is not on the sheet.
`benchmarks/claim_labels.csv` has the labels of ours, without the texts.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from examcore import (
    CachedLanguageModel,
    Chunk,
    Question,
    ReplyStore,
    RunFolder,
    cohen_kappa,
    read_exam,
    read_json_lines,
    text_units,
    write_chunks,
    write_exam,
    write_lines,
)
from grading.reports import (
    ClaimAsk,
    ClaimOdds,
    cut_of_labels,
    cut_of_unrelated,
    held_out_verdicts,
    text_hash,
    weigh_claims,
    word_for_word,
)
from rag import load_model
from ragexam.report import read_free_text, unrelated_texts

TAKEN = {"covidqa": 20, "mtrag": 10, "stackexchange": 10}
"""Questions of each collection; those of the first have a key, which answers are graded by."""
WORDS = 160
"""Most words of a passage: pairs are read by a person and by small models."""
KEY_WORDS = 12
"""Words of an answer's span above which it is no key that an answer can be compared with."""
PAIRS = {"read": 32, "source": 16, "edited": 36, "coverage": 8, "recall": 8}
"""Pairs of each kind on the sheet."""
GRID = """llms: [embedded:qwen2.5-coder-1.5b, embedded:smollm2-135m]
retrievers: [bm25, oracle]
answers: text
passages: 1
"""
"""Who answers the questions, from which passages."""
_TURNED = [
    ("increase", "decrease"), ("higher", "lower"), ("more", "less"), ("before", "after"), ("first", "last"),
    ("always", "sometimes"), ("all", "few"), ("can", "cannot"), ("is", "is not"), ("are", "are not"),
    ("was", "was not"), ("were", "were not"), ("does", "does not"), ("has", "has no"), ("have", "have no"),
]  # fmt: skip


class Pair(NamedTuple):
    """A claim beside a text, and which kind of pair it is."""

    kind: str
    ask: ClaimAsk


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a gzipped JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def passages(document: Mapping[str, str]) -> list[Chunk]:
    """A document in passages of whole sentences."""
    text, found, start, words = document["text"], list[Chunk](), 0, 0
    ends = [one.end for one in text_units(text)]
    for before, end in zip([0, *ends], ends, strict=False):
        size = len(text[before:end].split())
        if words and words + size > WORDS:
            found.append(_chunk(document, start, before))
            start, words = before, 0
        words += size
    return [*found, _chunk(document, start, len(text))]


def _chunk(document: Mapping[str, str], start: int, end: int) -> Chunk:
    name, text = document["id"], document["text"][start:end].rstrip()
    return Chunk(f"{name}@{start}", name, text, start, start + len(text), document["title"])


def questions(collection: Path, chunks: Sequence[Chunk], count: int) -> list[Question]:
    """Questions drawn at random from those with a passage that answers them, with their passages."""
    texts = {row["id"]: row["text"] for row in rows(collection / "queries.jsonl.gz")}
    whole = {row["id"]: row["text"] for row in rows(collection / "corpus.jsonl.gz")}
    of: dict[str, list[Chunk]] = {}
    for one in chunks:
        of.setdefault(one.document_id, []).append(one)
    known = {row["query"]: row for row in reversed(list(rows(collection / "qrels.jsonl.gz")))}
    spans = {
        name: whole[row["doc"]][row["start"] : row["end"]].strip() for name, row in known.items() if "start" in row
    }
    names = sorted(name for name in known if not spans or 0 < len(spans[name].split()) <= KEY_WORDS)
    rng = np.random.default_rng(0)
    found = []
    for name in rng.permutation(names)[:count]:
        source = _source(known[name], of[known[name]["doc"]], texts[name])
        others = [spans[one] for one in rng.permutation(names)[:3] if spans and spans[one] != spans[name]]
        choices = (spans[name], *others) if spans else ("it is told", "it is not told")
        found.append(
            Question(
                str(name), texts[name], tuple(dict.fromkeys(choices)), 0, chunk_id=source.id,
                document_id=source.document_id, context=source.text,
            )
        )  # fmt: skip
    return found


def _source(row: Mapping[str, Any], chunks: Sequence[Chunk], asked: str) -> Chunk:
    """The passage that holds the answer, or shares most words with the question where its place is not known."""
    if "start" in row:
        return next(one for one in chunks if one.start <= row["start"] < one.end)
    wanted = set(asked.lower().split())
    return max(chunks, key=lambda one: len(wanted & set(one.text.lower().split())))


def edited(claim: str, text: str, rng: np.random.Generator) -> str | None:
    """A claim with a number, a name of the text, a direction or a negation changed; None where it has none of them."""
    ways: list[Callable[[], str | None]] = [
        lambda: _renumbered(claim, rng), lambda: _renamed(claim, text, rng), lambda: _turned(claim)
    ]  # fmt: skip
    for place in rng.permutation(len(ways)):
        if (made := ways[place]()) and made != claim:
            return made
    return None


def _renumbered(claim: str, rng: np.random.Generator) -> str | None:
    found = list(re.finditer(r"(?<![\w.])\d+(?![\w])", claim))
    if not found:
        return None
    one = found[int(rng.integers(len(found)))]
    return f"{claim[: one.start()]}{int(one[0]) + int(rng.integers(1, 9))}{claim[one.end() :]}"


def _renamed(claim: str, text: str, rng: np.random.Generator) -> str | None:
    name = r"(?<=[a-z,] )[A-Z][\w-]{2,}"
    mine, theirs = re.findall(name, claim), sorted(set(re.findall(name, text)) - set(claim.split()))
    return claim.replace(mine[-1], theirs[int(rng.integers(len(theirs)))]) if mine and theirs else None


def _turned(claim: str) -> str | None:
    for one, other in _TURNED:
        for first, second in ((one, other), (other, one)):
            if re.search(rf"\b{first}\b", claim):
                return re.sub(rf"\b{first}\b", second, claim, count=1)
    return None


def pairs(run: RunFolder) -> list[Pair]:
    """The pairs of a run, each once, in random order within their kinds; those that rules settle are left out."""
    exam = read_exam(run.exam).questions
    found = read_free_text(run, exam)
    assert found is not None
    rng = np.random.default_rng(1)
    made: list[Pair] = []
    for one in found.claims.answers:
        stem, source = one.question.stem, one.question.context
        own = one.claim_asks()
        made += [Pair("read", ask) for ask in own]
        made += [Pair("source", ask._replace(text=source)) for ask in own if ask.text != source]
        for ask in own:
            changed = edited(ask.claim.removeprefix(f"{stem} "), ask.text, rng)
            made += [Pair("edited", ask._replace(claim=f"{stem} {changed}"))] if changed else []
        made += [Pair("coverage", ask) for ask in one.coverage_asks() if ask.text]
        made += [Pair("recall", ask) for ask in one.recall_asks()]
    stems = {one.id: one.stem for one in exam}
    open_ = [
        one for one in made if not word_for_word(one.ask.claim.removeprefix(f"{stems[one.ask.topic]} "), one.ask.text)
    ]
    once = list({one.ask.key: one for one in reversed(open_)}.values())
    return [once[place] for place in rng.permutation(len(once))]


def drawn(some: Sequence[Pair]) -> list[Pair]:
    """As many of each kind as the sheet has, shuffled."""
    taken = [one for kind, count in PAIRS.items() for one in [each for each in some if each.kind == kind][:count]]
    return [taken[place] for place in np.random.default_rng(2).permutation(len(taken))]


def name_of(ask: ClaimAsk) -> str:
    """Twelve hex digits of a pair, under which its label is kept without its text."""
    return text_hash(f"{ask.claim}\n{ask.text}")[:12]


def write_questions(collections: Path, out: Path) -> None:
    """The exam, the passages and the grid."""
    chunks: list[Chunk] = []
    asked: list[Question] = []
    for name, count in TAKEN.items():
        mine = [one for row in rows(collections / name / "corpus.jsonl.gz") for one in passages(row)]
        asked += questions(collections / name, mine, count)
        chunks += mine
    out.mkdir(parents=True, exist_ok=True)
    write_exam(out / "exam.jsonl", asked)
    write_chunks(out / "chunks.jsonl", chunks)
    (out / "grid.yaml").write_text(GRID, encoding="utf-8")


def write_sheet(out: Path, labels: Mapping[str, str]) -> int:
    """The pairs to label, with the labels known; returns how many are known."""
    sheet = [(name_of(one.ask), one.ask) for one in drawn(pairs(RunFolder(out / "run")))]
    write_lines(
        out / "sheet.jsonl",
        [
            {"id": name, "question": one.topic, "claim": one.claim, "text": one.text, "label": labels.get(name, "")}
            for name, one in sheet
        ],
    )
    return sum(name in labels for name, _ in sheet)


def measure(out: Path, name: str) -> dict[str, object]:
    """Kappas with the labels, of the judge by even odds and by each cut; rates; what the judge read."""
    run = RunFolder(out / "run")
    found = read_free_text(run, read_exam(run.exam).questions)
    assert found is not None
    sheet = [one.fields for one in read_json_lines(out / "sheet.jsonl")]
    labels = {
        ClaimAsk(*(str(one[name]) for name in ("question", "claim", "text"))): one["label"] == "stated" for one in sheet
    }
    with ReplyStore(out / "replies.sqlite") as store:
        model = CachedLanguageModel(load_model(name), store)
        started = time.perf_counter()
        odds = {}
        for ask, one in weigh_claims(list(labels), unrelated_texts(found.claims.answers), model):
            assert isinstance(one, ClaimOdds)
            odds[ask] = one
            print(f"{len(odds)} of {len(labels)}, {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    (out / f"odds-{name.partition(':')[2]}.json").write_text(
        json.dumps([{"id": name_of(ask), **one._asdict()} for ask, one in odds.items()]), encoding="utf-8"
    )
    kinds = {one.ask: one.kind for one in drawn(pairs(run))}
    read = {step: vars(used) for step, used in model.steps.items()}
    return {**judged(odds, labels, kinds), "read": read}


def judged(
    odds: Mapping[ClaimAsk, ClaimOdds], labels: Mapping[ClaimAsk, bool], kinds: Mapping[ClaimAsk, str]
) -> dict[str, object]:
    """What the odds say by even odds, by the cut of unrelated texts and by that of the other questions' labels."""
    asks, each = list(odds), list(odds.values())
    stated, topics = np.array([labels[one] for one in asks]), [one.topic for one in asks]
    beside = np.array([one.beside for one in each])
    leads = beside - [one.readiness for one in each]
    cut = cut_of_unrelated(list({(ask.topic, ask.claim): one for ask, one in odds.items()}.values()))
    verdicts = {
        "even odds": beside > 0,
        "unrelated texts": np.array([cut.states(one) for one in each]),
        "labels of other questions": np.array(held_out_verdicts(each, stated, topics, cut)),
    }
    return {
        "labelled": len(asks),
        "stated": int(stated.sum()),
        "area_under_curve": {"odds": area(beside, stated), "leads": area(leads, stated)},
        "cuts": [cut.record(), cut_of_labels(each, stated, cut).record()],
        "judges": {name: rates(one, stated, topics) for name, one in verdicts.items()},
        "called stated, by kind": {
            kind: f"{sum(verdicts['unrelated texts'][at] for at in places)} of {len(places)}, "
            f"{sum(stated[at] for at in places)} stated"
            for kind in PAIRS
            if (places := [at for at, one in enumerate(asks) if kinds.get(one) == kind])
        },
    }


def rates(verdicts: NDArray[np.bool_], stated: NDArray[np.bool_], topics: Sequence[str]) -> dict[str, object]:
    """Cohen's kappa with its 90 % interval clustered by question, and both errors."""
    kappa = cohen_kappa(verdicts.tolist(), stated.tolist(), groups=topics, interval=0.9)
    errors = {"missed": (~verdicts[stated]), "accepted": verdicts[~stated]}
    shown = {name: f"{int(some.sum())} of {len(some)}" for name, some in errors.items()}
    return {"kappa": kappa.as_dict(), **shown, "called stated": int(verdicts.sum())}


def area(values: NDArray[np.float64], stated: NDArray[np.bool_]) -> float:
    """The probability that a stated pair has a larger value than one that is not."""
    ahead = values[stated][:, None] - values[~stated]
    return float(np.mean(ahead > 0) + np.mean(ahead == 0) / 2)


def main() -> None:
    """Read the words of this script."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("what", choices=["questions", "sheet", "labels", "measure"])
    words.add_argument("words", nargs="+")
    given = words.parse_args()
    first, *rest = given.words
    if given.what == "questions":
        write_questions(Path(first), Path(*rest))
    elif given.what == "measure":
        print(json.dumps(measure(Path(first), *rest), indent=2))
    else:
        labels: dict[str, str] = {}
        if given.what == "labels":
            with Path(*rest).open(encoding="utf-8", newline="") as lines:
                labels = {row["pair"]: row["label"] for row in csv.DictReader(lines)}
        print(f"{write_sheet(Path(first), labels)} of {sum(PAIRS.values())} pairs are labelled")


if __name__ == "__main__":
    main()
