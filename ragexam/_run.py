"""Running the steps: corpus, chunks, exam, answers, fit, pruning, report; each done once, wherever it was stopped."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exam_gen import WritingProgress, WritingSettings, WrittenExam, split_pool, write_screened
from exam_gen.corpora import Inventory, chunk, need_source, take_inventory
from exam_gen.rules import dropped_question
from examcore import (
    Exam,
    LanguageModel,
    Progress,
    ReplyStore,
    ReportProgress,
    RunFolder,
    RunRecord,
    counted,
    file_hash,
    read_chunks,
    read_documents,
    read_dropped,
    read_exam,
    read_pool,
    write_chunks,
    write_documents,
    write_dropped,
    write_exam,
)
from irt import FEWEST_STUDENTS_TO_PRUNE
from rag import (
    AnswerStore,
    Sitting,
    embed,
    failed_requests,
    load_language_model,
    need_likelihoods,
    prepare_models,
    sit,
    usage_record,
)
from rag.engines import EngineOptions, open_engine
from ragexam._assembling import contexts, with_sources
from ragexam._config import Config, ExamConfig, GridSettings
from ragexam._corpus_table import CorpusTable, corpus_table, read_corpus
from ragexam._exam_table import exam_table
from ragexam._measure import fit_run, prune_run
from ragexam._outcomes import TrafficByName, examinee_factories, judge_answers, left_out, mixed_mode_warnings, outcome
from ragexam._retrieval import Library, retrieval_step
from ragexam._run_results import SittingResult, WritingResult
from ragexam._steps import Steps
from ragexam.validity import answered_questions, overlaps_of_people, read_users, validity_step

if TYPE_CHECKING:
    from ragexam.report import RunFindings

HERE = EngineOptions()
"""Exams are sat in this process where nothing else is said."""
POOL_ONLY = "fewer survived than the pool takes"
"""Why the last questions are dropped where all would go into the pool."""


def run_all(config: Config, progress: Progress, engine: EngineOptions = HERE) -> RunFindings:
    """Do what is left to do of a run and return what was found in it; `engine` says where it is sat."""
    with _opened(config, progress) as steps:
        if steps.record.fingerprint("answers") is None:
            prepare_models(config.grid.models, config.grid.examinees, progress)
        exam = write_steps(steps, config)
        _set_aside_answers(steps.folder, exam, progress)
        library = Library(steps.folder, exam, config.grid)
        sit_step(steps, library, config.seed, engine)
        claims_step(steps, library)
        retrieval_step(steps, library)
        if config.users is not None:
            validity_step(steps, library, config.users)
        measure_steps(steps, config)
        return report_step(steps)


def run_exam(config: ExamConfig, progress: Progress) -> WritingResult:
    """Write an exam into the run folder, or what is left to do of it."""
    with _opened(config, progress) as steps:
        exam, folder = write_steps(steps, config), steps.folder
        dropped = Counter(lost.reason.partition(":")[0] for lost in read_dropped(folder.dropped))
        return WritingResult(
            exam=folder.exam,
            n_questions=len(exam),
            pool=len(read_pool(folder.shots)),
            dropped=dict(dropped.most_common()),
            corpus=_corpus_table(steps),
            statistics=exam_table(folder.path),
            usage=steps.record.content.get("usage", {}),
        )


@contextmanager
def _opened(config: ExamConfig, progress: Progress) -> Iterator[Steps]:
    """The steps of a run, whose folder is held; before its first one is made, all that it is written from is there."""
    folder = RunFolder(config.run)
    if not folder.record.is_file():
        need_source(config.corpus.source)
    if config.users is not None and not config.users.is_file():
        raise FileNotFoundError(f"{config.users}: no such file; wanted questions of users, one JSON object a line")
    with folder.held():
        steps = Steps.of(folder, config, progress)
        if steps.record.fingerprint("exam") is None:
            need_source(config.corpus.source)
            prepare_models(config.author_names, config.authors, progress)
        yield steps


def run_sitting(
    exam_path: Path, grid: GridSettings, out: Path, engine: EngineOptions, seed: int, progress: Progress
) -> SittingResult:
    """Let a grid sit an exam found in a file or folder."""
    source = RunFolder(exam_path if exam_path.is_dir() else exam_path.parent)
    if exam_path.is_dir() and source.reviewed.exists():
        progress.say(f"{source.exam} is sat, not {source.reviewed.name}; to sit that one, name it and another --out")
    exam = with_sources(read_exam(source.exam if exam_path.is_dir() else exam_path))
    folder = RunFolder(out)
    with folder.held():
        _place_exam(source, exam, folder)
        _require_examples(source.shots, len(read_pool(folder.shots)), grid)
        prepare_models(grid.models, grid.examinees, progress)
        record = RunRecord.open(folder)
        record.content.setdefault("configuration", {})["grid"] = grid.model_dump(mode="json")
        steps = Steps(folder, record, progress)
        library = Library(folder, exam, grid)
        sit_step(steps, library, seed, engine)
        claims_step(steps, library)
        retrieval_step(steps, library)
        with AnswerStore(folder.answers) as store:
            found = store.outcomes()
        accuracy = {one.id: found[one.id].right / len(exam) for one in grid.grid.pipelines}
        return SittingResult(folder.responses, accuracy, record.content.get("sitting", {}))


def write_steps(steps: Steps, config: ExamConfig) -> Exam:
    """From the corpus to the exam."""
    folder, corpus = steps.folder, config.corpus
    writer = cache(lambda: load_language_model(config.writer))

    def read(_: ReportProgress) -> None:
        found = read_corpus(config)
        for warning in found.warnings:
            steps.progress.say(f"warning: {warning}")
        write_documents(folder.corpus, found.documents)
        # The rest of the table comes with the chunks, which need not be cut again.
        table = steps.record.content.get("corpus", {})
        steps.record.content["corpus"] = {**table, "left_out": dict(found.left_out)}

    def cut(report: ReportProgress) -> None:
        documents = read_documents(folder.corpus)
        # A bound on tokens takes a tokenizer to keep.
        bounds = corpus.chunks.min_tokens or corpus.chunks.max_tokens is not None
        count = (lambda text: writer().count_tokens(text)) if bounds else None
        chunks = chunk(documents, corpus.chunks, count, progress=report)
        write_chunks(folder.chunks, chunks)
        left_out = steps.record.content.get("corpus", {}).get("left_out", {})
        steps.record.content["corpus"] = take_inventory(documents, chunks, left_out).as_dict()

    def write(report: ReportProgress) -> None:
        _write_questions(steps, config, writer(), report)
        steps.record.save()
        steps.record.content["statistics"] = exam_table(folder.path).record()

    source = {"source": corpus.source, "sample": corpus.sample, "seed": config.seed, **steps.record.content["inputs"]}
    source |= {"layout": corpus.layout, "select": asdict(corpus.select)}
    source |= {"language": corpus.language} if corpus.language else {}
    cutting = {**source, "bounds": asdict(corpus.chunks)}
    authors = {"writer": config.writer.identity, "verifier": config.verifier and config.verifier.identity}
    # How long may be written at a time decides nothing about an exam that has all its questions.
    asked = {name: value for name, value in config.exam.identity.items() if name != "minutes"}
    writing = {**cutting, **authors, "exam": asked, "pool": config.pool}
    if config.users is not None:
        writing["users"] = file_hash(config.users)
    if config.filters:
        writing["filters"] = config.filters
    if steps.record.content.get("usage", {}).get("out_of_time"):
        steps.record.reopen("exam")
    steps.do("corpus", source, [folder.corpus], read)
    steps.do("chunks", cutting, [folder.chunks], cut)
    steps.do("exam", writing, [folder.exam, folder.dropped, folder.shots], write)
    return read_exam(folder.exam)


def sit_step(steps: Steps, library: Library, seed: int, engine: EngineOptions = HERE) -> None:
    """Every pipeline answers every question; then the responses are written."""
    folder, exam, grid = steps.folder, library.exam, library.grid

    def answer(report: ReportProgress) -> None:
        pool = read_pool(folder.shots)
        warned = mixed_mode_warnings(grid.grid)
        for warning in warned:
            steps.progress.say(f"warning: {warning}")
        heard: TrafficByName = {}
        identities = {one.name: one.identity for one in (*grid.grid.examinees, *grid.grid.retrievers)}
        who, searching = examinee_factories(grid.grid, heard), library.retrievers
        sitting = Sitting(
            exam, grid.grid.pipelines, library.chunks, who, searching, pool, grid.sitting(seed), identities
        )
        with AnswerStore(folder.answers) as store, open_engine(engine, steps.progress.say) as at_work:
            sit(sitting, store, progress=report, engine=at_work)
            judge_answers(grid, exam, store, steps.progress)
            store.to_responses_csv(folder.responses, exam, grid.grid.pipelines)
            steps.record.content["sitting"] = told = outcome(grid, store, heard)
        for note in told["notes"]:
            if note not in warned:
                steps.progress.say(f"note: {note}")

    made_from = {"exam": exam.hash, "grid": grid.identity, "seed": seed}
    steps.do("answers", made_from, [folder.answers, folder.responses], answer, first=library.encode)


def claims_step(steps: Steps, library: Library) -> None:
    """The judge of claims decides what it has not decided about the free-text answers."""
    from ragexam._answer_claims import decide_open_claims
    from ragexam.report import read_free_text

    judge = library.grid.claims
    found = read_free_text(steps.folder, library.exam.questions) if judge is not None else None
    if judge is not None and found is not None:
        decide_open_claims(steps.folder, found, judge, steps.progress)


def measure_steps(steps: Steps, config: Config) -> None:
    """Fit and prune, as far as the number of pipelines allows."""
    folder, pipelines = steps.folder, len(config.grid.grid.measured)
    for note in left_out(config.grid.grid):
        steps.progress.say(f"note: {note}")
    responses = file_hash(folder.responses)
    fitting = {"responses": responses, "settings": config.fit.identity, "seed": config.seed}
    if config.fit.item_covariates and config.users is not None:
        fitting["users"] = file_hash(config.users)
    if pipelines < 2:
        steps.progress.say("fit: left out; one pipeline has nothing to be compared with")
        return
    steps.do("fit", fitting, [folder.fit / "fit.json"], lambda report: fit_run(folder, config, report))
    if config.prune is None:
        return
    if pipelines < FEWEST_STUDENTS_TO_PRUNE:
        steps.progress.say(
            f"prune: left out; {pipelines} pipelines are too few to hold any out (wanted {FEWEST_STUDENTS_TO_PRUNE})"
        )
        return
    pruning = {**fitting, "prune": config.prune.identity}
    steps.do("prune", pruning, [folder.pruned / "prune.json"], lambda report: prune_run(folder, config, report))


def report_step(steps: Steps) -> RunFindings:
    """Write the summary into the record, then the page that shows it."""
    from ragexam.report import analyse_run, write_report

    def write(_: ReportProgress) -> None:
        write_report(findings)

    record = steps.record
    findings = analyse_run(steps.folder.path)
    record.content["summary"] = findings.record()
    record.save()
    steps.do("report", {"at": time.time()}, [steps.folder.report], write)
    # Time and memory of the report itself are in the record by now.
    findings = replace(findings, evidence=replace(findings.evidence, record=record.content))
    record.content["summary"] = findings.record()
    record.save()
    return findings


def _corpus_table(steps: Steps) -> CorpusTable:
    """The table of the corpus that the run keeps; made now for a run that an earlier release cut."""
    kept = steps.record.content.get("corpus", {})
    return CorpusTable(Inventory.from_dict(kept)) if "documents" in kept else corpus_table(str(steps.folder.path))


def _write_questions(steps: Steps, config: ExamConfig, model: LanguageModel, report: ReportProgress) -> None:
    """Write the exam's files, and into the record what the models were asked and what it cost."""
    from taxonomy import labels

    folder = steps.folder
    chunks = read_chunks(folder.chunks)
    second = load_language_model(config.verifier) if config.verifier else None
    judge = second or model
    if config.exam.mode != "paper" and config.exam.verification == "likelihood":
        need_likelihoods(judge)
    settings = replace(config.exam, questions=config.exam.questions + config.pool)
    users = read_users(config.users, chunks) if config.users is not None else []
    if config.exam.overlap == WritingSettings.overlap:
        settings = replace(settings, overlap=overlaps_of_people(users, chunks) or config.exam.overlap)
    encoder = config.writer.encoder
    steps.progress.say(f"exam: searching {len(chunks):,} passages for what to ask, then writing questions")

    def tell(now: WritingProgress) -> None:
        if now.newest:
            steps.progress.say(f"newest question: {now.newest}")
        steps.progress.doing(now.doing)
        report(now.done, now.wanted)

    with ReplyStore(folder.replies) as replies:
        written = write_screened(
            chunks,
            model,
            settings,
            seed=config.seed,
            replies=replies,
            filters=config.filters,
            embed=None if encoder is None else lambda texts: embed(texts, encoder=encoder),
            verifier=second,
            progress=tell,
            people=answered_questions(users, chunks),
        )
    # What was paid is told even when nothing has come of it.
    works = [("writing", model, written.usage), *([("verifying", second, written.verifying)] if second else [])]
    steps.record.content["usage"] = spent = usage_record(works)
    spent["out_of_time"] = written.out_of_time
    spent["steps"] = {name: asdict(cost) for name, cost in written.steps.items()}
    if written.stopped:
        also = f" and {config.pool} for the pool" if config.pool else ""
        spent["notes"].append(
            f"the exam is shorter than wanted: {len(written.questions)} questions passed, "
            f"{config.exam.questions}{also} were asked for; {written.stopped}"
        )
    for note in spent["notes"]:
        steps.progress.say(f"note: {note}")
    pool_size = config.pool
    if written.out_of_time:  # those that are there are divided as all would be
        shown = max(config.grid.shots) if isinstance(config, Config) else 0
        pool_size = max(shown, math.ceil(len(written.questions) * config.pool / settings.questions))
    if len(written.questions) <= pool_size:
        lost = [*written.dropped, *(dropped_question(one, POOL_ONLY) for one in written.questions)]
        write_dropped(folder.dropped, lost)
        why = _none_left(written, pool_size, spent)
        raise ValueError(f"{config.corpus.source}: {why}; all losses: {folder.dropped}")
    # A language without rules gets no labels.
    labelled = [replace(one, labels={**one.labels, **labels(one.stem, one.language)}) for one in written.questions]
    exam, pool = split_pool(labelled, pool_size, config.seed)
    write_dropped(folder.dropped, written.dropped)
    write_exam(folder.shots, pool)
    write_exam(folder.exam, exam)


def _none_left(written: WrittenExam, pool: int, spent: Mapping[str, Any]) -> str:
    """Why there is no exam, and what would help."""
    if written.questions:
        survived = f"{counted(len(written.questions), 'question')} survived and the pool takes {pool}"
        return f"{survived}; wanted more text or a smaller pool"
    reasons = Counter(lost.reason.partition(":")[0] for lost in written.dropped).most_common(3)
    why = ", ".join(f"{count} {reason}" for reason, count in reasons) or "nothing was written"
    failed = failed_requests(spent)
    requests = f"; failed requests: {failed}" if failed else ""
    return f"no question survived ({why}{requests}); wanted more text or another writer"


def _set_aside_answers(folder: RunFolder, exam: Exam, progress: Progress) -> None:
    """Move answers to an exam that has got other questions since out of the way."""
    if not folder.answers.exists():
        return
    with AnswerStore(folder.answers) as store:
        answered = store.exam
    if answered not in ("", exam.hash):
        aside = folder.answers.with_stem(f"{folder.answers.stem}-{answered[:8]}")
        folder.answers.replace(aside)
        progress.say(f"answers: those to the exam as it was are kept in {aside.name}; it is sat anew")


def _require_examples(beside: Path, there: int, grid: GridSettings) -> None:
    """Refuse a grid with more examples than there are."""
    wanted = max((one.shots for one in grid.grid.pipelines), default=0)
    if there < wanted:
        raise ValueError(
            f"{beside}: {there} questions to be shown as examples; wanted {wanted} beside those of the exam, in the "
            "same form, or shots: [0] in the grid"
        )


def _place_exam(source: RunFolder, exam: Exam, folder: RunFolder) -> None:
    """Put the exam, its chunks and its pool where the answers go; refuse a folder of another exam.

    The pool is taken from beside the exam until answers were given under it.
    """
    if folder.exam.exists():
        found = read_exam(folder.exam)
        if found.hash != exam.hash:
            raise ValueError(f"{folder.exam}: holds exam {found.hash}; wanted {exam.hash}, or another --out")
    else:
        write_exam(folder.exam, exam)
        write_chunks(folder.chunks, read_chunks(source.chunks) if source.chunks.exists() else contexts(exam))
    if source.shots.exists() and not (folder.answers.exists() and read_pool(folder.shots)):
        write_exam(folder.shots, read_pool(source.shots))
