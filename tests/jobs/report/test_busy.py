import io

import pytest
from rich.console import Console

from nws.jobs.report.console import busy


def test_a_line_elsewhere_than_on_a_terminal_even_if_it_ends_with_an_error() -> None:
    stream = io.StringIO()
    with pytest.raises(ZeroDivisionError), busy("Reading [b]articles[/b]", Console(file=stream, width=80)):
        raise ZeroDivisionError
    assert stream.getvalue() == "Reading [b]articles[/b] …\n"


def test_on_a_terminal_a_spinner_goes() -> None:
    stream = io.StringIO()
    with busy("Counting", Console(file=stream, width=80, force_terminal=True, color_system=None)):
        pass
    assert "Counting …" in stream.getvalue()
    assert stream.getvalue().endswith("\x1b[2K")
