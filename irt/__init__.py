"""Item response theory for any table of right and wrong answers, usable on its own."""

from irt.design import connected_students
from irt.estimation import fit
from irt.judging import Gain
from irt.model import Priors
from irt.reading import read_responses, write_responses
from irt.responses import ResponseMatrix, constant_facets, facet_names, levels
from irt.result import Estimate, Fit, Information
from irt.selection import Drop, Pruned, prune
from irt.simulation import Simulation, Truth, simulate
from irt.storage import load_fit

__all__ = [
    "Drop",
    "Estimate",
    "Fit",
    "Gain",
    "Information",
    "Priors",
    "Pruned",
    "ResponseMatrix",
    "Simulation",
    "Truth",
    "connected_students",
    "constant_facets",
    "facet_names",
    "fit",
    "levels",
    "load_fit",
    "prune",
    "read_responses",
    "simulate",
    "write_responses",
]
