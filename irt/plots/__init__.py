"""Pictures of a fit, each drawn on a given `ax`, which it returns, from a plain table.

Colours are Okabe and Ito's, told apart by colour-blind readers; curves differ by dashes as well. Text is never read
as mathematics, so that a `$` in a name stays one. Intervals are drawn as given. The tables come from `irt.curves`.
"""

from irt.plots._exams import (
    component_forest,
    exam_information,
    exam_precision,
    forest_height,
    group_places,
    grouped_information,
    heat_map,
    predicted_students,
    pruning_gain,
    pruning_rounds,
    score_distribution,
    students_height,
)
from irt.plots._fonts import is_drawable, marked_names
from irt.plots._items import calibration, item_curve, item_information, item_misfit, person_item_map
from irt.plots._style import (
    COLOURS,
    DASHES,
    FAINT,
    INK,
    STYLE,
    WIDTH,
    canvas,
    grid,
    legend_below,
    records,
    save,
    shorten,
    wrapped,
)

__all__ = [
    "COLOURS",
    "DASHES",
    "FAINT",
    "INK",
    "STYLE",
    "WIDTH",
    "calibration",
    "canvas",
    "component_forest",
    "exam_information",
    "exam_precision",
    "forest_height",
    "grid",
    "group_places",
    "grouped_information",
    "heat_map",
    "is_drawable",
    "item_curve",
    "item_information",
    "item_misfit",
    "legend_below",
    "marked_names",
    "person_item_map",
    "predicted_students",
    "pruning_gain",
    "pruning_rounds",
    "records",
    "save",
    "score_distribution",
    "shorten",
    "students_height",
    "wrapped",
]
