"""Ten of the kills of `make chaos`: three runs, of each job one, on both databases, and every kind of victim."""

from pathlib import Path
from typing import get_args

import pytest
from chaos.carry_out import carry_out
from chaos.draw import DATABASES, JOBS, Victim, draw_runs
from chaos.surroundings import Surroundings

pytestmark = [pytest.mark.ray, pytest.mark.faults, pytest.mark.timeout(1200)]

SEED, KILLS = 6, 10


def test_ten_kills_change_no_row(tmp_path: Path) -> None:
    runs = draw_runs(SEED, KILLS)
    assert {run.job for run in runs} == {*JOBS}
    assert {run.database for run in runs} == {*DATABASES}
    assert {kill.victim for run in runs for kill in run.kills} == {*get_args(Victim)}
    lines: list[str] = []
    with Surroundings(tmp_path) as around:
        for run in runs:
            carry_out(run, around, lines.append)
    assert sum(" killed at " in line for line in lines) == KILLS
