"""Item response theory for any table of right and wrong answers, usable on its own."""

from irt.adaptive import AdaptiveExam, Rules, administer, begin, replay
from irt.comparison import Comparison, compare
from irt.design import connected_students
from irt.estimation import fit
from irt.judging import Gain
from irt.linking import Link, join, link
from irt.model import Priors
from irt.power import Power, detectable_gap, power
from irt.reading import read_responses, write_responses
from irt.responses import ResponseMatrix, constant_facets, facet_names, levels
from irt.result import Estimate, Fit, Information
from irt.scoring import Scores, score
from irt.selection import Drop, Pruned, prune
from irt.simulation import Simulation, Truth, simulate
from irt.storage import load_fit

__all__ = [
    "AdaptiveExam",
    "Comparison",
    "Drop",
    "Estimate",
    "Fit",
    "Gain",
    "Information",
    "Link",
    "Power",
    "Priors",
    "Pruned",
    "ResponseMatrix",
    "Rules",
    "Scores",
    "Simulation",
    "Truth",
    "administer",
    "begin",
    "compare",
    "connected_students",
    "constant_facets",
    "detectable_gap",
    "facet_names",
    "fit",
    "join",
    "levels",
    "link",
    "load_fit",
    "power",
    "prune",
    "read_responses",
    "replay",
    "score",
    "simulate",
    "write_responses",
]
