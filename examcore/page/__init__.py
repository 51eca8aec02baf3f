"""What pages share: the frame, heat tables and number formats."""

from examcore.page._frame import HeatCell, HeatRow, HeatTable, installed_version, page_frame, page_template
from examcore.page._number_formats import (
    chance,
    clipped,
    flattened,
    isolated,
    joined,
    p_value,
    percent,
    percent_range,
    plain_number,
    points,
    shown_value,
    signed,
    signed_range,
)

__all__ = [
    "HeatCell",
    "HeatRow",
    "HeatTable",
    "chance",
    "clipped",
    "flattened",
    "installed_version",
    "isolated",
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
