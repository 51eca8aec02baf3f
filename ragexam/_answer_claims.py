"""What `ragexam answers RUN --claims MODEL` does: ask a judge about claims of free-text answers, each once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from examcore import (
    CachedLanguageModel,
    FailedError,
    ModelUsage,
    Progress,
    ReplyStore,
    RunFolder,
    counted,
    language_named,
    locked_log,
    read_exam,
    read_log,
    read_text,
    write_lines,
    write_text,
)
from grading import read_nuggets, write_bank
from grading.reports import (
    ENTAILMENT,
    ClaimAsk,
    ClaimOdds,
    Decision,
    claim_judge_name,
    decide_claims,
    entailment_judge,
    replying_judge,
    weigh_claims,
)
from rag import ModelSettings, load_language_model, need_likelihoods
from rag.servers import is_server
from ragexam._free_text_answers import LabelSheet, drawn, free_text_of
from ragexam.report import (
    CLAIM_LABELS,
    ClaimFindings,
    FreeTextAnswers,
    read_claim_labels,
    read_claim_nuggets,
    read_free_text,
    unrelated_texts,
)


def claims_of_run(run: Path, judge: str, progress: Progress) -> FreeTextAnswers:
    """The free-text answers of a run with their claims decided by this judge.

    Raises ValueError in one line for a run without such answers and for a judge that cannot be loaded.
    """
    folder, found = RunFolder(run), free_text_of(run)
    with folder.held():
        return decide_open_claims(folder, found, ModelSettings(model=judge), progress)


def take_nuggets(run: Path, nuggets: Path) -> None:
    """Keep nuggets in the run's folder; answers are held against them instead of the sentences of the source passages.

    Raises ValueError in one line for nuggets of other questions.
    """
    folder = RunFolder(run)
    read_claim_nuggets(nuggets, read_exam(folder.exam).questions)
    write_bank(folder.claim_nuggets, read_nuggets(nuggets).nuggets)


def label_claims(run: Path, found: FreeTextAnswers, labels: Path) -> FreeTextAnswers:
    """The same with labels given by hand, which are checked and kept in the run's folder.

    Raises ValueError in one line for labels of other claims.
    """
    hand = read_claim_labels(labels, found.claims)
    write_text(RunFolder(run).claim_labels, [read_text(labels)])
    return replace(found, claims=replace(found.claims, hand=hand))


def decide_open_claims(
    folder: RunFolder, found: FreeTextAnswers, settings: ModelSettings, progress: Progress
) -> FreeTextAnswers:
    """Ask the judge what it has not decided yet; its decisions go in place of another's.

    Each decision is kept as it comes. Raises `FailedError` at the end where the judge gave no reply.
    """
    name = claim_judge_name(settings.model, by_reply=is_server(settings.model))
    if found.claims.judge not in ("", name):
        kept = [one.fields for one in read_log(folder.claims).records if one.fields["judge"] == name]
        write_lines(folder.claims, kept)
        found = _read_again(folder)
    asks, failed, undecided = found.claims.open, list[str](), list[str]()
    if not asks:
        return found
    with (
        ReplyStore(folder.replies) as replies,
        locked_log(folder.claims) as log,
        progress.step("claims") as report,
    ):
        report(0, len(asks))
        for done, (ask, said) in enumerate(_judged(found.claims, settings, replies, progress), start=1):
            if isinstance(said, Decision) and said.verdict is None:
                (failed if said.failed else undecided).append(said.why)
            else:
                claim, text = ask.key
                log.append({"judge": name, "question": ask.topic, "claim": claim, "text": text, **_fields(said)})
            report(done, len(asks))
    if undecided:
        progress.say(f"note: {counted(len(undecided), 'claim')} left open, such as for this reason: {undecided[0]}")
    if failed:
        raise FailedError(f"judge {settings.model}: {counted(len(failed), 'claim')} not judged: {failed[0]}")
    return _read_again(folder)


def _fields(said: Decision | ClaimOdds) -> dict[str, Any]:
    if isinstance(said, ClaimOdds):
        return {"log_odds": said.beside, "unrelated": said.unrelated}
    return {"stated": said.verdict, "why": said.why}


def write_claim_sheet(found: ClaimFindings, path: Path, size: int, seed: int = 0) -> LabelSheet:
    """Write `size` questions to the judge drawn at random, without its decisions, as JSON lines to label."""
    languages = {one.question.id: language_named(one.question.language) for one in found.answers}
    rows = []
    for one in drawn(found.asks, size, seed):
        about = {"question": one.topic, "claim": one.claim, "text": one.text}
        rows.append({**about, **languages[one.topic].attributes, "label": ""})
    write_lines(path, rows)
    return LabelSheet(path, len(rows), "claim", CLAIM_LABELS, "--claim-labels")


def _judged(
    found: ClaimFindings, settings: ModelSettings, replies: ReplyStore, progress: Progress
) -> Iterator[tuple[ClaimAsk, Decision | ClaimOdds]]:
    """What the judge says of each open question, as it comes; a model of this machine gives odds."""
    if settings.model.startswith(ENTAILMENT):
        yield from decide_claims(found.open, entailment_judge(settings.model))
        return
    model = load_language_model(settings)
    cached = CachedLanguageModel(model, replies)
    if is_server(settings.model):
        yield from decide_claims(found.open, replying_judge(cached))
        return
    need_likelihoods(model)
    yield from weigh_claims(found.open, unrelated_texts(found.answers), cached)
    own, others = (cached.steps.get(name, ModelUsage()).prompt_tokens for name in ("claims", "unrelated"))
    progress.say(f"{own:,} tokens were read for claims beside their texts, {others:,} beside texts of other questions")


def _read_again(folder: RunFolder) -> FreeTextAnswers:
    found = read_free_text(folder, read_exam(folder.exam).questions)
    if found is None:
        raise ValueError(f"{folder.path}: its free-text answers are gone; wanted them to stay while claims are judged")
    return found
