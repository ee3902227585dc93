from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jobs.report.markdown_table import markdown_table

MARKDOWN = MarkdownIt("gfm-like", {"linkify": False})


def read(table: str) -> list[list[str]]:
    """The cells that a parser of GitHub's Markdown finds, as plain text."""
    cells: list[list[str]] = []
    for token in MARKDOWN.parse(table):
        if token.type == "tr_open":
            cells.append([])
        elif token.type == "inline":
            children = token.children or []
            assert {child.type for child in children} <= {"text", "text_special"}, children
            cells[-1].append("".join(child.content for child in children))
    return cells


@given(st.lists(st.text(st.characters(min_codepoint=33, max_codepoint=126) | st.sampled_from("é한")), min_size=2))
@example(["a|b", "\\|", "`x`", "**b**", "[a](b)", "<b>", "&amp;", "~~s~~", "# h", "1. a", "---"])
def test_a_parser_reads_every_cell_as_it_is(texts: list[str]) -> None:
    table = markdown_table(texts, [texts, texts[::-1]])
    assert read(table) == [texts, texts, texts[::-1]]


def test_a_table() -> None:
    assert markdown_table(("system", "f1"), [("m|lead", 0.123456789), ("a\nb", None)]) == (
        "| system | f1 |\n| --- | ---: |\n| m\\|lead | 0.123457 |\n| a\\\\nb |  |\n"
    )
