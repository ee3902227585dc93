import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nws.core.text.length import bare_words
from nws.jobs.report.console import PrintableConsole
from nws.jobs.report.shown_article import ShownArticle, pieces, print_shown, show


def printed(shown: ShownArticle, width: int = 80, **options: object) -> str:
    file = io.StringIO()
    print_shown(shown, PrintableConsole(file=file, width=width, **options))
    return file.getvalue()


def test_the_words_of_a_summary_stand_in_brackets_where_there_is_no_colour(store, add_run) -> None:
    text = printed(show(store, add_run(), "a3", None, 5))
    assert 'The [mayor] said: "[Harbour trams] [12 of them] will [run] all night."' in text
    assert "[Nurses] cheered, number 3." in text
    assert "In [brackets]: the words of m|chunks at n = 5." in text
    for told in ("news / a3", "Night trams run, says mayor 3.", "oracle (oracle)", "lead (control)"):
        assert told in text
    assert "Scores are means over 3 draws. The first draw:" in text
    assert "writer  4 words\n" in text
    assert text.index("Summaries at n = 5") < text.index("random (control)") < text.index("Uncut summaries")
    assert "BERTScore .68" in text.partition("m|chunks\n")[2].splitlines()[0]
    assert "content kept" not in text


def test_content_kept_stands_before_the_other_scores(store, add_run) -> None:
    text = printed(show(store, add_run(signatures={"bertscore": "b|1", "kept": "k|1"}), "a3", None, 5))
    assert text.partition("m|chunks\n")[2].splitlines()[0].strip().startswith("content kept 68 %  BERTScore .68")


def test_on_a_terminal_they_are_highlighted(store, add_run) -> None:
    text = printed(show(store, add_run(), "a3", None, 5), force_terminal=True, color_system="standard")
    assert "\x1b[1;7mHarbour trams\x1b[0m [12 of them] will" in text
    assert "Highlighted: the words of m|chunks" in text


def test_words_that_are_not_in_the_article_are_counted_and_failures_told(store, add_run) -> None:
    run = add_run(failed=1)
    text = printed(show(store, run, "a3", "writer", 5), 120)
    assert "1 of its 5 words are not in the article, or in another order." in text
    assert "Failed: sweep: EmptyError: no \\x1b[2J word (2 attempts)" in printed(show(store, run, "a100", None, 5))


@pytest.mark.parametrize("width", [20, 60, 80, 120])
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(store, add_run, width: int) -> None:
    text = printed(show(store, add_run(), "a3"), width)
    assert max(map(len, text.splitlines())) <= width
    folded = "".join(text.split())
    assert "Nightramsrun" not in folded
    for told in ("Nighttramsrun,saysmayor3.", "[Nurses]cheered,number3.", "ROUGE-L"):
        assert told in folded


@given(st.text("ab ,\n[", max_size=40), st.data())
def test_pieces_are_the_whole_text(text: str, data: st.DataObject) -> None:
    words = bare_words(text)
    chosen = data.draw(st.sets(st.integers(0, len(words) - 1))) if words else set()
    cut = list(pieces(text, [*sorted(chosen), None]))
    assert "".join(piece for piece, _ in cut) == text
    marked = [bare_words(piece) for piece, is_marked in cut if is_marked]
    assert [word for run in marked for word in run] == [words[p] for p in sorted(chosen)]
    assert len(marked) == sum(p - 1 not in chosen for p in chosen)
