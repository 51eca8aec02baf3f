"""Whether a fit can be believed: mixing of chains, predictive accuracy, fit of items, persons and the model."""

from irt.checks.copies import Duplicates, duplicates
from irt.checks.differential import DifferentialItems, dif
from irt.checks.findings import CheckReport, report
from irt.checks.inputs import sentences
from irt.checks.item_fit import s_x2
from irt.checks.item_pairs import Dependence, dependence
from irt.checks.keys import miskeys
from irt.checks.overall import OverallFit, m2
from irt.checks.person_fit import student_fit
from irt.checks.residual_fit import item_residuals
from irt.checks.sensitivity import prior_sensitivity

__all__ = [
    "CheckReport",
    "Dependence",
    "DifferentialItems",
    "Duplicates",
    "OverallFit",
    "dependence",
    "dif",
    "duplicates",
    "item_residuals",
    "m2",
    "miskeys",
    "prior_sensitivity",
    "report",
    "s_x2",
    "sentences",
    "student_fit",
]
