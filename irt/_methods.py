"""Which methods and backends fit which models."""

from __future__ import annotations

from collections.abc import Mapping

from irt._model import MODELS, RATINGS

BACKENDS: Mapping[str, tuple[str, ...]] = {
    "nuts": ("numpyro", "pymc"),
    "map": ("numpy",),
    "laplace": ("numpy",),
    "mml": ("numpy",),
    "svi": ("jax",),  # numpyro on jax
}
"""Backends of each method for right and wrong answers, the default first."""
RATING_BACKENDS: Mapping[str, tuple[str, ...]] = {"nuts": ("numpyro",), "mml": ("numpy",)}
METHODS = tuple(BACKENDS)


def require_known(model: str, method: str, backend: str | None) -> str:
    """The backend to fit with, by default the method's first; ValueError for what does not exist or go together."""
    if model not in (*MODELS, "auto", RATINGS):
        raise ValueError(f"unknown model '{model}'; wanted {', '.join(MODELS)} or auto ({RATINGS} for ratings)")
    if method not in METHODS:
        raise ValueError(f"unknown method '{method}'; wanted {', '.join(METHODS[:-1])} or {METHODS[-1]}")
    backends = RATING_BACKENDS if model == RATINGS else BACKENDS
    if method not in backends:
        raise ValueError(f"model '{model}' has no method '{method}'; wanted {' or '.join(backends)}")
    backend = backends[method][0] if backend is None else backend
    if backend not in backends[method]:
        wanted = " or ".join(backends[method])
        raise ValueError(f"model '{model}' by '{method}' has no backend '{backend}'; wanted {wanted}")
    return backend
