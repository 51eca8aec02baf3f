"""Factorial abilities on published response matrices: LLM x prompting on MATH-500, LLM x scaffold on Terminal-Bench.

    python experiments/component_effects/fit.py math500 accuracy_math500.csv
    python experiments/component_effects/fit.py terminal-bench terminalbench.binomial_trials.csv

`accuracy_math500.csv` comes from github.com/Toby-X/Latency-Response-Theory-Model, the Terminal-Bench file from
github.com/dariakryvosheieva/agent-psychometrics (arXiv 2604.00594). Prints contrasts with intervals; a part of the
table that nothing connects to the rest is refused by name, and the largest connected part is fitted.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

import irt

FAMILIES = "claude|gemini|glm|gpt|grok|kimi|minimax|qwen"
AGENT = (
    r"^(?P<scaffold>[^,]+?)_(?:[^,]*/)?"
    rf"(?P<llm>(?:{FAMILIES})[^,]*?)"
    r"(?:-\d{8}|-preview)?_at_[^,]+$"
)


def math500(scores: Path) -> irt.ResponseMatrix:
    """79 LLMs, each without and with one example, 500 items."""
    table = pd.read_csv(scores, index_col=0)
    names = [str(name) for name in table.index]
    shots = ["one shot" if name.endswith("_one_shot") else "zero shot" for name in names]
    llms = [name.removesuffix("_one_shot").removesuffix("_zero_shot") for name in names]
    facets = pd.DataFrame({"llm": llms, "shots": shots}, index=names)
    return irt.ResponseMatrix(table.to_numpy(float), tuple(names), tuple(map(str, table.columns)), facets=facets)


def terminal_bench(trials: Path) -> irt.ResponseMatrix:
    """Agents of one LLM and one scaffold, named `scaffold_[owner/]llm_at_provider`; successes of trials per task."""
    counts = pd.read_csv(trials)
    parts = counts["agent"].str.extract(AGENT)
    counts = counts.assign(llm=parts["llm"], scaffold=parts["scaffold"]).dropna(subset=["llm"])
    counts["student"] = counts["scaffold"] + " + " + counts["llm"]
    scores, asked = (
        counts.pivot_table(index="student", columns="item", values=name, aggfunc="sum")
        for name in ("successes", "trials")
    )
    facets = counts.drop_duplicates("student").set_index("student").loc[scores.index, ["llm", "scaffold"]]
    return irt.ResponseMatrix(
        scores.to_numpy(float), tuple(scores.index), tuple(scores.columns), asked.to_numpy(float), facets
    )


def largest_part(data: irt.ResponseMatrix, facets: list[str]) -> irt.ResponseMatrix:
    """The largest set of students whose levels can be compared, without facets that are left with one level."""
    parts = irt.connected_students(data, facets)
    print(f"{len(parts)} connected parts: {', '.join(str(len(part)) for part in parts)} students")
    return data.select_students(parts[0])


def tell(fit: irt.Fit, most: int) -> None:
    """Print what the components are worth."""
    print(f"{fit.model} by {fit.method}, converged: {fit.converged}; reliability {fit.reliability:.3f}")
    for sentence in fit.warnings:
        print(f"  {sentence}")
    if fit.residual_scale is not None:
        one = fit.residual_scale
        print(f"residual beyond the sum of the facets: {one.estimate:.3f} [{one.low:.3f}, {one.high:.3f}]")
    for facet, rows in fit.components.groupby("facet", sort=False):
        print(rows.sort_values("effect", ascending=False).head(most).round(3).to_string(index=False))
        best = fit.probability_best(str(facet)).head(2)
        first, second = best["level"]
        gap = fit.contrast(str(facet), first, second)
        print(f"{facet}: {first} minus {second}: {gap.estimate:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]\n")


def main() -> None:
    """Fit one of the two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=["math500", "terminal-bench"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--method", default="nuts")
    parser.add_argument("--model", default="2pl")
    parser.add_argument("--most", type=int, default=8, help="levels shown per facet")
    given = parser.parse_args()
    facets = ["llm", "shots"] if given.table == "math500" else ["llm", "scaffold"]
    data = (math500 if given.table == "math500" else terminal_bench)(given.file)
    print(f"{len(data.students)} students, {len(data.items)} items")
    try:
        fit = irt.fit(data, given.model, given.method, facets)
    except ValueError as refusal:
        print(f"refused: {refusal}")
        fit = irt.fit(largest_part(data, facets), given.model, given.method, facets)
    tell(fit, given.most)


if __name__ == "__main__":
    main()
