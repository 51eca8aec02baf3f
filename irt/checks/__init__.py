"""Whether a fit can be believed: mixing of chains, predictive accuracy, fit of items, persons and the model."""

from irt.checks._convergence import mixing
from irt.checks._copies import Duplicates, duplicates
from irt.checks._differential import DifferentialItems, dif
from irt.checks._distractors import distractors
from irt.checks._findings import CheckReport, report
from irt.checks._inputs import sentences
from irt.checks._item_fit import s_x2
from irt.checks._item_pairs import Dependence, dependence
from irt.checks._keys import miskeys
from irt.checks._overall import OverallFit, m2
from irt.checks._person_fit import student_fit
from irt.checks._residual_fit import item_residuals
from irt.checks._sensitivity import prior_sensitivity

__all__ = [
    "CheckReport",
    "Dependence",
    "DifferentialItems",
    "Duplicates",
    "OverallFit",
    "dependence",
    "dif",
    "distractors",
    "duplicates",
    "item_residuals",
    "m2",
    "miskeys",
    "mixing",
    "prior_sensitivity",
    "report",
    "s_x2",
    "sentences",
    "student_fit",
]
