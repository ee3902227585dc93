"""The report as one HTML file, and its templates, which the pages of `nws serve` share."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from jobs.report.charts import Chart
from jobs.terminal.numerals import counted, decimals, interval_text, p_text, signed
from jobs.terminal.table_style import role

TEMPLATES = Path(__file__).parent / "templates"


def page_environment(*folders: Path) -> Environment:
    """What renders templates from these folders, and then from `TEMPLATES`. Every text is escaped."""
    environment = Environment(
        loader=FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"decimals": decimals, "signed": signed, "interval": interval_text, "p_text": p_text}
    environment.globals |= {"counted": counted, "role": role, "chart_svg": _chart_svg}
    return environment


def _chart_svg(chart: Chart, width: float, height: float) -> Markup:
    from jobs.report.page.chart_svg import chart_svg  # and with it matplotlib

    return chart_svg(chart, width, height)
