"""Charts hold the numbers of a report."""

from made_scores import in_columns, report_of
from policy_results import make_results
from system_kinds import CONTROLS, UPPER_BOUNDS, kind_of

from nws.jobs.report.charts import system_looks
from nws.jobs.report.policy_report import policies_sheet
from nws.jobs.report.sweep_charts import curves_sheet


def heights(series):
    return [(at.x, at.y, at.low, at.high) for at in series.points]


def lines(chart):
    return {series.name: series for series in chart.series}


def test_the_lines_of_a_sweep_are_its_numbers(run, make_points):
    report = report_of(run, make_points())
    found = report.document.of_metric()
    ((means,), (gains,)) = curves_sheet(report).rows
    assert means.heading == "news · 40 articles"
    for series, curve in zip(means.series, found.curves, strict=True):
        assert series.name.startswith(report.names[curve.system])
        assert heights(series) == [(at.n, at.mean, at.low, at.high) for at in curve.lengths]
    assert list(lines(gains)) == ["chunks", "sentences", "lead (control)"]
    assert gains.series[0].points[4].y == found.magic_numbers[0].gains[4].gain.mean
    at = means.series[0].points[4]
    assert at.text == f"{at.y:.3f} ({at.low:.3f} to {at.high:.3f}, 40 articles)".replace("0.", ".")


def test_oracles_are_among_means_only_and_said_to_have_seen_the_reference(run, make_points):
    sheet = curves_sheet(report_of(run, make_points(("good|x", "oracle", "window-oracle", "lead", "random"))))
    ((means,), (gains,)) = sheet.rows
    assert list(lines(means))[1:3] == ["oracle (oracle)", "window-oracle (oracle)"]
    assert list(lines(gains)) == ["good|x", "lead (control)"]
    assert any("saw the reference" in note for note in sheet.notes)
    assert "saw the reference" not in "".join(curves_sheet(report_of(run, make_points())).notes)


def test_a_mean_over_fewer_articles_is_hollow_and_that_is_explained(run, list_points):
    points = list_points(("few", "all", "lead", "random"), (7, 9), 30)
    assert "lacks articles" not in "".join(curves_sheet(report_of(run, in_columns(points))).notes)
    fewer = report_of(run, in_columns(p for p in points if p.system != "few" or p.n == 7 or p.article_id < "0010"))
    sheet = curves_sheet(fewer)
    assert "hollow marker: lacks articles" in "".join(sheet.notes)
    for chart in (sheet.rows[0][0], sheet.rows[1][0]):
        assert [at.hollow for at in lines(chart)["few"].points] == [False, True]


def test_fourteen_systems_look_different_from_each_other_and_from_the_rest():
    systems = [f"s{i:02}" for i in range(14)]
    looks = system_looks({system: kind_of(system) for system in (*systems, *UPPER_BOUNDS, *CONTROLS)})
    assert list(looks) == [*systems, *UPPER_BOUNDS, *CONTROLS]
    assert len(set(looks.values())) == 21
    assert len({(look.colour, look.marker) for look in looks.values() if look.marker}) == 14
    assert len({(look.colour, look.dashes) for look in looks.values()}) == 21
    assert len({looks[control].dashes for control in CONTROLS}) == 3  # of one grey on the page
    assert {name for name, look in looks.items() if not look.marker} == {*UPPER_BOUNDS, *CONTROLS}


def test_the_lines_of_policies_are_their_numbers(run):
    report = make_results().report(run)
    scores = report.document.policies.of("news")
    ((means,), (differences,)) = policies_sheet(report).rows
    for series, at in zip(means.series, scores.values(), strict=True):
        assert heights(series) == [(n, score.score.mean, score.score.low, score.score.high) for n, score in at.items()]
    assert list(lines(differences)) == ["reinforce", "lead2+chunks", "lead (control)"]
    versus = {n: score.versus["textrank"] for n, score in scores["policy|reinforce"].items()}
    series = lines(differences)["reinforce"]
    assert [at.y for at in series.points] == [at.difference.mean for at in versus.values()]
    assert [at.x for at in series.points if at.ringed] == [n for n, at in versus.items() if at.significant]
    assert differences.y_label == "difference to textrank at equal n"
    assert policies_sheet(make_results().report(run, "rouge1_f1")).rows[0][0].y_label == "mean ROUGE-1 F1"
