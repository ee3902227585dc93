"""A chart in the page: what was drawn, in colours of its style sheet, and each n with its values to point at."""

import itertools
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

from nws.jobs.report.charts import Chart, ChartPoint, Series, numbered_look
from nws.jobs.report.drawing import chart_svg


def chart(lines: int = 2, lengths: tuple[int, ...] = (1, 3, 5), name: str = "system") -> Chart:
    series = tuple(
        Series(
            f"{name} {i}",
            numbered_look(i),
            tuple(ChartPoint(n, 0.1 * i + n / 100, 0.0, 0.9, hollow=n == 5, text=f"{n}/{i} told") for n in lengths),
        )
        for i in range(lines)
    )
    return Chart("c", "title", "", "n", "F1", series)


def svg(*args: object, **kwargs: object) -> ET.Element:
    drawn = chart_svg(chart(*args, **kwargs), 760, 380)
    return ET.fromstring(f'<svg xmlns:xlink="http://www.w3.org/1999/xlink">{drawn}</svg>')


def test_pointing_at_an_n_reads_all_its_values_the_highest_first() -> None:
    columns = svg().findall("rect[@class='at']")
    assert [column.findtext("title") for column in columns] == [
        f"n: {n}\nsystem 1: {n}/1 told\nsystem 0: {n}/0 told" for n in (1, 3, 5)
    ]
    places = [(float(column.attrib["x"]), float(column.attrib["width"])) for column in columns]
    assert all(abs(x + width - after) < 0.2 for (x, width), (after, _) in itertools.pairwise(places))


def test_colours_are_those_of_the_style_sheet_and_no_id_is_anothers() -> None:
    drawn = svg()
    for element in drawn.iter():
        for colour in (element.attrib[name] for name in ("fill", "stroke") if name in element.attrib):
            assert re.fullmatch(r"none|var\(--[a-z0-9]+\)", colour)
        # The pages of `nws serve` forbid styles that do not stand in their style sheet.
        assert "style" not in element.attrib
        assert "font" not in " ".join(element.attrib)
    other = ET.fromstring(
        f'<svg xmlns:xlink="http://www.w3.org/1999/xlink">{chart_svg(replace(chart(), id="d"), 760, 380)}</svg>'
    )
    ids, others = ({element.attrib["id"] for element in one.iter() if "id" in element.attrib} for one in (drawn, other))
    assert ids
    assert not ids & others


def test_bands_and_names_can_be_told_apart_by_the_style_sheet() -> None:
    drawn = svg()
    assert len(drawn.findall(".//g[@class='band']")) == 2
    assert texts(drawn, "end") == ["system 0", "system 1"]
    assert texts(drawn, "up") == ["F1"]


def texts(drawn: ET.Element, name: str) -> list[str | None]:
    return [text.text for text in drawn.findall(f".//g[@class='{name}']//text")]
