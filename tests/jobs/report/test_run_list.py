"""How the runs of a store are listed."""

import io
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from made_scores import kept_points
from rich.cells import cell_len
from run_infos import run_info

from nws.core.analysis.build_document import Training, build_document
from nws.core.analysis.points import Points
from nws.core.findings.report_document import ReportDocument
from nws.jobs.report.console import PrintableConsole
from nws.jobs.report.run_status import ListedRun, ShortAnswer, listed_runs, print_runs
from nws.jobs.report.system_names import system_names
from nws.jobs.report.wording import headline
from nws.jobs.store import RunSpec, Store
from nws.jobs.store.means import document_rows


def listed(store: Store, document: ReportDocument, job: str = "phase1") -> ListedRun:
    """A run that has ended with this document."""
    run = store.create_run(RunSpec(job, {}, "hash", 0, "v", {}, {}, 1))
    with store.writing() as connection:
        for table, rows in document_rows(run, document).items():
            connection.execute(sa.insert(table), rows)
        connection.execute(sa.text("update runs set means_cached = true"))
    return listed_runs(store, [store.run_info(run)])[0]


def rising(to: float, *lengths: int) -> dict[int, float]:
    return {n: to * n / lengths[-1] for n in lengths}


@pytest.mark.parametrize(
    "shares",
    [
        {"m|a|chunks": rising(0.9, 1, 3, 5, 7), "m|b|chunks": rising(0.8, 1, 3, 5, 7), "lead": rising(1, 1, 3, 5, 7)},
        {"m|a|chunks": rising(0.4, 3, 5), "reference-words": rising(0.9, 3, 5)},
        {"m|a|chunks": {1: 0.41}, "random": {1: 0.1}},
        {"a": rising(0.9, 3, 5), "b": {3: 0.6, 5: 0.7, 21: 0.95}},  # compared at 5, named at their own longest
        {"b": {3: 0.6, 5: 0.7}},  # the shortest keeps half
        {"lead": rising(0.4, 3, 5), "other-article": rising(0.5, 3, 5)},
    ],
)
def test_the_answer_is_that_of_the_first_sentence_of_a_report(
    store: Store, shares: Mapping[str, Mapping[int, float]]
) -> None:
    document = build_document(kept_points(shares), "kept")
    number, what, name = re.fullmatch(r"(.*) keeps? (.*) \((.*)\)", listed(store, document).answer).groups()
    told = headline(document, "news", system_names(document.kinds))
    assert re.match(rf"{number}( \([^)]*\))? keeps? {what}[^;]*\({re.escape(name)}\b", told), told


def test_each_dataset_has_its_answer_and_a_training_that_of_its_policies(store: Store) -> None:
    other = kept_points({"lead": rising(0.9, 3, 5)}, dataset="/d/a.csv")
    both = build_document(Points.together([kept_points({"m|a|chunks": rising(0.8, 3, 5)}), other]), "kept")
    assert listed(store, both).answer == "a.csv: 5 words keep 90 % (lead); news: 5 words keep 80 % (a)"
    points = kept_points({"policy|reinforce|seed=0|n=5": {5: 0.31}, "m|a|chunks": {5: 0.8}})
    points = replace(points, repeated_words=np.zeros(len(points)))
    run = listed(store, build_document(points, "kept", Training("reward", False, (), ())), "phase2")
    assert run.answer == "5 words keep 31 % (reinforce)"
    assert run.as_dict()["answers"][0]["keeps"] == pytest.approx(0.31)


@pytest.mark.parametrize(
    ("lengths", "told"),
    [(range(1, 13), "1–12"), ((5, 10, 20), "5, 10, 20"), (range(1, 22, 2), "11 from 1–21"), ((7,), "7"), ((), "")],
)
def test_lengths_in_few_letters(lengths: range, told: str) -> None:
    assert ListedRun(run_info(recipe={"n": [*lengths]}), ()).lengths == told
    recipe = {"n": [*lengths], "max_chars": [*lengths]}
    assert ListedRun(run_info(recipe=recipe), ()).lengths == (told and f"{told} characters")


@pytest.mark.parametrize("width", [80, 200])
def test_a_terminal_has_what_fits_and_the_whole_id(width: int) -> None:
    run_id, name = "baselines-20261124-0a1b2c", "cnn_dailymail"
    changes: dict[str, Any] = {"recipe": {"n": [*range(1, 22, 2)]}, "revisions": {"datasets": {name: "3.0.0"}}}
    run = run_info(id=run_id, state="interrupted", name="first", note="of many", **changes)
    file = io.StringIO()
    console = PrintableConsole(file=file, width=width, force_terminal=True, color_system=None)
    print_runs([ListedRun(run, (ShortAnswer(name, "m|lexrank|chunks", "lexrank", 21, 0.41),))], console)
    lines = file.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= width
    assert lines[1].startswith(f"{run_id} ")
    assert ("NOTE" in lines[0]) == (width == 200)
    for told in ("interrupted", "40/42", "failed", "cnn_dailymail", "keep"):
        assert told in "".join(lines)
