"""The command lines whose results are kept, in the order they are run: later ones read what earlier ones wrote."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A command line: `words` is what a user types after `python -m`, `files` is what it writes that is kept.

    `json`: it has `--json`.
    """

    name: str
    words: str
    files: tuple[str, ...] = ()
    json: bool = True


MODELS = "python:tests.golden.scripted_models"
FACETS = "--facets llm,retriever,icl"
TABLES = ("items.csv", "abilities.csv", "components.csv")


def fit(name: str, table: str, options: str) -> Command:
    """A fit whose tables are kept beside its record."""
    folder = f"fits/{name}"
    return Command(
        f"fit-{name}", f"irt fit {table} {options} --out {folder}", tuple(f"{folder}/{one}" for one in TABLES)
    )


RUN = [
    Command(
        "run",
        "ragexam run config.yaml",
        (
            *("run/corpus.jsonl", "run/chunks.jsonl", "run/exam.jsonl", "run/shots.jsonl", "run/dropped.jsonl"),
            *("run/answers.sqlite", "run/responses.csv", "run/run.json", "run/retrieval.csv"),
            *("run/retrieval-ranks.csv", "run/fit/fit.json", *(f"run/fit/{one}" for one in TABLES)),
            *("run/pruned/prune.json", "run/pruned/exam.jsonl", "run/figures/*.csv", "run/report.html"),
        ),
    ),
    Command(
        "run-later",
        "ragexam run config.yaml --set run=later --set seed=4 --set exam.questions=8 --set 'grid.shots=[0]' "
        "--set prune=null",
        ("later/exam.jsonl", "later/responses.csv"),
    ),
    Command("report", "ragexam report later"),
    Command("report-two-runs", "ragexam report run later --out comparison.html", ("comparison.html",)),
]
EXAM = [
    Command("init", "ragexam init fresh", ("fresh/config.yaml",), json=False),
    Command("doctor", "ragexam doctor"),
    Command("estimate", "ragexam estimate config.yaml"),
    Command(
        "generate",
        f"ragexam generate corpus.jsonl --out generated --questions 3 --sample 20 --seed 2 --writer {MODELS}:writer "
        "--set writer.encoder=null --set pool=0",
        ("generated/exam.jsonl", "generated/dropped.jsonl"),
    ),
    Command("filter-dry-run", "ragexam filter run --dry-run --rule near-duplicate=0.7"),
    Command("filter", "ragexam filter run --out strict --rule length-cue=1.1", ("strict/exam.jsonl",)),
    Command("corpus", "ragexam corpus run"),
    Command("statistics", "ragexam statistics run"),
    Command("classify", "ragexam classify run --out labelled.jsonl", ("labelled.jsonl",)),
    Command(
        "classify-by-model", f"ragexam classify run --only bloom --compare labelled.jsonl --model {MODELS}:labeller"
    ),
    Command("assemble", "ragexam assemble run --size 8 --by topic,bloom --out short.jsonl", ("short.*",)),
    Command("diff", "ragexam diff run short.jsonl"),
    Command("diff-runs", "ragexam diff run later"),
    Command("view-write", "ragexam view run --write"),
    Command("view-audit", "ragexam view run --audit 3 --sheet sheet.jsonl", ("sheet.jsonl",)),
    Command("sit", "ragexam sit short.jsonl --pipelines grid.yaml --out sat", ("sat/responses.csv",)),
    Command("retrieval", "ragexam retrieval run"),
    Command("export-lm-eval", "ragexam export run --to lm-eval --out lm-eval", ("lm-eval/*.jsonl", "lm-eval/*.yaml")),
    Command("export-inspect", "ragexam export run --to inspect --out inspect", ("inspect/*.json*",)),
    Command("export-hf", "ragexam export run --to hf --out hf", ("hf/data/*.jsonl",)),
    Command("export-csv", "ragexam export run --to csv --out table", ("table/*",)),
    Command("export-responses", "ragexam export run --to responses --out answers", ("answers/*",)),
    Command("import", "ragexam import scripted=samples.jsonl --exam run --out imported.csv", ("imported.csv",)),
    *(
        Command(f"run-{name}", f"ragexam {words}")
        for name, words in {
            "check": "check run/fit",
            "compare": "compare run/fit bm25 oracle",
            "power": "power run/fit --gap 0.5",
            "information": "information run/fit --points 7",
            "dif": "dif run/fit --facet llm",
        }.items()
    ),
]
MEASUREMENT = [
    *(
        fit(f"{model}-{method}", "pipelines.csv", f"{FACETS} --model {model} --method {method} --seed 1")
        for model in ("1pl", "2pl", "3pl", "3pl-shared", "4pl")
        for method in ("map", "laplace")
        if (model, method) != ("3pl-shared", "laplace")
    ),
    fit("auto-map-refused", "pipelines.csv", f"{FACETS} --model auto --method map"),
    fit("interactions", "pipelines.csv", f"{FACETS} --method map --interactions llm:retriever --interval 0.8"),
    fit("covariates", "pipelines-words.csv", "--facets llm,icl --covariates words --method map"),
    *(
        fit(f"{model}-mml", "people.csv", f"--model {model} --method mml")
        for model in ("1pl", "2pl", "3pl", "3pl-shared", "4pl", "auto")
    ),
    fit("2pl-mml-priors", "people.csv", "--model 2pl --method mml --priors"),
    fit("grm-mml", "ratings.csv", "--graded --method mml"),
    fit("later", "pipelines-later.csv", f"{FACETS} --method map"),
    Command("prune", "irt prune pipelines.csv --keep 0.7 --out pruned", ("pruned/prune.json",)),
    Command(
        "prune-information",
        "irt prune pipelines.csv --keep 0.6 --criterion information --at=-1,0,1 --groups topics.csv --seed 2",
    ),
    Command("prune-auto", "irt prune pipelines.csv --keep 0.5 --quantile 0.2 --stop auto"),
    Command("information", "irt information fits/2pl-map --points 9"),
    Command("information-by-group", "irt information fits/3pl-map --points 5 --groups topics.csv"),
    Command("information-ratings", "irt information fits/grm-mml --points 5"),
    Command(
        "check",
        "irt check fits/2pl-map --groups topics.csv --options options.csv --key key.csv --out checks",
        ("checks/*.csv",),
    ),
    Command("check-laplace", "irt check fits/2pl-laplace"),
    Command("check-mml", "irt check fits/2pl-mml"),
    Command("check-ratings", "irt check fits/grm-mml"),
    Command("dif", "irt dif fits/2pl-map --facet llm --out dif", ("dif/*.csv",)),
    Command("score", "irt score fits/2pl-map new.csv --out scored", ("scored/abilities.csv",)),
    *(
        Command(f"score-{method}", f"irt score fits/3pl-laplace new.csv --method {method} --known")
        for method in ("eap", "wle", "map", "ml")
    ),
    Command("adaptive", "irt adaptive fits/2pl-map --pipeline m1|dense|2 --longest 8"),
    Command("adaptive-new", "irt adaptive fits/2pl-map --pipeline weak --responses new.csv --se 0.5 --seed 3"),
    *(
        Command(f"link-{method}", f"irt link fits/2pl-map fits/later --method {method}")
        for method in ("stocking-lord", "haebara", "mean-sigma", "mean-mean")
    ),
    Command("link-symmetric", "irt link fits/2pl-map fits/later --symmetric --out linked", ("linked/*.csv",)),
    Command("compare", "irt compare fits/2pl-map bm25 oracle"),
    Command("compare-laplace", "irt compare fits/2pl-laplace m0 m2 --facet llm"),
    Command("compare-students", "irt compare fits/2pl-map m0|bm25|0 m2|oracle|2"),
    Command("power", "irt power fits/2pl-map --gap 0.2"),
    Command("power-questions", "irt power fits/2pl-map --questions 40 --at 0.5 --design independent --power 0.9"),
]
SVI = [fit("2pl-svi", "pipelines.csv", f"{FACETS} --method svi --seed 1")]
SAMPLED = [
    fit("2pl-nuts", "pipelines-short.csv", "--facets llm,retriever --method nuts --seed 1"),
    fit("grm-nuts", "ratings-short.csv", "--graded --method nuts --seed 1"),
    Command("compare-nuts", "irt compare fits/2pl-nuts bm25 oracle"),
]
BANK = "free-text/bank.jsonl"
GRADING = f"ragexam grade run {BANK} free-text/passages.jsonl --model {MODELS}:grader"
THREE = "free-text/dense.run free-text/bm25.run free-text/random.run"
SYSTEMS = " ".join(f"free-text/systems/s{one:02d}.run" for one in range(12))
THREE_OPTIONS, SYSTEM_OPTIONS = (" ".join(f"--run {one}" for one in runs.split()) for runs in (THREE, SYSTEMS))
ARGUE = "ragexam grade argue free-text/reports.jsonl free-text/nuggets.jsonl"
NUGGETS = "free-text/x.jsonl free-text/y.jsonl free-text/z.jsonl"
FREE_TEXT = [
    Command(
        "bank-write",
        f"ragexam grade bank write free-text/topics.csv --model {MODELS}:grader --out written.jsonl --questions 3",
        ("written.jsonl",),
    ),
    Command("bank-lint", f"ragexam grade bank lint {BANK} --fewest 5"),
    *(
        Command(f"grade-{grader}", f"{GRADING} --grader {grader} {more}--out {grader}", (f"{grader}/grades.jsonl",))
        for grader, more in {
            "rating": "",
            "qa": "--verify model ",
            "relevance": "--shots 2 --queries free-text/queries.csv ",
        }.items()
    ),
    Command("bank-lint-grades", f"ragexam grade bank lint {BANK} --grades rating/grades.jsonl --tau 4"),
    Command(
        "bank-changes", f"ragexam grade bank changes {BANK} free-text/bank-later.jsonl rating/grades.jsonl --tau 4"
    ),
    *(
        Command(f"bank-edit-{at}", f"ragexam grade bank edit {BANK} {words}")
        for at, words in enumerate(
            (
                "--add free-text/more.jsonl --who reader",
                "--change skin-0 'question=Which layer lies on top?' answers=epidermis|cuticle",
                "--retire tides-1 --reason 'too easy'",
                "--undo",
                "--retire bees-3",
                "--restore bees-3",
                "--history",
            )
        )
    ),
    Command(
        "margin",
        f"ragexam grade margin run/exam.jsonl --model {MODELS}:grader --share 0.2 --out margin",
        ("margin/margin.json",),
    ),
    Command(
        "grade-choices",
        f"ragexam grade run run/exam.jsonl articles.jsonl --grader choices --model {MODELS}:grader --out choices",
        ("choices/grades.jsonl",),
    ),
    Command(
        "grade-report",
        f"ragexam grade report rating {THREE_OPTIONS} --tau 4 --qrels free-text/official.qrels",
        ("rating/report.html",),
    ),
    Command(
        "cover",
        f"ragexam grade cover rating/grades.jsonl {THREE} --tau 4 --k 2 --bank {BANK} --scores cover.csv",
        ("cover.csv",),
    ),
    Command("qrels", "ragexam grade qrels rating/grades.jsonl --tau 4 --out exam.qrels", ("exam.qrels",)),
    Command("measure", f"ragexam grade measure free-text/official.qrels {THREE}"),
    Command(
        "measure-some",
        f"ragexam grade measure exam.qrels {THREE} --measures MAP,P@1,num_ret --over common --scores map.csv",
        ("map.csv",),
    ),
    Command("tau", "ragexam grade tau free-text/ratings.csv free-text/systems.qrels"),
    Command("tau-systems", f"ragexam grade tau free-text/ratings.csv free-text/systems.csv {SYSTEMS}"),
    Command(
        "exam", "ragexam grade exam free-text/answers.csv --gold free-text/gold.csv --scores exam.csv", ("exam.csv",)
    ),
    Command("exam-sat", "ragexam grade exam run/responses.csv --bank run/exam.jsonl"),
    Command("rouge", "ragexam grade rouge free-text/articles.csv free-text/gold-texts.csv"),
    Command(
        "items",
        f"ragexam grade items free-text/ratings.csv {SYSTEM_OPTIONS} --tau 3 --out items",
        ("items/items.csv", "items/responses.csv"),
    ),
    Command("argue", f"{ARGUE} free-text/judgments.jsonl --grades argue.jsonl", ("argue.jsonl",)),
    Command("argue-all", f"{ARGUE} free-text/judgments.jsonl --citations all --missing skip"),
    Command(
        "argue-model",
        f"{ARGUE} --judge model:{MODELS}:sentence_judge --documents free-text/documents.jsonl --judged made.jsonl",
        ("made.jsonl",),
    ),
    Command("validate", "ragexam grade validate free-text/reports.jsonl --documents free-text/documents.jsonl"),
    Command(
        "similarity", "ragexam grade similarity 'Who lit the lamp?' 'Who lit the great lamp at night?' --weights 2,1,0"
    ),
    Command("similarity-files", "ragexam grade similarity free-text/rewritten.txt free-text/gold.txt --measure dice"),
    Command("nuggets", f"ragexam grade nuggets {NUGGETS} --scores nuggets.csv", ("nuggets.csv",)),
    Command("nuggets-one", "ragexam grade nuggets free-text/x.jsonl"),
    Command("agreement", "ragexam grade agreement free-text/human.qrels free-text/model.qrels"),
    Command("leaderboard", "ragexam grade leaderboard free-text/official.csv free-text/exam.csv"),
    Command("power", "ragexam grade power free-text/pilot.csv --gap 0.1"),
    Command("power-pair", "ragexam grade power free-text/pilot.csv --gap 0.1 --pair x,y"),
    Command("reusability", "ragexam grade reusability free-text/grades.csv --tau 1"),
    Command("reusability-nuggets", f"ragexam grade reusability {NUGGETS}"),
    Command("bias", "ragexam grade bias free-text/judged.csv"),
]
PARTS = {
    "run": RUN,
    "exam": EXAM,
    "measurement": MEASUREMENT,
    "free-text": FREE_TEXT,
    "svi": SVI,
    "sampled": SAMPLED,
}
"""`sampled` and `svi` stand apart, as they may change."""
READ_THE_RUN = {"exam", "free-text"}
"""Parts whose commands read what `run` wrote."""
