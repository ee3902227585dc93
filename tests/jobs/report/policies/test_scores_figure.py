import xml.etree.ElementTree as ET

import matplotlib as mpl
import pytest
from matplotlib.image import imread
from policy_results import OTHERS, make_results

from jobs.report.policies.numbers import analyse_policies
from jobs.report.policies.scores_figure import difference_series, plot_scores, score_series


@pytest.fixture
def draw(run, tmp_path):
    def draw(metric="bertscore_f1", **make):
        png, svg = tmp_path / "plot.png", tmp_path / "plot.svg"
        assert plot_scores(analyse_policies(run, make_results(**make), metric), png, svg) is None
        return png, svg

    return draw


def test_the_series_are_the_numbers(run):
    numbers = analyse_policies(run, make_results())
    scores = numbers.of("news")
    for series in score_series(numbers, "news"):
        at = scores[series.system]
        assert list(zip(series.n, series.mean, series.low, series.high, strict=True)) == [
            (n, score.score.mean, score.score.low, score.score.high) for n, score in at.items()
        ]
    differences = {series.system: series for series in difference_series(numbers, "news")}
    assert list(differences) == ["policy|reinforce", "lead2+chunks", "lead"]
    versus = {n: score.versus["textrank"] for n, score in scores["policy|reinforce"].items()}
    assert differences["policy|reinforce"].mean == tuple(at.difference.mean for at in versus.values())
    assert differences["policy|reinforce"].ringed == tuple(n for n, at in versus.items() if at.significant)


def test_files_are_pictures_with_text(draw):
    png, svg = draw(greedy=[])
    height, width, _ = imread(png).shape
    assert width > 250 < height
    text = " ".join(svg.read_text().split())
    assert ET.fromstring(svg.read_text()).tag == "{http://www.w3.org/2000/svg}svg"
    for shown in (
        "p1-0421",
        "policy|reinforce",
        "oracle (upper bound)",
        "difference to textrank at equal n",
        "seed 0, 1",
    ):
        assert shown in text, shown
    assert "mean BERTScore F1" in text
    assert "mean ROUGE-1 F1" in draw("rouge1_f1")[1].read_text()


def test_the_same_numbers_give_the_same_bytes(draw):
    png, svg = draw()
    first = png.read_bytes(), svg.read_bytes()
    png, svg = draw(points=make_results().points[::-1])
    assert (png.read_bytes(), svg.read_bytes()) == first


def test_global_settings_are_left_alone(draw):
    before = dict(mpl.rcParams)
    draw(articles=2)
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize(
    "make",
    [
        {"articles": 1, "lengths": (7,), "seeds": (0,)},
        {"others": {}},
        {"others": {"textrank": 0.0}, "methods": {}},
        {"others": OTHERS | {f"s{i}": 0.0 for i in range(12)}, "articles": 3},
        {"methods": {"cost-$5$": 3}, "dataset": "a_b^c"},
    ],
)
def test_small_and_odd_tests_draw_without_warnings(draw, make):
    png, svg = draw(**make)
    assert imread(png).std() > 0.01
    assert svg.stat().st_size > 1000
