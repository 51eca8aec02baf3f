"""A page as a reader meets it: elements, attributes and words."""

from __future__ import annotations

from html.parser import HTMLParser


class Seen(HTMLParser):
    """Elements and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def count(self, tag: str) -> int:
        return sum(one == tag for one, _ in self.elements)

    @property
    def text(self) -> str:
        """All text, any white space as one blank."""
        return " ".join(" ".join(self.words).split())
