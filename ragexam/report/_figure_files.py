"""Figures: a table, its CSV, PDF and PNG in `figures/`, and an SVG that follows the page's colours."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markupsafe import Markup, escape
from matplotlib.axes import Axes

from irt import plots


@dataclass(frozen=True)
class Picture:
    """A drawn figure: its files are `figures/NAME.csv`, `.pdf` and `.png`; `svg` stands in the page."""

    name: str
    title: str
    caption: str
    svg: Markup


def picture(
    folder: Path,
    name: str,
    title: str,
    caption: str,
    table: pd.DataFrame,
    draw: Callable[[Axes, pd.DataFrame], None],
    height: float = 2.9,
    *,
    tips: Mapping[str, str] | None = None,
) -> Picture:
    """Write the table and draw it: `folder/name.csv`, `.pdf`, `.png`, and inline SVG.

    `tips` are texts shown where the pointer rests on the parts that were drawn with these group ids.
    """
    folder.mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
    with plots.canvas(height) as (figure, ax):
        draw(ax, table)
        plots.save(figure, folder / name)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return Picture(name, title, caption, inline_svg(text.getvalue(), name, f"{title}. {caption}", tips or {}))


def inline_svg(svg: str, name: str, description: str, tips: Mapping[str, str]) -> Markup:
    """An SVG drawing ready to stand in HTML.

    Its ink becomes `currentColor`, so that it follows light and dark pages; its ids get the figure's name, so that
    two figures do not share one; a screen reader hears the description.
    """
    body = svg[svg.index("<svg") :]
    head, rest = body.split(">", 1)
    rest = re.sub(r"<metadata>.*?</metadata>", "", rest, flags=re.DOTALL)
    # A style element would reach the whole page; the page's own style sets what it said.
    rest = re.sub(r"<style.*?</style>", "", rest, flags=re.DOTALL)
    rest = re.sub(rf"{plots.INK}\b", "currentColor", rest, flags=re.IGNORECASE)
    for group, tip in tips.items():
        rest = rest.replace(f'<g id="{group}">', f'<g id="{group}"><title>{escape(tip)}</title>')
    rest = re.sub(r'\bid="', f'id="{name}-', rest)
    rest = re.sub(r"url\(#", f"url(#{name}-", rest)
    rest = re.sub(r'(xlink:)?href="#', lambda found: f'{found[1] or ""}href="#{name}-', rest)
    box = re.search(r'viewBox="([^"]*)"', head)
    view = box[1] if box else "0 0 353 209"
    label = str(escape(" ".join(description.split())))
    # matplotlib escapes text itself: what it wrote is markup of known elements and stands as it is.
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{view}" '
        f'role="img" aria-label="{label}">{rest.strip()}'
    )
