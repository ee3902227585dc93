"""The pages' templates, style and script. They share the style and parts of the report page."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from jobs.report.page import TEMPLATES, page_environment
from jobs.serve.feeds import Parts, digest
from jobs.terminal.console import printable, written_out

_TEMPLATES = Path(__file__).parent / "templates"
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


def is_run_id(text: str) -> bool:
    """Whether it may be the id of a run that has a page. Those that `nws` makes are."""
    return _RUN_ID.fullmatch(text) is not None


def run_link(run_id: str) -> str | None:
    """Where the page of a run is; None of one whose id somebody else has made, and is no plain word."""
    return f"/runs/{run_id}" if is_run_id(run_id) else None


def web_link(address: str | None) -> str | None:
    """An address that a browser may go to; None for anything else, such as one that would run a script."""
    return address if address and re.fullmatch(r"https?://[^\s\\]+", address) else None


def _part(parts: Parts, name: str) -> Markup:
    """An element that the feed fills again: its HTML is that of a template, which has escaped all texts."""
    html = parts[name]
    return Markup('id="{}" data-digest="{}">{}').format(name, digest(html), Markup(html))


_ENVIRONMENT = page_environment(_TEMPLATES)
_ENVIRONMENT.filters |= {"printable": printable, "quoted": lambda text: quote(text, safe="")}
_ENVIRONMENT.globals |= {"part": _part, "run_link": run_link, "web_link": web_link}


def rendered(template: str, **values: Any) -> str:
    """The HTML of a template. Control characters, which a name may hold, mean nothing in HTML: they are written out."""
    return written_out(_ENVIRONMENT.get_template(template).render(**values))


def rendered_part(name: str, **values: Any) -> str:
    """The HTML of what changes of a page: that of a macro in `parts.html.j2`."""
    return written_out(str(getattr(_ENVIRONMENT.get_template("parts.html.j2").module, name)(**values)))


def style_sheet() -> str:
    """The report page's, and what these pages have beside it."""
    return "".join(path.read_text(encoding="utf-8") for path in (TEMPLATES / "page.css", _TEMPLATES / "serve.css"))


def script() -> str:
    """What puts news into a page. All else reads without it."""
    return (_TEMPLATES / "serve.js").read_text(encoding="utf-8")
