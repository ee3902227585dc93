import re

from hypothesis import given
from hypothesis import strategies as st

from jobs.report.latex_table import cell, latex_table

# What each command prints, as the LaTeX Companion says; groups and escapes give what they hold.
PRINTED = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textasciigrave": "`",
    "textquotesingle": "'",
}
TOKEN = re.compile(r"\\([a-z]+)\{\}|\\([&%$#_{}])|\{([\[\]*])\}|(-)(?:\{\})?|([^\\{}&%$#_~^])")


def typeset(tex: str) -> str:
    """What LaTeX prints for a cell."""
    found, at = [], 0
    while at < len(tex):
        token = TOKEN.match(tex, at)
        assert token is not None, tex[at:]
        command, *plain = token.groups()
        found.append(PRINTED[command] if command else next(filter(None, plain)))
        at = token.end()
    return "".join(found)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.sampled_from("é한\u2013")))
def test_every_character_is_printed_as_it_is(text: str) -> None:
    assert typeset(cell(text)) == text
    assert "--" not in cell(text)  # a dash
    assert not re.match(r"\s*[\[*]", cell(text))  # behind \\ an argument or a star


def test_a_table() -> None:
    assert latex_table(("system", "f1 (%)"), [("m|lexrank", -0.123456789), ("a & b\nc", None)]) == (
        "\\begin{tabular}{lr}\n"
        "\\toprule\n"
        "system & f1 (\\%) \\\\\n"
        "\\midrule\n"
        "m\\textbar{}lexrank & $-$0.123457 \\\\\n"
        "a \\& b\\textbackslash{}nc &  \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}\n"
    )
