"""What commands share: options and printing."""

from examcore.console._options import AsJson, Interval, Quiet, Seed, interval_text, jsonable, show

__all__ = ["AsJson", "Interval", "Quiet", "Seed", "interval_text", "jsonable", "show"]
