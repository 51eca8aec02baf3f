"""How a model is fitted: the posterior mode and its curvature, sampling, marginal likelihood."""
