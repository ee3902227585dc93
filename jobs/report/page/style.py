"""The templates and the style sheet of the page, of which other pages have parts, too."""

from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"


def style() -> str:
    """The style sheet."""
    return (TEMPLATES / "page.css").read_text(encoding="utf-8")
