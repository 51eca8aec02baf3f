"""Item response theory for any table of right and wrong answers, usable on its own."""

from irt.adaptive import AdaptiveExam, Rules, administer, begin, replay
from irt.comparison import Comparison, compare
from irt.design import connected_students
from irt.estimation import fit
from irt.fit_settings import FitSettings
from irt.graded import GradedParameters
from irt.joining import join
from irt.linking import Link, link
from irt.model import Priors
from irt.power import Power, detectable_gap, power
from irt.reading import read_responses, write_responses
from irt.responses import ResponseMatrix, constant_facets, facet_names, levels
from irt.result import Estimate, Fit, Information
from irt.scoring import Scores, score
from irt.selecting.judging import Gain, RandomPruning
from irt.selecting.ranking import Agreement
from irt.selecting.selection import Drop, Pruned, Round, prune
from irt.simulation import (
    GradedSimulation,
    GradedTruth,
    RatingSimulationSettings,
    Simulation,
    SimulationSettings,
    Truth,
    simulate,
    simulate_graded,
)
from irt.storage import load_fit

__all__ = [
    "AdaptiveExam",
    "Agreement",
    "Comparison",
    "Drop",
    "Estimate",
    "Fit",
    "FitSettings",
    "Gain",
    "GradedParameters",
    "GradedSimulation",
    "GradedTruth",
    "Information",
    "Link",
    "Power",
    "Priors",
    "Pruned",
    "RandomPruning",
    "RatingSimulationSettings",
    "ResponseMatrix",
    "Round",
    "Rules",
    "Scores",
    "Simulation",
    "SimulationSettings",
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
    "simulate_graded",
    "write_responses",
]
