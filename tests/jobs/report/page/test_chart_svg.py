"""A chart in the page: what was drawn, in colours of its style sheet, and each n with its values to point at."""

import itertools
import re
import xml.etree.ElementTree as ET

from jobs.report.charts import At, Chart, Series, coloured
from jobs.report.page.chart_svg import chart_svg

HARM = "<script>alert(1)</script> \"&'"


def chart(lines: int = 2, lengths: tuple[int, ...] = (1, 3, 5), name: str = "system") -> Chart:
    series = tuple(
        Series(
            f"{name} {i}",
            coloured(i),
            tuple(At(n, 0.1 * i + n / 100, 0.0, 0.9, hollow=n == 5, told=f"{n}/{i} told") for n in lengths),
        )
        for i in range(lines)
    )
    return Chart("c", "title", "", "n", "F1", series)


def svg(*args: object, **kwargs: object) -> ET.Element:
    return ET.fromstring(f"<svg>{chart_svg(chart(*args, **kwargs), 760, 380)}</svg>")


def test_pointing_at_an_n_reads_all_its_values_the_highest_first() -> None:
    columns = svg().findall("rect[@class='at']")
    assert [column.findtext("title") for column in columns] == [
        f"n: {n}\nsystem 1: {n}/1 told\nsystem 0: {n}/0 told" for n in (1, 3, 5)
    ]
    places = [(float(column.attrib["x"]), float(column.attrib["width"])) for column in columns]
    assert all(abs(x + width - after) < 0.2 for (x, width), (after, _) in itertools.pairwise(places))


def test_there_are_no_styles_ids_or_colours_of_its_own() -> None:
    for element in svg().iter():
        assert not {"style", "id"} & set(element.attrib)
        for name in ("fill", "stroke"):
            assert re.fullmatch(r"none|var\(--[a-z0-9]+\)", element.attrib.get(name, "none"))


def test_bands_and_names_can_be_told_apart_by_the_style_sheet() -> None:
    drawn = svg()
    assert [band.attrib["fill"] for band in drawn.findall("path[@class='band']")] == ["var(--c0)", "var(--c1)"]
    assert [end.text for end in drawn.findall("text[@class='end']")] == ["system 0", "system 1"]
    assert [up.text for up in drawn.findall("text[@class='up']")] == ["F1"]
    assert len(drawn.findall("path[@fill='var(--paper)']")) == 2  # of the hollow markers


def test_texts_are_text() -> None:
    drawn = svg(lines=1, name=HARM)
    assert not drawn.findall(".//script")
    assert "".join(end.text or "" for end in drawn.findall("text[@class='end']")).startswith("<script>")


def test_ten_systems_at_twenty_lengths_stay_small() -> None:
    assert len(chart_svg(chart(10, tuple(range(1, 41, 2))), 760, 380).encode()) < 60_000
