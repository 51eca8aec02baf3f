"""Whether a fit can be believed: mixing of chains, predictive accuracy, fit of items, persons and the model."""
