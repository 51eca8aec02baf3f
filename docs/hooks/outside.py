"""Pages of the repository that lie outside `docs/`, and links to and from them."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

OUTSIDE = (
    "benchmarks/RESULTS.md",
    "experiments/README.md",
    "experiments/paper_grid/README.md",
    "experiments/bloom_agreement/README.md",
    "experiments/exam_plus_plus/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
)
"""Paths in the repository; on the site they keep them."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside."""
    root = Path(config.config_file_path).parent
    for name in OUTSIDE:
        files.append(File.generated(config, name, content=(root / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between places in the repository into links between pages of the site; all others stay."""
    uri = page.file.src_uri
    here = posixpath.dirname(uri if uri in OUTSIDE else f"docs/{uri}")

    def on_the_site(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(here, match[1]))
        place = target.removeprefix("docs/")
        if (place == target) != (target in OUTSIDE):
            return match[0]
        return f"]({posixpath.relpath(place, posixpath.dirname(uri))}"

    return re.sub(r"\]\((?!https?:|#)([^)#\s]+)", on_the_site, markdown)
