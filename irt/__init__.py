"""Item response theory for any table of right and wrong answers, usable on its own."""

from irt import checks, curves
from irt.adaptive import AdaptiveExam, ExamResult, ReplayedExam, Rules, administer, begin, replay
from irt.comparison import AbilityComparison, compare
from irt.design import connected_students
from irt.estimation import fit
from irt.fit_settings import FitSettings
from irt.graded import GradedParameters
from irt.joining import join
from irt.linking import Link, link
from irt.model import Priors
from irt.power import DetectableGap, OutOfReachError, Power, detectable_gap, power
from irt.reading import read_responses, write_responses
from irt.responses import ResponseMatrix, constant_facets, facet_names, levels, without_constant_facets
from irt.result import Estimate, Fit, Information
from irt.scoring import Scores, score
from irt.selecting.heldout_evaluation import InformationGain, RandomPruning
from irt.selecting.prune_result import Drop, Pruned, Round
from irt.selecting.prune_settings import PruneSettings
from irt.selecting.rank_agreement import RankAgreement
from irt.selecting.selection import prune
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
    "AbilityComparison",
    "AdaptiveExam",
    "DetectableGap",
    "Drop",
    "Estimate",
    "ExamResult",
    "Fit",
    "FitSettings",
    "GradedParameters",
    "GradedSimulation",
    "GradedTruth",
    "Information",
    "InformationGain",
    "Link",
    "OutOfReachError",
    "Power",
    "Priors",
    "PruneSettings",
    "Pruned",
    "RandomPruning",
    "RankAgreement",
    "RatingSimulationSettings",
    "ReplayedExam",
    "ResponseMatrix",
    "Round",
    "Rules",
    "Scores",
    "Simulation",
    "SimulationSettings",
    "Truth",
    "administer",
    "begin",
    "checks",
    "compare",
    "connected_students",
    "constant_facets",
    "curves",
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
    "without_constant_facets",
    "write_responses",
]
