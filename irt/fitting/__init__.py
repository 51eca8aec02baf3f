"""How a model is fitted: the posterior mode and its curvature, sampling, marginal likelihood.

`irt.fit` is for those who measure. Here is what a method of estimation is made of, for those who write, time or
calibrate one: the problem it is given, the priors, the passes over the answers, samplers, and the climb of `mml`.
"""

from irt import _prior_densities as prior_densities
from irt._design import Design, build_design
from irt._model import ItemModel, Problem, RawDraws, build_problem, guessing_centre, report_scale
from irt._packed_answers import PackedAnswers, counted
from irt.fitting import _likelihood_passes as likelihood_passes
from irt.fitting import _nuts as nuts
from irt.fitting import _pymc_model as pymc_model
from irt.fitting._coordinates import SHARED, to_items
from irt.fitting._em import climb, compress
from irt.fitting._item_priors import penalty_of
from irt.fitting._marginal_maximum import constant, starting_point
from irt.fitting._sampling import gate

__all__ = [
    "SHARED",
    "Design",
    "ItemModel",
    "PackedAnswers",
    "Problem",
    "RawDraws",
    "build_design",
    "build_problem",
    "climb",
    "compress",
    "constant",
    "counted",
    "gate",
    "guessing_centre",
    "likelihood_passes",
    "nuts",
    "penalty_of",
    "prior_densities",
    "pymc_model",
    "report_scale",
    "starting_point",
    "to_items",
]
