"""What pages share: the frame, heat tables and number formats."""

from examcore.page._frame import installed_version, page_frame, page_template
from examcore.page._heat_table import HeatCell, HeatRow, HeatTable
from examcore.page._number_formats import (
    chance,
    clipped,
    duration,
    joined,
    p_value,
    percent,
    percent_range,
    plain_number,
    points,
    signed,
    signed_range,
)
from examcore.page._record_values import flattened, shown_value

__all__ = [
    "HeatCell",
    "HeatRow",
    "HeatTable",
    "chance",
    "clipped",
    "duration",
    "flattened",
    "installed_version",
    "joined",
    "p_value",
    "page_frame",
    "page_template",
    "percent",
    "percent_range",
    "plain_number",
    "points",
    "shown_value",
    "signed",
    "signed_range",
]
