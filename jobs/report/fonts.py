"""Letters that the figures' own font lacks, such as Korean ones: a font that has them, or Latin letters instead."""

from collections.abc import Sequence
from functools import cache

from anyascii import anyascii
from matplotlib import font_manager
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text

FAMILY = "DejaVu Sans"
"""Comes with matplotlib."""
_NAMED = 3
_NO_GLYPHS = "Last Resort"
"""A font of matplotlib's that has a box for every character."""


def give_glyphs(texts: Sequence[Text]) -> str | None:
    """Make each text drawable: in an installed font that has its letters, or else transliterated to Latin letters.

    Returns:
        A warning that names the transliterated texts; None if there are none.
    """
    lacking = {text: _lacking(text.get_text()) for text in texts}
    missing = frozenset().union(*lacking.values())
    if not missing:
        return None
    further = find_family(missing)
    replaced: dict[str, str] = {}
    for text, letters in lacking.items():
        if letters and further:
            text.set_fontfamily([FAMILY, further])
        elif letters:
            name = text.get_text()
            replaced[name] = in_latin(name)
            text.set_text(replaced[name])
    if not replaced:
        return None
    replacements = ", ".join(f"{text!r} as {latin!r}" for text, latin in list(replaced.items())[:_NAMED])
    return (
        f"No installed font has the letters of some names. The plots show {replacements}"
        f"{' and others' if len(replaced) > _NAMED else ''}. Install a font, such as Noto Sans CJK (fonts-noto-cjk)."
    )


def find_family(letters: frozenset[str]) -> str | None:
    """The first installed family, by name, with a glyph for every one of `letters`."""
    entries = sorted(font_manager.fontManager.ttflist, key=lambda entry: (entry.name, entry.weight, entry.fname))
    for entry in entries:
        if not entry.name.startswith(_NO_GLYPHS) and letters <= _glyphs(entry.fname, letters):
            return entry.name
    return None


def in_latin(text: str) -> str:
    """`text` with letters that the figures' font lacks transliterated by anyascii, or as code points if it cannot."""
    lacking = _lacking(text)
    return "".join(anyascii(letter) or f"U+{ord(letter):04X}" if letter in lacking else letter for letter in text)


def _lacking(text: str) -> frozenset[str]:
    letters = frozenset(text) - {"\n"}
    return letters - _glyphs(_own_font(), letters)


@cache
def _own_font() -> str:
    return font_manager.findfont(FontProperties(family=FAMILY))


def _glyphs(path: str, letters: frozenset[str]) -> frozenset[str]:
    """The `letters` that a font file has."""
    font = font_manager.get_font(path)
    return frozenset(letter for letter in letters if font.get_char_index(ord(letter)))
