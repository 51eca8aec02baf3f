"""Beginning an exam of one's own."""

from __future__ import annotations

from pathlib import Path

from examcore import write_text

CONFIG = """\
# An exam of your own. Put documents into {documents}/ and say: ragexam run {config}
# Paths are seen from the folder you say it in.
run: {run}
seed: 0

corpus:
  source: {documents}      # a folder (.txt .md .rst .html .pdf), a .json .jsonl .csv .parquet file, or hf:NAME
  # sample: 100            # use so many documents, drawn by the seed
  # select: {{min_characters: 200, per_topic: 20}}       # also max_characters, before (a year), topics
  # layout: abstracts      # of other records than documents: abstracts, threads, filings (docs/corpora.md)
  chunks:
    min_characters: 350
    max_characters: 1100

writer:                    # writes and verifies the questions; keep it out of the grid
  model: embedded:qwen2.5-coder-1.5b   # or a hub name, a folder, a .gguf file, python:module:factory,
                                       # openai:MODEL@http://host:port/v1 (see docs/models.md)
  dtype: auto              # float32, bfloat16, float16, w8a8, int8, nf4
  encoder: embedded:minilm-l6
  # server: {{concurrency: 8, timeout: 120}}   # how a server is asked; all options: docs/models.md

# verifier:                # another model verifies
#   model: org/model

exam:
  questions: 60
  # mode: json             # for a strong writer on a server: several questions about a passage in one reply
  # verification: letters  # for a server that gives no log-probabilities
  # overlap: [0.3, 0.45, 0.55, 0.6, 0.67, 0.75, 0.8, 0.9, 1.0, 1.0]   # words that queries share with their passages
  # minutes: 10            # write no longer than that; the same command writes on, and questions may be raised later
  # completions: 0.0       # of the wanted number, the most that may complete a sentence
  # thresholds: {{agreement: 0.5, lift: 3.0}}  # what verification asks for: docs/exam-writing.md
pool: 4                    # further questions, shown as examples and never asked

# users: questions.jsonl   # questions of your users, with the documents that answer them: checks the verdict

# filters:                 # change the usual rules; ragexam filter RUN --dry-run shows them and what each removes
#   near-duplicate: 0.7    # a limit
#   extra-words: 10%       # a share of the questions
#   catch-all: off

grid:                      # every combination sits the exam
  llms: [embedded:smollm2-135m]        # or {{name: mine, model: org/model, dtype: bfloat16, answers: letters}}
  retrievers: [closed-book, bm25, dense, hybrid, oracle]
  # black_boxes: [http://localhost:9000/ask]  # systems with their own retrieval
  shots: [0, 1, 2]
  passages: 1              # passages a pipeline reads; [1, 3] lets the grid compare
  queries: question        # what retrievers search for; [question, keywords, stem] lets the grid compare
  normalization: character # sum, token, character or pmi

fit:
  model: 2pl               # 1pl, 2pl, 3pl, 3pl-shared, 4pl, auto
  method: nuts             # nuts; laplace or map to look at quickly

prune:                     # prune: null leaves the exam as it is
  keep: 0.7                # share of the questions
  holdout: 0.3             # share of the pipelines that only judge
  criterion: discrimination            # or information
  # balance: topic         # every topic keeps its part
  # stop: auto             # stop before a round without credible gain
"""


def begin(directory: Path) -> str:
    """Write `config.yaml` and an empty `documents/`; returns what to do next.

    Raises `ValueError` when a configuration is already there.
    """
    config, documents = directory / "config.yaml", directory / "documents"
    if config.exists():
        raise ValueError(f"{config}: already there; wanted a new folder")
    documents.mkdir(parents=True, exist_ok=True)
    write_text(config, [CONFIG.format(config=config, documents=documents, run=directory / "run")])
    return f"wrote {config}\nput documents into {documents}/, then: ragexam run {config}"
