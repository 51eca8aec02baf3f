"""Grids: all combinations, stable ids, and mistakes named by file and key."""

import pytest
import yaml

from rag import Grid, LlmSpec, Pipeline, RetrieverSpec, grid_of, short_name
from rag.servers import ServerOptions

GRID = """
llms:
  - embedded:smollm2-135m
  - {name: coder, model: models/coder.gguf, dtype: bfloat16}
retrievers: [closed-book, bm25, {name: siam, kind: dense, encoder: org/siam}]
shots: [0, 2]
"""


def test_grid_spans_all_combinations_in_a_fixed_order() -> None:
    grid = grid_of(yaml.safe_load(GRID))
    assert grid == Grid(
        llms=(
            LlmSpec(name="smollm2-135m", model="embedded:smollm2-135m"),
            LlmSpec(name="coder", model="models/coder.gguf", dtype="bfloat16"),
        ),
        retrievers=(
            RetrieverSpec(name="closed-book", kind="closed-book"),
            RetrieverSpec(name="bm25", kind="bm25"),
            RetrieverSpec(name="siam", kind="dense", encoder="org/siam"),
        ),
        shots=(0, 2),
    )
    ids = [pipeline.id for pipeline in grid.pipelines]
    assert ids[:3] == ["smollm2-135m+closed-book+icl0", "smollm2-135m+closed-book+icl2", "smollm2-135m+bm25+icl0"]
    assert len(set(ids)) == 12
    assert grid.pipelines[-1].facets == {"llm": "coder", "retriever": "siam", "icl": "2"}


def test_plain_prompts_are_part_of_what_answered_and_chat_leaves_it_as_it_was() -> None:
    def spec(**fields: object) -> LlmSpec:
        return grid_of({"llms": [{"model": "org/base", **fields}], "retrievers": ["bm25"]}).llms[0]

    assert spec(chat=False).identity == {**spec().identity, "chat": False}
    assert spec(chat=True) == spec()
    with pytest.raises(ValueError, match=r"llms\.0\.chat: 'no'; wanted true or false"):
        spec(chat="no")
    with pytest.raises(ValueError, match=r"models on this machine; wanted server: \{chat: false\} there"):
        spec(model="openai:m@http://localhost:1/v1", chat=False)


def test_models_are_named_after_their_last_part() -> None:
    assert short_name("org/Model-1B") == "Model-1B"
    assert short_name("/data/models/tiny.Q4.gguf") == "tiny.Q4"
    assert short_name("python:my.module:factory") == "factory"
    assert Pipeline(short_name("embedded:gemma3-270m"), "oracle", 1).id == "gemma3-270m+oracle+icl1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("llms: [a]\nretrievers: [bm52]", r"retrievers\.0\.kind: 'bm52'; wanted one of closed-book"),
        ("llms: []\nretrievers: [bm25]", r"llms: no entry; wanted a list with at least one"),
        ("retrievers: [bm25]", "llms: no entry; wanted a list with at least one"),
        ("llms: [a, b/a]\nretrievers: [bm25]", "llms: name 'a' stands twice"),
        ("llms: [{name: a}]\nretrievers: [bm25]", r"no setting 'llms\.0\.model'"),
        ("llms: [{model: a, gpu: 1}]\nretrievers: [bm25]", r"unknown setting 'llms\.0\.gpu'; wanted model, name, "),
        ("llms: [{model: 3}]\nretrievers: [bm25]", r"llms\.0\.model: 3; wanted text"),
        ("llms: [7]\nretrievers: [bm25]", r"llms\.0: 7; wanted a name or a mapping"),
        ("llms: [{name: a+b, model: a}]\nretrievers: [bm25]", r"name: 'a\+b'; wanted text without"),
        ("llms: [a]\nretrievers: [bm25]\nshots: [0, -1]", r"shots: \[0, -1\]; wanted whole numbers"),
        ("llms: [a]\nretrievers: [bm25]\nshots: [0, 0]", r"shots: \[0, 0\]; wanted distinct"),
        ("llms: [a]\nretrievers: [bm25]\nshot: 1", r"unknown setting 'shot'; did you mean shots\?"),
        ("- a", "list; wanted a mapping"),
    ],
)
def test_mistakes_name_source_and_key(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        grid_of(yaml.safe_load(text), "my/grid.yaml")
    assert str(caught.value).startswith("my/grid.yaml: ")
    assert "\n" not in str(caught.value)


def test_mapping_in_memory_names_its_source() -> None:
    with pytest.raises(ValueError, match=r"^config\.yaml: pipelines: unknown setting"):
        grid_of({"models": []}, "config.yaml: pipelines")


def test_a_served_model_goes_by_its_name_and_is_stored_without_how_it_is_asked() -> None:
    entry = {"model": "openai:org/qwen@http://h:1/v1", "server": {"concurrency": 3, "price_per_million": {"prompt": 1}}}
    (llm,) = grid_of({"llms": [entry], "retrievers": ["oracle"]}).llms
    assert llm.name == "qwen"
    assert llm.server is not None
    assert (llm.server.concurrency, llm.server.price_per_million.prompt) == (3, 1)
    assert llm.identity == {"name": "qwen", "model": entry["model"], "dtype": "auto", "device": "auto"}


def test_a_wrong_option_of_a_server_is_placed_in_the_grid() -> None:
    entry = {"model": "openai:qwen", "server": {"concurency": 3}}
    with pytest.raises(
        ValueError, match=r"grid: unknown setting 'llms\.0\.server\.concurency'; did you mean llms\.server\.con"
    ):
        grid_of({"llms": [entry], "retrievers": ["oracle"]})


def test_retrievers_take_presets_parts_functions_and_addresses() -> None:
    entries = [
        "tfidf",
        "siam",
        "python:my.module:search",
        "http://localhost:8000/search",
        {"name": "deep", "kind": "bm25", "reranker": "org/ranker", "depth": 100},
        {"name": "mine", "kind": "https://h/s", "server": {"timeout": 5, "api_key_env": "MINE"}},
        {"name": "pair", "kind": "dense", "encoder": "org/passages", "query_encoder": "org/questions"},
    ]
    found = grid_of({"llms": ["a"], "retrievers": entries}).retrievers
    assert [one.name for one in found] == ["tfidf", "siam", "search", "localhost:8000", "deep", "mine", "pair"]
    assert (found[4].reranker, found[4].depth) == ("org/ranker", 100)
    assert found[5].server == ServerOptions(timeout=5, api_key_env="MINE")
    assert found[6].encoders == ["org/passages", "org/questions"]
    assert found[0].encoders == found[2].encoders == []


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"kind": "bm25", "depth": 20}, "retriever 'bm25': depth 20; wanted one of at least 1, on a hybrid or with"),
        ({"kind": "hybrid", "depth": "20"}, "depth: '20'; wanted a whole number from 1"),
        ({"kind": "hybrid", "depth": True}, "depth: True; wanted a whole number from 1"),
        ({"kind": "oracle", "reranker": "org/ranker"}, "retriever 'oracle': has nothing to re-rank"),
        ({"kind": "lsa", "query_encoder": "org/q"}, "retriever 'lsa': has no encoder"),
        ({"kind": "bm25", "server": {"timeout": 5}}, "retriever 'bm25': is on no server"),
        ({"kind": "http://h/s", "server": {"timeout": 0}}, r"server\.timeout is 0"),
        ({"kind": "http://me:pass@h/s", "name": "x"}, "holds more than http://host:port/path"),
    ],
)
def test_parts_that_do_not_fit_a_retriever_are_placed_in_the_grid(entry: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=rf"^grid: retrievers\.0[.:].*{message}"):
        grid_of({"llms": ["a"], "retrievers": [entry]})


def test_a_retriever_is_stored_as_before_and_a_preset_with_what_it_stands_for() -> None:
    entries = ["bm25", {"kind": "dense", "encoder": "org/e"}, "dprv2", {"kind": "http://h/s", "server": {"retries": 1}}]
    stored = [one.identity for one in grid_of({"llms": ["a"], "retrievers": entries}).retrievers]
    assert stored[0] == {"name": "bm25", "kind": "bm25", "encoder": "", "reranker": ""}
    assert stored[1] == {"name": "dense", "kind": "dense", "encoder": "org/e", "reranker": ""}
    assert stored[2] == {
        "name": "dprv2",
        "kind": "dprv2",
        "encoder": "sentence-transformers/multi-qa-MiniLM-L6-cos-v1",
        "reranker": "cross-encoder/ms-marco-MiniLM-L-6-v2",
    }
    assert stored[3] == {"name": "h", "kind": "http://h/s", "encoder": "", "reranker": ""}


def test_passages_and_budgets_are_crossed_where_they_are_given_and_leave_ids_alone_elsewhere() -> None:
    given = {"llms": ["a"], "retrievers": ["closed-book", "bm25"], "shots": [0, 1]}
    plain = grid_of(given).pipelines
    assert [one.id for one in plain] == ["a+closed-book+icl0", "a+closed-book+icl1", "a+bm25+icl0", "a+bm25+icl1"]
    assert plain[2].facets == {"llm": "a", "retriever": "bm25", "icl": "0"}
    crossed = grid_of({**given, "shots": [0], "passages": [1, 3], "budget": [500, 2000]}).pipelines
    # Closed book reads nothing whatever the numbers are: it stands once.
    assert [one.id for one in crossed] == [
        "a+closed-book+icl0+k1+b500",
        *(f"a+bm25+icl0+k{k}+b{budget}" for k in (1, 3) for budget in (500, 2000)),
    ]
    assert crossed[-1].facets == {"llm": "a", "retriever": "bm25", "icl": "0", "passages": "3", "budget": "2000"}
    assert crossed[-1].reading == "bm25-k3-b2000"


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        ({"passages": [0, 1]}, r"passages: \[0, 1\]; wanted whole numbers from 1"),
        ({"budget": [10, 10]}, r"budget: \[10, 10\]; wanted distinct numbers"),
    ],
)
def test_impossible_factors_are_refused(factor: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^grid: {message}"):
        grid_of({"llms": ["a"], "retrievers": ["bm25"], **factor})
