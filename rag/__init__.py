"""The examinees: language models, retrievers, prompts, and an exam sat by a grid of pipelines."""

from rag._models import (
    ModelSettings,
    SettingsGroup,
    failed_requests,
    load_model,
    need_likelihoods,
    usage_lines,
    usage_record,
)
from rag.answering._examinees import (
    ABSTAINED,
    NO_CHOICE,
    ChoiceEvidence,
    Engine,
    Examinee,
    ExamineeFactory,
    LikelihoodExaminee,
    TaskAnswer,
    TaskFailure,
    choose_answer,
    normalized_scores,
)
from rag.answering._prompts import (
    ANSWER_PREFIX,
    EXAM_PROMPT_VERSION,
    Shot,
    continuation,
    draw_shots,
    exam_prompt,
    passages_and_stem,
)
from rag.answering._tasks import PassageLimits, PassageLookup, Task, tasks_of
from rag.answering._truncation import fit_passages
from rag.grid._grid import Grid, grid_of
from rag.grid._pipeline import FACETS, FACTORS, OWN_FACETS, Mode, Pipeline
from rag.grid._specs import BlackBoxSpec, LlmSpec, RetrieverSpec, short_name
from rag.retrieval._dense import DEFAULT_ENCODER, embed
from rag.retrieval._kinds import BOUNDS, build_retriever
from rag.retrieval._protocol import ClosedBook, Retriever
from rag.sitting._answer_store import (
    Answer,
    AnswerStore,
    JudgedReply,
    PipelineOutcome,
    differences,
    responses_text,
    write_responses,
)
from rag.sitting._preparation import load_language_model, prepare_models
from rag.sitting._sitting import QUERIES, Sitting, SittingSettings, sit
from rag.sitting._stored_prompts import ExamPrompts, bound_prompts, stored_prompts
from rag.weights._placement import computes_w8a8, fast_bfloat16
from rag.weights._sources import hub_offline, quiet_libraries

__all__ = [
    "ABSTAINED",
    "ANSWER_PREFIX",
    "BOUNDS",
    "DEFAULT_ENCODER",
    "EXAM_PROMPT_VERSION",
    "FACETS",
    "FACTORS",
    "NO_CHOICE",
    "OWN_FACETS",
    "QUERIES",
    "Answer",
    "AnswerStore",
    "BlackBoxSpec",
    "ChoiceEvidence",
    "ClosedBook",
    "Engine",
    "ExamPrompts",
    "Examinee",
    "ExamineeFactory",
    "Grid",
    "JudgedReply",
    "LikelihoodExaminee",
    "LlmSpec",
    "Mode",
    "ModelSettings",
    "PassageLimits",
    "PassageLookup",
    "Pipeline",
    "PipelineOutcome",
    "Retriever",
    "RetrieverSpec",
    "SettingsGroup",
    "Shot",
    "Sitting",
    "SittingSettings",
    "Task",
    "TaskAnswer",
    "TaskFailure",
    "bound_prompts",
    "build_retriever",
    "choose_answer",
    "computes_w8a8",
    "continuation",
    "differences",
    "draw_shots",
    "embed",
    "exam_prompt",
    "failed_requests",
    "fast_bfloat16",
    "fit_passages",
    "grid_of",
    "hub_offline",
    "load_language_model",
    "load_model",
    "need_likelihoods",
    "normalized_scores",
    "passages_and_stem",
    "prepare_models",
    "quiet_libraries",
    "responses_text",
    "short_name",
    "sit",
    "stored_prompts",
    "tasks_of",
    "usage_lines",
    "usage_record",
    "write_responses",
]
