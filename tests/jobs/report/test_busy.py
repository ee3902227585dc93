import io
import time

import pytest
from rich.console import Console

from jobs.report import console as module
from jobs.report.console import busy


@pytest.mark.parametrize("at_once", [True, False])
def test_lines_come_while_it_lasts(at_once: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WORTH_TELLING_SECONDS", 0.01)
    monkeypatch.setattr(module, "_SECONDS_BETWEEN_LINES", 0.01)
    stream = io.StringIO()
    with busy("Reading [b]articles[/b]", at_once, Console(file=stream, width=80)):
        while stream.getvalue().count("\n") < 3:
            time.sleep(0.01)
    first, *later = stream.getvalue().splitlines()
    assert first == "Reading [b]articles[/b] …"
    assert set(later) == {"Reading [b]articles[/b] … 0 s"}
    ended = stream.getvalue()
    time.sleep(0.05)
    assert stream.getvalue() == ended


def test_it_ends_with_an_error_too() -> None:
    stream = io.StringIO()
    with pytest.raises(ZeroDivisionError), busy("Counting", True, Console(file=stream, width=80)):
        raise ZeroDivisionError
    assert stream.getvalue() == "Counting …\n"


@pytest.mark.parametrize(("worth_telling", "last"), [(0.0, "Counting · 0 s\n"), (60.0, "")])
def test_on_a_terminal_a_spinner_goes_and_the_time_stays(
    worth_telling: float, last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WORTH_TELLING_SECONDS", worth_telling)
    stream = io.StringIO()
    with busy("Counting", console=Console(file=stream, width=80, force_terminal=True, color_system=None)):
        pass
    spinner, _, stays = stream.getvalue().rpartition("\x1b[2K")
    assert "Counting …" in spinner
    assert stays == last
