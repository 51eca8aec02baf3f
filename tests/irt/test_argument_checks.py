"""What a caller gives is refused in one sentence that names it, what was found and what was wanted."""

from collections.abc import Callable
from typing import Any

import pytest

import irt

DATA = irt.simulate(None, 12, facets={"llm": 3, "icl": 4}, seed=1).data


@pytest.fixture(scope="module")
def fit() -> irt.Fit:
    return irt.fit(DATA, method="map", seed=0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"facets": 3}, "facets are 3; wanted a list of names"),
        ({"interactions": "llm:icl"}, "interactions are 'llm:icl'; wanted a list of tuples"),
        ({"interactions": ["llm:icl"]}, r"interactions are \['llm:icl'\]; wanted a list of tuples"),
        (
            {"interactions": [("llm", "icl"), ("icl", "llm")]},
            r"interaction \('icl', 'llm'\) is there twice",
        ),
        ({"covariates": "zz"}, "unknown facet 'zz'"),
        ({"seed": -1}, "seed is -1; wanted a whole number of at least 0"),
        ({"seed": 1.5}, "seed is 1.5; wanted a whole number"),
        ({"seed": None}, "seed is None; wanted a whole number"),
        ({"interval": 1.5}, "interval 1.5 is not a probability between 0 and 1"),
        ({"interval": "x"}, "interval 'x' is not a probability"),
        ({"options": "four"}, "options is 'four'; wanted finite numbers"),
        ({"priors": {"a": 1}}, "priors is a dict; wanted irt.Priors"),
        ({"chains": "x"}, "chains is 'x'; wanted a whole number of at least 1"),
        ({"draws": 0}, "draws is 0; wanted a whole number of at least 4"),
        ({"warmup": -1}, "warmup is -1; wanted a whole number of at least 0"),
        ({"target_accept": 1.5}, "target_accept 1.5 is not a probability"),
    ],
)
def test_what_a_fit_cannot_take_is_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        irt.fit(DATA, **({"method": "map"} | given))


CALLS: dict[str, tuple[Callable[[irt.Fit], object], str]] = {
    "prune seed": (lambda _: irt.prune(DATA, seed=-1), "seed is -1; wanted a whole number of at least 0"),
    "prune keep": (lambda _: irt.prune(DATA, keep="x"), "keep 'x' is not a share between 0 and 1"),  # type: ignore[arg-type]
    "prune interval": (lambda _: irt.prune(DATA, interval=0), "interval 0 is not a probability"),
    "prune fit": (lambda _: irt.prune(DATA, "fit"), "fit is a str; wanted a Fit"),  # type: ignore[arg-type]
    "begin": (lambda _: irt.begin(None), "fit is a NoneType; wanted a Fit"),  # type: ignore[arg-type]
    "link": (lambda fit: irt.link(fit, "b"), "fit is a str; wanted a Fit"),  # type: ignore[arg-type]
    "compare": (lambda _: irt.compare("f", "a", "b"), "fit is a str; wanted a Fit"),  # type: ignore[arg-type]
    "score": (lambda _: irt.score(None, DATA), "fit is a NoneType; wanted a Fit"),  # type: ignore[arg-type]
    "rules seed": (lambda _: irt.Rules(seed=-1), "seed is -1; wanted a whole number"),
    "rules se": (lambda _: irt.Rules(se="x"), "se is 'x'; wanted a number"),  # type: ignore[arg-type]
    "rules length": (lambda _: irt.Rules(shortest=5, longest=2), "shortest: found 5; wanted at most longest, 2"),
    "answer": (lambda fit: irt.begin(fit).record("q0", "x"), "item 'q0': score is 'x'; wanted a number"),  # type: ignore[arg-type]
    "gap": (lambda fit: irt.power(fit, "x"), "gap is 'x'; wanted a number"),  # type: ignore[arg-type]
    "power seed": (lambda fit: irt.power(fit, 0.5, seed=-1), "seed is -1; wanted a whole number"),
    "questions": (lambda fit: irt.detectable_gap(fit, 2.5), "questions is 2.5; wanted a whole number of"),  # type: ignore[arg-type]
    "information": (lambda fit: fit.information([float("nan")]), r"theta is \[nan\]; wanted finite numbers"),
    "no abilities": (lambda fit: fit.information([]), r"theta is \[\]; wanted finite numbers"),
    "no groups": (lambda fit: fit.information_by({}, [0]), "groups are empty"),
    "labels": (lambda _: irt.join(DATA, DATA, labels=("a",)), "labels are .*; wanted two different names"),  # type: ignore[arg-type]
    "same labels": (lambda _: irt.join(DATA, DATA, labels=("a", "a")), "labels are .*; wanted two different names"),
    "no facets": (lambda _: irt.connected_students(DATA, []), "no facets were given"),
    "simulate": (lambda _: irt.simulate(5, 5, seed=-1), "seed is -1; wanted a whole number"),
}


@pytest.mark.parametrize("call", list(CALLS))
def test_what_a_call_cannot_take_is_named(call: str, fit: irt.Fit) -> None:
    ask, message = CALLS[call]
    with pytest.raises(ValueError, match=message) as refused:
        ask(fit)
    assert "\n" not in str(refused.value)
