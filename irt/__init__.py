"""Item response theory for any table of right and wrong answers, usable on its own."""

from irt import checks, curves
from irt._adaptive import AdaptiveExam, ExamResult, ReplayedExam, Rules, administer, begin, replay
from irt._comparison import AbilityComparison, compare
from irt._d_study import DStudy
from irt._design import connected_students
from irt._estimation import fit
from irt._fit_settings import FitSettings
from irt._graded import GradedParameters
from irt._held_out import HeldOutComparison, HeldOutScore, compare_models, held_out_score
from irt._joining import join
from irt._linking import Link, link
from irt._model import Priors
from irt._power import DetectableGap, OutOfReachError, Power, detectable_gap, power
from irt._reading import read_responses, write_responses
from irt._responses import Floats, ResponseMatrix, constant_facets, facet_names, levels, without_constant_facets
from irt._result import Estimate, Fit, Information
from irt._scoring import Scores, score
from irt._simulation import (
    GradedSimulation,
    GradedTruth,
    RatingSimulationSettings,
    Simulation,
    SimulationSettings,
    Truth,
    simulate,
    simulate_graded,
)
from irt._storage import load_fit
from irt._variance_components import VarianceComponents
from irt.fitting._likelihood_passes import mean_probability
from irt.selecting._heldout_evaluation import InformationGain, RandomPruning, RankAgreement
from irt.selecting._item_worth import Drop
from irt.selecting._prune_result import Pruned, Round
from irt.selecting._prune_settings import PruneSettings
from irt.selecting._selection import FEWEST_STUDENTS_TO_PRUNE, prune

__all__ = [
    "FEWEST_STUDENTS_TO_PRUNE",
    "AbilityComparison",
    "AdaptiveExam",
    "DStudy",
    "DetectableGap",
    "Drop",
    "Estimate",
    "ExamResult",
    "Fit",
    "FitSettings",
    "Floats",
    "GradedParameters",
    "GradedSimulation",
    "GradedTruth",
    "HeldOutComparison",
    "HeldOutScore",
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
    "VarianceComponents",
    "administer",
    "begin",
    "checks",
    "compare",
    "compare_models",
    "connected_students",
    "constant_facets",
    "curves",
    "detectable_gap",
    "facet_names",
    "fit",
    "held_out_score",
    "join",
    "levels",
    "link",
    "load_fit",
    "mean_probability",
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
