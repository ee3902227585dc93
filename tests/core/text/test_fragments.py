"""Extractive fragments, against the pseudo-code of the paper."""

from hypothesis import given
from hypothesis import strategies as st

from nws.core.text.fragments import coverage_and_density, fragment_lengths

words = st.lists(st.sampled_from("abc"), max_size=30)


def pseudo_code(article: list[str], summary: list[str]) -> list[int]:
    """Figure 3 of Grusky et al. 2018, with indices from 0. A run from i to i' has i' - i words."""
    fragments: list[list[str]] = []
    i = 0
    while i < len(summary):
        fragment: list[str] = []
        j = 0
        while j < len(article):
            if summary[i] == article[j]:
                i_end, j_end = i, j
                while i_end < len(summary) and j_end < len(article) and summary[i_end] == article[j_end]:
                    i_end, j_end = i_end + 1, j_end + 1
                if len(fragment) < i_end - i:
                    fragment = summary[i:i_end]
                j = j_end
            else:
                j += 1
        i += max(len(fragment), 1)
        fragments.append(fragment)
    return [len(fragment) for fragment in fragments if fragment]


@given(words, words)
def test_fragments_are_those_of_the_pseudo_code(article: list[str], summary: list[str]) -> None:
    assert fragment_lengths(article, summary) == pseudo_code(article, summary)


def test_coverage_and_density_are_means_over_the_words_of_the_summary() -> None:
    article = ["snow", "fell", "on", "dover", "and", "trams", "stopped"]
    assert coverage_and_density(article, ["trams", "stopped", "as", "snow", "fell"]) == (4 / 5, (4 + 4) / 5)
    assert coverage_and_density(article, ["rain"]) == (0, 0)
    assert coverage_and_density(article, article) == (1, 7)
