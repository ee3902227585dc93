"""The report as one HTML file, and its templates, which the pages of `nws serve` share."""

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from nws.jobs.report.charts import Chart
from nws.jobs.report.numerals import counted, decimals
from nws.jobs.report.sweep_charts import zoomed

TEMPLATES = Path(__file__).parent / "templates"


def page_environment(*folders: Path) -> Environment:
    """Make the environment of templates in these folders, and then in `TEMPLATES`. Every text is escaped."""
    environment = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"decimals": decimals, "unbroken": _unbroken}
    environment.globals |= {"counted": counted, "chart_svg": _chart_svg, "zoomed": zoomed}
    return environment


def _unbroken(text: str) -> str:
    """Put no-break spaces into a text, so that no line ends before "%" or within "n = 21"."""
    return re.sub(r" (?=%)|(?<=\bn) (?==)|(?<=n =) (?=\d)", "\N{NO-BREAK SPACE}", text)


def _chart_svg(chart: Chart, width: float, height: float) -> Markup:
    from nws.jobs.report.drawing import chart_svg  # and with it matplotlib

    return chart_svg(chart, width, height)
