import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from jobs.report.figure_files import find_family, fit_letters

NAME = "뉴스|textrank"


@pytest.fixture
def no_other_fonts(monkeypatch):
    """Of those installed, only matplotlib's own: none of them has Hangul."""
    own = [font for font in font_manager.fontManager.ttflist if "DejaVu" in font.name or "Last Resort" in font.name]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", own)


@pytest.fixture
def hangul_font(no_other_fonts, tmp_path):
    """A font of squares with the letters of `NAME` and no others."""
    letters = {ord(letter): f"u{ord(letter):04X}" for letter in "뉴스"}
    names = [".notdef", *letters.values()]
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 800), (800, 800), (800, 0)):
        pen.lineTo(corner)
    pen.closePath()
    square = pen.glyph()
    builder = FontBuilder(1000)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap(letters)
    builder.setupGlyf(dict.fromkeys(names, square))
    builder.setupHorizontalMetrics(dict.fromkeys(names, (900, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Squares", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    path = tmp_path / "squares.ttf"
    builder.save(path)
    font_manager.fontManager.addfont(path)


def texts_of(*names):
    figure = Figure()
    FigureCanvasAgg(figure)
    return figure, [figure.text(0.5, 0.5, name) for name in names]


def test_a_font_with_the_letters_is_taken_where_one_is_installed(hangul_font, tmp_path):
    figure, (korean, latin) = texts_of(NAME, "textrank")
    assert find_family(frozenset("뉴스")) == "Squares"
    assert fit_letters(figure) is None
    assert (korean.get_text(), korean.get_fontfamily()) == (NAME, ["DejaVu Sans", "Squares"])
    assert latin.get_fontfamily() == ["sans-serif"]
    # matplotlib warns of a missing glyph, and a warning fails a test.
    figure.savefig(tmp_path / "figure.png")
    figure.savefig(tmp_path / "figure.svg")


def test_without_one_letters_become_latin_and_the_reader_is_told(no_other_fonts, tmp_path):
    assert find_family(frozenset("뉴스")) is None
    figure, texts = texts_of(NAME, "textrank")
    warning = fit_letters(figure)
    assert [text.get_text() for text in texts] == ["NyuSeu|textrank", "textrank"]
    assert "the plots show Latin ones, such as 'NyuSeu|textrank'" in warning
    assert "Install a font" in warning
    figure.savefig(tmp_path / "figure.png")
