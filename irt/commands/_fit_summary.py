"""A fit as its command shows it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from irt._printing import first_rows, where_whole
from irt._result import Fit


@dataclass(frozen=True)
class FitSummary:
    """The content of `fit.json`, and for a reader the quality of a fit and the table that matters most."""

    fit: Fit

    def record(self) -> dict[str, Any]:
        """The content of `fit.json`."""
        return self.fit.record()

    def lines(self, out: Path | None = None, /) -> list[str]:
        """The summary for a reader; `out` is the folder that received the fit."""
        fit = self.fit
        lines = [self._quality()]
        for term in fit.design.terms:
            top = fit.probability_best(term.name).iloc[0]
            combined = "combination " if len(term.facets) > 1 else ""
            lines.append(f"best {combined}{term.name}: {top['level']} (probability {top['probability']:.2f})")
        if left := fit.residual_scale:
            lines.append(
                f"left over by the components: sd {left.estimate:.2f} [{left.low:.2f}, {left.high:.2f}] of abilities"
            )
        tables = ["items"] if "bic" in fit.diagnostics else []
        return lines + [self._table(name, out) for name in (*tables, "components" if fit.design.terms else "abilities")]

    def _quality(self) -> str:
        fit = self.fit
        kind = "marginal" if fit.method == "mml" else "joint"
        line = (
            f"{fit.model} by {fit.method}: {'converged' if fit.converged else 'NOT CONVERGED'}; "
            f"reliability {fit.reliability:.3f}; {kind} log-likelihood {fit.log_likelihood:.3f}"
        )
        if "bic" in fit.diagnostics:
            line += f", AIC {fit.diagnostics['aic']:.1f}, BIC {fit.diagnostics['bic']:.1f}"
            held = int(fit.diagnostics.get("items_held_by_priors", 0))
            if held:
                line += f" (not at their best: priors hold {held} item{'s' if held > 1 else ''})"
        return line

    def _table(self, name: str, out: Path | None) -> str:
        return first_rows(getattr(self.fit, name), where_whole(out, f"{name}.csv", "--out DIR keeps all"))
