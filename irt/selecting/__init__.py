"""Which items to keep: criteria, balance, the walk to a shorter exam, and its worth to students who took no part."""
