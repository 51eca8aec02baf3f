"""Options that several grading commands share, as records: a command that takes one has an option for each field."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from examcore.console import Interval, Seed
from grading._records import Sampling
from grading.graders._prompts import Verify
from grading.graders._relevance_judges import Scale
from grading.leaderboards._paired import Pairs

ShownPairs = Annotated[Pairs, typer.Option("--pairs", help="Pairs of systems to print; --json has all.")]
BankFile = Annotated[Path | None, typer.Option(metavar="BANK", help="The bank: bank.jsonl or exam.jsonl.")]
GradePrompt = Annotated[
    str | None, typer.Option(metavar="CLASS[:LLM]", help="Whose grades, where a workbench file holds several.")
]
Scores = Annotated[
    Path | None,
    typer.Option("--scores", metavar="FILE", help="Write system,topic,score, which leaderboard and power read."),
]
JudgeName = Literal["umbrela", "thomas", "faggioli", "faggioli-few", "helm", "sun", "sun-few"]
"""The names of `RELEVANCE_JUDGES`."""
Grader = Literal["qa", "rating", "relevance", "reader", "choices", JudgeName]


@dataclass(frozen=True)
class Resampling:
    """The share that intervals cover, and the seed of what is drawn for them."""

    interval: Interval = 0.9
    seed: Seed = 0

    @property
    def sampling(self) -> Sampling:
        """How the intervals are computed."""
        return Sampling(self.interval, seed=self.seed)


@dataclass(frozen=True)
class ModelOptions:
    """A language model, and how its numbers are held and where."""

    model: Annotated[
        str, typer.Option(help="The model, as for pipelines: embedded:NAME, a folder, a hub name, openai:…")
    ]
    dtype: Annotated[str, typer.Option(help="auto, float32, bfloat16, float16, int8, nf4.")] = "auto"
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, mps.")] = "auto"


@dataclass(frozen=True)
class GraderOptions:
    """What grades, and the settings of each grader."""

    grader: Annotated[Grader, typer.Option(help="What grades, or a published judge by name.")] = "rating"
    limit: Annotated[int | None, typer.Option(min=1, help="Grade only the first so many pairs.")] = None
    segment: Annotated[
        int | None, typer.Option(min=1, metavar="WORDS", help="Cut answers into passages of at most so many words.")
    ] = None
    verify: Annotated[Verify, typer.Option(help="qa: words, or model for answers that the words reject.")] = "words"
    scale: Annotated[Scale, typer.Option(help="relevance: the grades.")] = "yes-no"
    shots: Annotated[int, typer.Option(min=0, max=4, help="relevance: solved examples in the prompt.")] = 0
    queries: Annotated[Path | None, typer.Option(help="relevance, judges: query, text; else the ids.")] = None
    margin: Annotated[
        str | None, typer.Option(metavar="NATS|FILE", help="choices: what support has to exceed; or margin.json.")
    ] = None
    threshold: Annotated[float, typer.Option(help="reader: how far a span must beat the null score.")] = 0.0
    batch: Annotated[int, typer.Option(min=1, help="Prompts written together; more is faster on a GPU.")] = 1


@dataclass(frozen=True)
class GradeSource:
    """The bank that was graded, and which of several graders' grades are read."""

    bank: BankFile = None
    prompt: GradePrompt = None


@dataclass(frozen=True)
class EditOptions:
    """One edit of a bank, and what its log says of it."""

    add: Annotated[Path | None, typer.Option(metavar="FILE", help="Add the questions of a bank.")] = None
    change: Annotated[str | None, typer.Option(metavar="ID", help="Change fields of a question.")] = None
    retire: Annotated[str | None, typer.Option(metavar="ID", help="Take a question out.")] = None
    restore: Annotated[str | None, typer.Option(metavar="ID", help="Put it back.")] = None
    undo: Annotated[bool, typer.Option("--undo", help="Turn the last edit round.")] = False
    query: Annotated[str | None, typer.Option(help="The question's query, where several have the id.")] = None
    reason: Annotated[str, typer.Option(help="Why, for the log.")] = ""
    who: Annotated[str, typer.Option(help="Who edits, for the log.")] = ""


@dataclass(frozen=True)
class ArgueRules:
    """How sentences and topics count."""

    citations: Annotated[
        Literal["any", "all", "micro"],
        typer.Option(help="Of several citations: any must support, all must, or each counts (micro)."),
    ] = "any"
    unjudged: Annotated[Literal["error", "skip"], typer.Option(help="A sentence that lacks a judgement.")] = "error"
    missing: Annotated[Literal["zero", "skip"], typer.Option(help="A topic that a run has no report on.")] = "zero"
    whole_documents: Annotated[
        bool, typer.Option("--whole-documents", help="Cut segment ids at '#', for nuggets bound to documents.")
    ] = False


@dataclass(frozen=True)
class ArgueJudges:
    """Who decides what the judgements leave open, and what they read."""

    judge: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND:NAME", help="Who decides what JUDGMENTS leave open: model:NAME or entailment:NAME."),
    ] = None
    documents: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Texts of the cited documents (id, text), for --judge.")
    ] = None
    requests: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What each report was asked for (topic, text), for --judge.")
    ] = None
    replies: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where replies of --judge are kept, so that it goes on.")
    ] = None
    by: Annotated[Literal["likelihood", "reply"], typer.Option(help="How model:NAME decides.")] = "likelihood"


@dataclass(frozen=True)
class ArgueOutput:
    """What is written and shown besides the scores."""

    judged: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every decision made, in the format of JUDGMENTS.")
    ] = None
    grades: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write which nuggets each report has, as grades of 0 and 1.")
    ] = None
    sentences: Annotated[bool, typer.Option("--sentences", help="List every sentence, however many.")] = False
