"""What is said of the summaries of a system."""

from nws.core.text.oddities import told_of

PLAIN = ["Snow fell on Dover.", "The mayor of Hull resigned.", "The mayor of Leeds won.", "Trams stop. - Buses run."]


def said(*texts: str, raw: str | None = None) -> list[str]:
    return list(told_of("summaries of p", [(str(i), text, raw) for i, text in enumerate(texts)], "en", len(texts)))


def test_what_is_odd_is_named_with_its_share_and_nothing_else() -> None:
    names = ["mayor", "bishop", "judge", "coach"]
    assert said(*PLAIN, *(f"The {name} of Hull has resigned." for name in names)) == []
    assert said(*PLAIN, *(f"Summary: {text}" for text in PLAIN)) == [], "four are too few to tell"
    assert list(told_of("x", [("one", "Here is a text", None)] * 9, "en")) == [], "one article at nine n"
    opening, markup = said(*(f"Here is a summary: **{text}**" for text in PLAIN * 3), *PLAIN)
    assert opening.startswith("Warning: summaries of p, those of 12 of 16 articles, begin with “here is a”.")
    assert markup.startswith("Warning: 12 of 16 summaries of p have signs of Markdown.")
    assert "begin with “summary”" in said(*(f"**Summary:** {text}" for text in PLAIN * 2))[0]
    empty, foreign = said("", "— ", "老桥将于星期一关闭。", *PLAIN)
    assert empty.startswith("Warning: 2 of 7 summaries of p have no word")
    assert "1 of 7 summaries of p may be in another language than English (ISO 639: zh), such as" in foreign
    assert said("Snow fell.", raw="<think>Hm.</think>Snow fell.")[0].startswith("Thoughts were left out of 1 of 1 ")
