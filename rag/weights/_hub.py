"""Access to the model hub: whether it can be reached, and its libraries kept quiet."""

from __future__ import annotations

import contextlib
import io
import os
import socket
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

_reachable: dict[str, bool] = {}
"""Hosts that were tried."""


def hub_offline(place: str) -> bool:
    """Whether to use local files only: HF_HUB_OFFLINE is set, it is a folder, or no hub answers within five seconds."""
    if Path(place).is_dir() or os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on"):
        return True
    endpoint = urllib.parse.urlparse(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    host = endpoint.hostname or "huggingface.co"
    if urllib.request.getproxies().get(endpoint.scheme):
        return False
    if host not in _reachable:
        port = endpoint.port or (443 if endpoint.scheme == "https" else 80)
        try:
            socket.create_connection((host, port), timeout=5).close()
            _reachable[host] = True
        except OSError:
            _reachable[host] = False
    return not _reachable[host]


@contextlib.contextmanager
def quiet_libraries() -> Iterator[None]:
    """Keep transformers' loading bars and notices off standard error."""
    from transformers.utils import logging

    # One bar of transformers' GGUF reader is plain tqdm and heeds no setting: its stream is taken away.
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
