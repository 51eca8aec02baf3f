"""The gallery's figures: its snippets are run when the site is built, and what they draw is shown below them."""

from __future__ import annotations

import contextlib
import re
import tempfile
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

PAGE = "gallery.md"
FENCE = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
DRAWN = re.compile(r'Path\("([a-z-]+)"\)')


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Run every snippet and add its figures as `gallery/NAME.png`."""
    with tempfile.TemporaryDirectory() as folder:
        text = (Path(config.docs_dir) / PAGE).read_text(encoding="utf-8")
        with contextlib.chdir(folder):
            for code in FENCE.findall(text):
                exec(compile(code, PAGE, "exec"), {"__name__": "gallery"})
        for picture in sorted(Path(folder).glob("*.png")):
            files.append(File.generated(config, f"gallery/{picture.name}", content=picture.read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Show below each snippet of the gallery the figures that it saves."""
    if page.file.src_uri != PAGE:
        return markdown

    def with_figures(match: re.Match[str]) -> str:
        names = DRAWN.findall(match[1])
        return match[0] + "".join(f"\n![{name.replace('-', ' ')}](gallery/{name}.png)\n" for name in names)

    return FENCE.sub(with_figures, markdown)
