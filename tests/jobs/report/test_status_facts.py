import io
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from run_infos import run_info

from jobs.drive.progress import Span
from jobs.report.console import PrintableConsole
from jobs.report.run_view import View, facts, line, print_facts, state_text
from jobs.store import ActorShare, FailureInfo, Progress

NOW = datetime(2026, 11, 22, tzinfo=UTC)
RUN = run_info(state="running", finished_at=None)
AT = Progress(
    NOW,
    "sweep",
    finished=42,
    failed=2,
    total=100,
    actors=(
        ActorShare(0, "Tesla T4", "gpu-1", 0.97),
        ActorShare(1, "Tesla T4", "gpu-1", 0.4),
        ActorShare(2, "Tesla T4", "gpu-2", None),
    ),
)
TOLD = "it has no words\x1b[2J\nand says so"
REASON = FailureInfo("news", "story-17", "id", "sweep", "EmptyArticleError", TOLD, 1, "node", NOW)
VIEW = View(RUN, AT, Span(90.0, 45), 2.0, (REASON,))


def printed(view: View, width: int) -> list[str]:
    stream = io.StringIO()
    console = PrintableConsole(file=stream, width=width, color_system=None, force_terminal=True)
    print_facts([("state", state_text(view)), *facts(view)], console)
    return [text.rstrip() for text in stream.getvalue().splitlines()]


def test_a_line_for_where_there_is_no_terminal() -> None:
    assert line(VIEW) == (
        "running, 40/42 articles done, 2 failed, sweep: 42/100 articles, 0.5 articles/s in the last 90 s, "
        "about 116 s left"
    )
    assert line(replace(VIEW, silent_seconds=40)).endswith("not heard of for 40 s")
    assert line(replace(VIEW, run=run_info(), progress=None)) == "done, 40/42 articles done, 2 failed"
    slow = replace(VIEW, span=Span(600.0, 5))
    assert "0.5 articles/min in the last 10 min, about 116 min left" in line(slow)


def test_what_is_not_known_is_not_told() -> None:
    assert line(replace(VIEW, span=Span(5.0, 0))).endswith("sweep: 42/100 articles")
    unknown = replace(AT, total=None)
    assert line(replace(VIEW, progress=unknown)).endswith("sweep: 42/? articles, 0.5 articles/s in the last 90 s")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_facts_fold_and_loses_nothing(width: int) -> None:
    lines = printed(VIEW, width)
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    for part in (
        "running, pid 1 on here",
        "2 on gpu-1, Tesla T4: 97 % 40 % busy",
        "1 on gpu-2, Tesla T4",
        "about 116 s left",
    ):
        assert part in text


def test_of_many_machines_some_are_named() -> None:
    many = replace(AT, actors=tuple(ActorShare(i, "Tesla T4", f"gpu-{i:02}", 0.5) for i in range(40)))
    text = "\n".join(printed(replace(VIEW, progress=many), 80))
    assert "gpu-07" in text
    assert "gpu-08" not in text
    assert "and those of 32 more machines" in text


def test_a_run_whose_models_are_loading() -> None:
    loading = replace(VIEW, progress=replace(AT, actors=()), span=Span(0.0, 0))
    text = "\n".join(printed(loading, 80))
    assert "none is ready" in text
    assert "not known yet" in text
