"""What the verdict depends on: how leads change with what is known of the questions, and whose mix it is read at."""

from __future__ import annotations

from typing import Any

from examcore.page import chance, joined, percent, plain_number
from irt import Fit
from irt.plots import records
from ragexam.report._component_names import facet_name, level_name
from ragexam.report._fitted_model import FittedModel
from ragexam.report._page_parts import PageSection, PageTable, column_heads, effect_cells, number_cell, table_row
from ragexam.report._response_scores import bound_of


def dependence_section(model: FittedModel | None) -> PageSection:
    """How leads of choosable levels change with item covariates; empty for a fit without them."""
    if model is None or model.fit.design.item_covariates is None:
        return PageSection()
    rows = _leads(model)
    apart = sum(float(row["low"]) > 0 or float(row["high"]) < 0 for row in rows)
    counted_up = f"Of {len(rows)} effects, {apart} have an interval without zero; by chance alone a tenth would."
    return PageSection([mix_sentence(model), _explained(model.fit), counted_up], tables=(_slopes(model, rows),))


def mix_sentence(model: FittedModel) -> str:
    """Whose questions the verdict holds for; empty for a fit without item covariates."""
    known = model.fit.design.item_covariates
    if known is None:
        return ""
    own = dict(zip(known.names, known.centre.tolist(), strict=True))
    if model.beyond:
        return (
            "The verdict holds for questions like the exam's: those of your users lie beyond them, where nothing was "
            f"seen ({model.beyond})."
        )
    if model.mix:
        named = [
            f"{name} {plain_number(mean)} (the exam {plain_number(own[name])})" for name, mean in model.mix.items()
        ]
        return (
            "The verdict, and what a change would gain, are read at the mean of your users' questions: "
            f"{joined(named)}. All else on this page is about the exam's questions."
        )
    named = [f"{name} {plain_number(mean)}" for name, mean in own.items()]
    return f"The verdict is read at the mean of the exam's questions: {joined(named)}."


def _explained(fit: Fit) -> str:
    """How much of what makes answers differ covariates explain."""
    known = fit.design.item_covariates
    assert known is not None
    found = [(_explained_part(name), share) for name, share in fit.explained_shares()]
    parts = [f"{percent(one.estimate)} ({percent(one.low)} to {percent(one.high)}) {part}" for part, one in found]
    verb = "explain" if len(known.names) > 1 else "explains"
    return f"What {joined(known.names)} {verb}, with 90\u00a0% intervals: {joined(parts)}."


def _explained_part(name: str) -> str:
    if name == "item":
        return "of which questions are hard"
    return f"of which {facet_name(name)} suits which question"


def _leads(model: FittedModel) -> list[dict[Any, Any]]:
    """What covariates do to all answers and to leads of choosable levels, the clearest first."""
    shown = _names(model)
    found = [row for row in records(model.fit.covariate_effects()) if _choosable(row, shown)]
    return sorted(found, key=lambda row: -abs(float(row["effect"])) / float(row["sd"]))


def _names(model: FittedModel) -> dict[str, dict[str, str]]:
    """What the page calls the levels of each facet."""
    levels = {one.facet: model.fit.design.term(one.facet).levels for one in model.draws}
    return {one.facet: dict(zip(levels[one.facet], one.levels, strict=True)) for one in model.draws}


def _slopes(model: FittedModel, found: list[dict[Any, Any]]) -> PageTable:
    shown = _names(model)
    rows = tuple(
        table_row(
            row["covariate"] if "=" in row["covariate"] else f"{row['covariate']} {row['per']:g} higher",
            "all answers" if not row["level"] else facet_name(row["facet"]),
            _lead(row, shown),
            *effect_cells(row),
            number_cell(chance(row["probability"], short=True), row["probability"]),
        )
        for row in found
    )
    caption = (
        "What a difference between questions adds to ability or to a lead, with 90\u00a0% intervals, the clearest first"
    )
    heads = column_heads("questions with", "component", "lead", "#effect", "#90\u00a0% interval", "#above zero")
    return PageTable(caption, heads, rows, sortable=True)


def _choosable(row: dict[Any, Any], shown: dict[str, dict[str, str]]) -> bool:
    return not row["level"] or not any(bound_of(shown[row["facet"]][row[end]]) for end in ("level", "other"))


def _lead(row: dict[Any, Any], shown: dict[str, dict[str, str]]) -> str:
    if not row["level"]:
        return "\u2013"
    first, second = (level_name(row["facet"], shown[row["facet"]][row[end]]) for end in ("level", "other"))
    return f"{first} minus {second}"
