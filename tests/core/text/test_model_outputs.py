"""What is left out of what models write, as their templates, servers and habits have it."""

import pytest

from nws.core.errors import RecipeError
from nws.core.text.model_outputs import clean_output, opened_thoughts, parse_cleaning, without_thoughts

HARMONY = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Snow fell.<|return|>"
THOUGHTS = [
    *("<think>\nHm.\n</think>\n\nSnow fell.", "Hm.</think>Snow fell.", "<THINK>a</think>b</Think> Snow fell."),
    *("<thinking>Hm.</thinking>Snow fell.", "<reasoning>Hm.</reasoning>Snow fell.", "◁think▷Hm.◁/think▷Snow fell."),
    *("[THINK]Hm.[/THINK]Snow fell.", HARMONY, HARMONY.replace("final<", "final <|constrain|>json<")),
    *("analysisHm.assistantfinalSnow fell.", "analysisthe user.assistantcommentary to=xassistantfinalSnow fell."),
]
CUT = [
    *("<think>\nHm", "◁think▷Hm", "Snow fell.<think>Hm", "<think>a</think><think>b", "[THINK]Hm", "analysisWe need to"),
    *("<|channel|>analysis<|message|>Hm", "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant"),
]
KEPT = ["", "Snow fell.", "analysis of snow", "He thinks </b> so", "[thinking] Snow", "Final: assistantfinal"]


def test_what_stands_behind_the_last_thoughts_is_the_summary() -> None:
    for text in THOUGHTS:
        summary, raw = clean_output(text, ("thoughts",))
        assert (summary is not None and summary.strip(), raw) == ("Snow fell.", {"raw_text": text}), text
        assert clean_output(text, ()) == (text, {})
    assert [without_thoughts(text) for text in CUT] == [None] * len(CUT)
    assert [clean_output(text, ("thoughts",)) for text in KEPT] == [(text, {}) for text in KEPT]
    assert opened_thoughts("<|im_start|>assistant\n<think>\n").strip() == "<think>"
    assert opened_thoughts("assistant\n<think>\n\n</think>\n\n") == opened_thoughts("<think> Hm") == ""


@pytest.mark.parametrize(
    ("text", "preamble", "markup", "both"),
    [
        ("Here is a summary in 9 words:\n\n**A b**", "**A b**", "Here is a summary in 9 words:\n\nA b", "A b"),
        ("**Summary: A b**", "**A b**", "Summary: A b", "A b"),
        ("## Headline\n\nA b", "A b", "Headline\n\nA b", "A b"),
        ("Sure! Here's a 9-word summary:\n“A b”", "“A b”", None, "A b"),
        ("물론입니다! 다음은 요약입니다: 눈이 왔다", "눈이 왔다", None, "눈이 왔다"),
        ("Here are three points:\n1. A\n2. *b*", "1. A\n2. *b*", "Here are three points:\nA\nb", "A\nb"),
        *((text, None, "A's\nb", "A's\nb") for text in ("- A's\n- b", "```\nA's\n`b`\n```", "1) __A's__\n2) b")),
        *((text, None, None, None) for text in ('"A" and "b"', "Here is why: rust", "2. Liga: 5*3*2 in a_b_c")),
    ],
)
def test_only_markup_and_preamble_go(text: str, preamble: str | None, markup: str | None, both: str | None) -> None:
    wanted = {("preamble",): preamble, ("markup",): markup, ("thoughts", "markup", "preamble"): both}
    for cleaning, expected in wanted.items():
        summary, raw = clean_output(text, cleaning)
        assert ((summary or "").strip(), bool(raw)) == (text if expected is None else expected, expected is not None)


def test_the_names_of_what_is_left_out() -> None:
    assert parse_cleaning("preamble, thoughts") == parse_cleaning(["preamble", "thoughts"]) == ("thoughts", "preamble")
    assert parse_cleaning("none") == parse_cleaning([]) == parse_cleaning(None) == ()
    with pytest.raises(RecipeError, match=r"not 'thought'\. Did you mean .?thoughts"):
        parse_cleaning("thought")
