"""Which items to keep: criteria, balance, the walk to a shorter exam, and its worth to students who took no part."""

from irt.selecting._conditional_slopes import SHIFTS, conditional_slopes, group_shift
from irt.selecting._heldout_evaluation import population

__all__ = ["SHIFTS", "conditional_slopes", "group_shift", "population"]
