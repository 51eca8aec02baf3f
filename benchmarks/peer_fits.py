"""One fit by a peer, in the interpreter that has it: `python peer_fits.py TOOL MODEL ANSWERS.npz RESULT.npz [STEPS]`.

TOOL is `girth` (marginal maximum likelihood, EAP), `py-irt` (its variational trainer as it comes, hierarchical priors,
STEPS epochs), or `py-irt-nuts` (Pyro's sampler on py-irt's own model with the settings of its `fit_MCMC`, which does
not hand its draws back; STEPS draws). Only numpy and the peer are needed; `benchmarks/peers.py` calls it.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np


class Clock:
    """Wall and processor seconds of estimation, without imports and reading."""

    def __init__(self) -> None:
        self.begin = time.perf_counter(), time.process_time()

    def read(self) -> dict[str, float]:
        return {"seconds": time.perf_counter() - self.begin[0], "processor": time.process_time() - self.begin[1]}


def girth(scores: Any, model: str, steps: int) -> dict[str, Any]:
    import girth as package

    del steps
    right = scores.T.astype(int)
    clock = Clock()
    found = {"1pl": package.onepl_mml, "2pl": package.twopl_mml, "3pl": package.threepl_mml}[model](right)
    b = found["Difficulty"]
    a = np.broadcast_to(found["Discrimination"], b.shape)
    c = found.get("Guessing", np.zeros_like(b))
    theta = package.ability_3pl_eap(right, b, a, c) if model == "3pl" else package.ability_eap(right, b, a)
    return {**clock.read(), "a": a, "b": b, "theta": theta}


def trainer(scores: Any, model: str, steps: int) -> Any:
    """py-irt's trainer on a table, read from its own file format."""
    from py_irt.config import IrtConfig
    from py_irt.dataset import Dataset
    from py_irt.training import IrtModelTrainer

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.jsonlines"
        lines = [
            json.dumps({"subject_id": str(s), "responses": {str(i): int(x) for i, x in enumerate(row) if x == x}})
            for s, row in enumerate(scores)
        ]
        path.write_text("\n".join(lines))
        dataset = Dataset.from_jsonlines(path)
    config = IrtConfig(model_type=model, priors="hierarchical", epochs=steps, seed=0)
    return IrtModelTrainer(config=config, data_path=None, dataset=dataset, verbose=False)


def py_irt(scores: Any, model: str, steps: int) -> dict[str, Any]:
    import pyro

    pyro.set_rng_seed(0)
    training = trainer(scores, model, steps)
    clock = Clock()
    training.train(device="cpu")
    seconds, slope = clock.read(), "disc" if model == "3pl" else "slope"
    store = {name: pyro.param(name).detach().numpy() for name in pyro.get_param_store()}
    return {
        **seconds,
        "a": np.exp(store[f"loc_{slope}"]),
        "b": store["loc_diff"],
        "theta": store["loc_ability"],
        "log_a_sd": store[f"scale_{slope}"],
        "b_sd": store["scale_diff"],
        "theta_sd": store["scale_ability"],
    }


def py_irt_nuts(scores: Any, model: str, steps: int) -> dict[str, Any]:
    import pyro
    import torch
    from pyro.infer.mcmc import MCMC, NUTS

    pyro.set_rng_seed(0)
    training = trainer(scores, model, 1)
    training.train(device="cpu")
    data = training._dataset
    given = (torch.tensor(data.observation_subjects), torch.tensor(data.observation_items))
    kernel = NUTS(training.irt_model.model_vague, adapt_step_size=True)
    sampler = MCMC(kernel, num_samples=steps, warmup_steps=100, disable_progbar=True)
    clock = Clock()
    sampler.run(*given, torch.tensor(data.observations))
    seconds = clock.read()
    draws = {name: values.numpy() for name, values in sampler.get_samples().items()}
    return {**seconds, **{name: draws[name] for name in ("a", "b", "theta")}}


def main() -> None:
    tool, model, given, result, *rest = sys.argv[1:]
    scores = np.load(given)["scores"]
    run = {"girth": girth, "py-irt": py_irt, "py-irt-nuts": py_irt_nuts}[tool]
    with redirect_stdout(io.StringIO()):
        found = run(scores, model, int(rest[0]) if rest else 2000)
    np.savez(result, **found)


if __name__ == "__main__":
    main()
