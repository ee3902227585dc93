import dataclasses
import io
import re

import pytest
from made_scores import in_columns, report_of, rescored
from rich.console import Console

from nws.core.analysis import compare_systems
from nws.core.analysis.points import Points
from nws.core.findings.lengths import lengths_text
from nws.jobs.report.numerals import decimals
from nws.jobs.report.printed_report import print_full
from nws.jobs.report.wording import magic_number_text

LONG = "google/electra-base-discriminator-with-a-very-long-name|textrank|chunks"


@pytest.fixture
def show(run):
    def show(points, width=80):
        out = io.StringIO()
        print_full(report_of(run, points), Console(file=out, width=width))
        return out.getvalue()

    return show


def section(text, title):
    """What stands under a title, up to the next one."""
    return text[text.index(f"{title}\n") :].split("\n\n")[0]


def test_controls_and_oracles_are_marked_and_these_get_no_star_and_no_n(show, make_points):
    points = make_points(("good|x", "oracle", "window-oracle", "lead", "random"))
    text = show(points)
    assert max(len(line) for line in text.splitlines()) <= 80
    first = section(text, "mean BERTScore F1 by n")
    assert "lead (control)" in first
    rows = first.splitlines()
    oracle = next(i for i, line in enumerate(rows) if line.startswith("oracle "))
    assert "*" not in rows[oracle] + rows[oracle + 2]
    assert rows[oracle + 1].startswith(" (oracle)")
    assert rows[oracle + 2].startswith("window-oracle ")
    assert rows[oracle + 3].startswith(" (oracle)")
    assert len(re.findall(r"\d\*", first)) >= 11  # others have one at every n
    said = " ".join(first.split())
    assert "An oracle saw the reference, so it cannot be used in practice." in said
    for title in ("the magic number by metric", "vs. lead at equal n"):
        assert "good|x" in section(text, title)
        assert not re.search(r"oracle|\(control\)", section(text, title))
    assert "An oracle saw" not in show(make_points())


def test_which_n(run, show, make_points):
    number = report_of(run, make_points()).document.of_metric().magic_numbers[0]
    table = section(show(make_points(), width=120), "the magic number by metric")
    line = next(line for line in table.splitlines() if line.startswith("chunks, BERTScore F1 "))
    gain = f"{number.largest_gain.gain.mean:+.3f}".replace("0.", ".")
    told = [str(number.best_by_mean), gain, "at", str(number.largest_gain.n), *magic_number_text(number).split()]
    assert line.split()[3:] == [*told, str(number.most_frequent)]
    assert magic_number_text(number) == lengths_text(tuple(gain.n for gain in number.gains), number.recommended)
    assert "the magic number" not in show(make_points(("a", "lead")))  # no random to gain over


@pytest.mark.parametrize(
    ("make", "told"),
    [
        ({"articles": 3}, "With 3 articles, no interval is printed"),
        ({"short": (4,)}, "left out at that n: 1 at n = 1, 1 at n = 3"),
        ({}, "Articles that lack a summary by some system are left out of the means: at most 2 articles at any n."),
    ],
)
def test_what_the_reader_must_know(show, list_points, make, told):
    lacks = set() if make else {("0003", 5, "lead"), ("0004", 5, "m|textrank|chunks")}
    points = in_columns(
        point for point in list_points(**make) if (point.article_id, point.n, point.system) not in lacks
    )
    assert told in show(points, width=200)
    assert told not in show(in_columns(list_points()), width=200)


def test_a_system_with_a_third_of_the_articles_is_not_the_highest(show, list_points):
    # It has the easy ones alone.
    points = in_columns(
        rescored(p, bertscore_f1=p.scores["bertscore_f1"] + 0.2 * (p.article_id < "0010"))
        for p in list_points(("few", "all", "lead", "random"), (7,), 30)
        if p.system != "few" or p.article_id < "0010"
    )
    table = section(show(points), "mean BERTScore F1 by n").splitlines()
    few, everything = (next(line for line in table if line.startswith(name)) for name in ("few", "all"))
    assert few.endswith("°")
    assert everything.endswith("*")
    assert "° the system lacks articles that others have, so its mean is not compared with theirs" in " ".join(
        show(points).split()
    )


def test_the_verdicts_vs_lead_are_those_of_compare(run, show, list_points):
    points = in_columns(
        rescored(p, rouge1_f1=0.5 - 0.1 * (p.system != "lead") + p.scores["bertscore_f1"] / 9) for p in list_points()
    )
    text = show(points)
    (found,) = compare_systems(points, points, [("m|textrank|chunks", "lead")])
    better = lengths_text(tuple(at.n for at in found.lengths), tuple(at.n for at in found.lengths if at.better))
    assert better not in ("", "1–21")
    table = text[text.index("vs. lead at equal n") :]
    line = next(line for line in table.splitlines() if line.startswith("chunks "))
    assert line.split() == ["chunks", "better", better, "worse", "1–21", "–", "–"]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("metric", ["bertscore_f1", "efficiency"])
def test_nothing_is_cropped_at_any_width(run, make_points, width, metric):
    points = Points.together(
        [make_points((LONG, "good|x", "oracle", "lead", "random"), articles=20), make_points((LONG,), (0,))]
    )
    out = io.StringIO()
    report = report_of(run, points, metric)
    print_full(report, Console(file=out, width=width))
    text = out.getvalue()
    assert "…" not in text
    # Commands stay whole, so that they can be copied.
    assert max(len(line) for line in text.splitlines() if "nws report" not in line) <= width
    places = 4 if metric == "efficiency" else 3
    for curve in report.document.of_metric().curves:
        for at in curve.lengths:
            assert decimals(at.mean, places) in text
    for heading in ("BERTScore F1", "ROUGE-1 F1", "ROUGE-2 F1", "ROUGE-L F1"):
        assert heading in text
    assert any(name == metric for name, _ in report.document.best_lengths("news")) is (
        metric != "efficiency"
    )  # it falls with n
    # Every part of a table begins with names.
    headers = [line.split()[1:] for line in text.splitlines() if re.match(r"n +\d", line)]
    assert [n for header in headers for n in header] == [str(n) for n in range(1, 22, 2)]


def test_who_does_not_write_n_words_is_told(show, list_points):
    points = in_columns(
        dataclasses.replace(p, words=min(p.words, 6)) if p.system == "m|textrank|chunks" else p for p in list_points()
    )
    text = show(points, width=200)
    table = text[text.index("mean words, of systems that do not always write n") :]
    line = next(line for line in table.splitlines() if line.startswith("chunks "))
    assert line.split()[1:] == ["1.0", "3.0", "5.0", *["6.0"] * 8]
    assert "a longer summary may score higher" in table
    assert "equal length" not in show(in_columns(list_points()), width=200)
