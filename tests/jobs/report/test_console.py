import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from rich.text import Text

from nws.jobs.report.console import PrintableConsole, printable


def printed(renderable: object, **options: object) -> str:
    file = io.StringIO()
    PrintableConsole(file=file, width=100, soft_wrap=True, **options).print(renderable)
    return file.getvalue()


BIDIRECTIONAL = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
# Not `st.text`, which draws from all characters alike, and so hardly ever these.
CHARACTERS = st.one_of(
    st.characters(categories=["Cc"]), st.characters(categories=["Cs"]), st.sampled_from(BIDIRECTIONAL), st.characters()
)


@given(st.lists(CHARACTERS, max_size=20).map("".join))
def test_no_control_character_of_a_text_reaches_the_terminal(text: str) -> None:
    table = Table(text)
    table.add_row(text)
    for renderable in (text, Text(text), table):
        shown = printed(renderable)
        shown.encode()
        assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in shown.replace("\n", ""))
        assert not set(shown) & set(BIDIRECTIONAL)
    assert printable(text).isprintable() or not text.isprintable()


def test_control_characters_can_still_be_read() -> None:
    assert printed("a\x1b[2Jb\x9bc.csv\udce9") == "a\\x1b[2Jb\\x9bc.csv\\udce9\n"
    assert printed("\x1b]8;;https://x.example\x1b\\F1\x1b]8;;\x1b\\").count("\\x1b") == 4
    assert printed("evil\u202etxt.csv") == "evil\\u202etxt.csv\n"


@pytest.mark.parametrize(
    "text", ["[bold]news[/bold]", "[/news].csv", "[link=https://x.example]y[/link]", ":cat: 12:30:45"]
)
def test_what_looks_like_markup_is_text(text: str) -> None:
    assert printed(text, force_terminal=True) == f"{text}\n"


def test_colours_of_our_own_stay() -> None:
    assert printed(Text("gain", style="bold"), force_terminal=True) == "\x1b[1mgain\x1b[0m\n"
