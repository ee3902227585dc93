"""Marks that are no words: what is found in a text, what a text is without them, and what is left alone."""

import pytest

from nws.core.article import Article
from nws.core.errors import RecipeError
from nws.core.text.text_marks import AS_IT_IS, KINDS, Preparation

EVERY = Preparation("html,marks,ptb")
MARKS = [" <q> ", " <n>", "</t> <t>", " <S_SEP> ", " [SEP] ", "[X_SEP]", " [unused2] ", "<|endoftext|>", "<s> </s>"]
MARKS += [" @highlight ", "<br>", "<br />", "\\n", " \\n\\n ", "\\r\\n", " ||||| ", " NEWLINE_CHAR "]


def find_marks(text: str) -> list[str]:
    return [kind for kind, at in KINDS.items() if at.find(text)]


@pytest.mark.parametrize(
    ("kind", "text", "plain"),
    [
        (
            "html",
            "<p>Marks &amp; Sons: &quot;It&#39;s&nbsp;on.&quot;</p> <P class='x'>Yes.</P>",
            'Marks & Sons: "It\'s\xa0on."\nYes.',
        ),
        (
            "html",
            '<script async>if (a < b)</script>A <a href="x?a=1">link</a>.<!-- x --> &lt;b&gt;B&lt;/b&gt;',
            "A link. B",
        ),
        ("html", "&amp;quot;A&amp;quot; so&shy;ft &#8203;&#x2019;", '"A" soft ’'),
        *(("marks", f"One.{mark}Two.", "One.\nTwo.") for mark in MARKS),
        ("marks", "<s> One .\\ntwo . </s> <pad>", "One .\ntwo ."),
        ("ptb", "-lrb- cnn -rrb- He did n't pay 40 ,000 crowns .", "(cnn) He didn't pay 40,000 crowns."),
        (
            "ptb",
            "`` It is , '' she said -LSB- now -RSB- .\nThe mayor 's van .",
            '"It is," she said [now].\nThe mayor\'s van.',
        ),
        ("ptb", "the vote -- at last ... in ## towns , they said .", "the vote -- at last ... in ## towns, they said."),
    ],
)
def test_a_kind_is_found_and_removed(kind: str, text: str, plain: str) -> None:
    assert kind in find_marks(text)
    assert Preparation(kind).text(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        "R&D at AT&T; 5 < 6, a<b and c>d, <John Smith>, <b and c>, I <3 you & yours, &copy, &nonsense;",
        r"C:\news\new.txt has \neq and \nabla, and so on.",
        "Il dit : « non » ; oui ! She said, 'the s' word. Rock 'n' roll.  Two  blanks.",
        "A word , too many. Others, of course, are right.",
        "#Person1#: Hello. #Person2#: Bye ...",
    ],
)
def test_what_is_no_mark_stays_to_the_last_sign(text: str) -> None:
    assert EVERY.text(text) == text
    assert {*find_marks(text)} <= {"html"}  # `&nonsense;` may be one


def test_all_kinds_of_one_text_are_removed() -> None:
    text = "&lt;q&gt; -LRB- cnn -RRB- It &amp;amp; he &lt;q&gt; left ."
    assert EVERY.text(text) == "(cnn) It & he\nleft."
    assert list(find_marks("<p>`` One , two '' <q>")) == ["html", "marks", "ptb"]


def test_an_article_keeps_its_id_where_nothing_changes() -> None:
    article = Article("d", "all", "k", "A text.", ("One.", "Two."))
    assert AS_IT_IS.article(article) is article
    assert EVERY.article(article).id == article.id
    joined = Preparation(join_references=True).article(article)
    assert (joined.references, joined.id == article.id) == (("One.\nTwo.",), False)
    assert EVERY.references(["<q>", "One. <q>"]) == ("One.",)


def test_signatures_and_refusals() -> None:
    assert AS_IT_IS.signature == ""
    assert Preparation(" ptb, html", True).signature.startswith("|clean:html+ptb-nltk-")
    with pytest.raises(RecipeError, match="clean_texts takes html, marks, ptb, not 'tags'"):
        Preparation(["tags"])
