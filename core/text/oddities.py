"""What is odd in the summaries of one system: empty ones, other languages, a common opening, markup, thoughts left out.

None of it is an error, and all of it moves scores without a word, so each is counted, and said once.
"""

import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from nws.core.text.language import LANGUAGE_NAMES, Language, foreign_language
from nws.core.text.length import bare_words, count_words
from nws.core.text.model_outputs import CUT_THOUGHTS, LOOKS_MARKED, without_thoughts

_OPENING_WORDS = 3
# Of the articles whose summaries begin alike before it is said. Headlines share three words by chance, in twos and
# threes; a model that speaks to its reader does so nearly always.
_LEAST_SHARE, _LEAST_COUNT = 0.1, 5
# Of the length of a reference: the longest sample, and all samples together.
_SAMPLE, _SAMPLES = 0.67, 1.25
_CURE = "All of it is scored; clean_outputs with {} leaves it out."


def told_of(
    whose: str, outputs: Iterable[tuple[str, str, str | None]], language: Language | None, total: int | None = None
) -> Iterator[str]:
    """A sentence for each oddity of summaries.

    Args:
        whose: what they are called: "summaries of p".
        outputs: the article of each, its text, and what the model wrote where that differs; in any order.
        language: that of the articles; None where nobody knows it.
        total: the number of articles that there are.
    """
    counts, foreign, example = Counter[str](), Counter[str](), ""
    cut, begun = list[str](), set[tuple[str, str]]()
    for article, text, raw in outputs:
        counts["all"] += 1
        counts["thoughts"] += raw is not None and without_thoughts(raw) != raw
        cut += [article] * (raw is not None and without_thoughts(raw) is None)
        counts["marked"] += bool(LOOKS_MARKED.search(text))
        counts["empty"] += not count_words(text)
        if language and (code := foreign_language(text, language)):
            foreign[code] += 1
            example = example or reprlib.repr(text)
        begun.add((article, _opening(text)))  # an article may have several summaries, which begin alike
    of_all = f"of {counts['all']} {whose}"
    if counts["thoughts"]:
        yield f"Thoughts were left out of {counts['thoughts']} {of_all}: what stands behind them is scored."
    if cut:
        yield f"Warning: {len(cut)} {of_all}, the first is {cut[0]}, score 0. Each {CUT_THOUGHTS}"
    if counts["empty"]:
        yield f"Warning: {counts['empty']} {of_all} have no word: they score 0, or next to it."
    if language and foreign:
        codes = ", ".join(code for code, _ in foreign.most_common())
        other = f"another language than {LANGUAGE_NAMES[language]} (ISO 639: {codes})"
        yield f"Warning: {foreign.total()} {of_all} may be in {other}, such as {example}."
    articles = len({article for article, _ in begun})
    for opening, count in Counter(opening for _, opening in begun if opening).most_common(1):
        if count >= max(_LEAST_COUNT, _LEAST_SHARE * articles):
            share = f"{count} of {articles}"
            yield f"Warning: {whose}, those of {share} articles, begin with “{opening}”. {_CURE.format('preamble')}"
    if counts["marked"] >= max(_LEAST_COUNT, _LEAST_SHARE * counts["all"]):
        yield f"Warning: {counts['marked']} {of_all} have signs of Markdown. {_CURE.format('markup')}"
    if total and 0 < articles < total:
        yield f"Warning: {whose} cover {articles} of {total} articles: systems are compared on these {articles}."


def told_of_samples(whose: str, lists: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Iterator[str]:
    """A sentence if predictions in lists, each with its references, look like samples and not like sentences of a text.

    The longest of samples is as long as a reference, and all of them are longer together.
    """
    several = [(list(map(count_words, parts)), references) for parts, references in lists if len(parts) > 1]
    alike = 0
    for words, references in several:
        reference = min(map(count_words, references), default=0)
        alike += max(words) >= _SAMPLE * reference and sum(words) >= _SAMPLES * reference
    if 2 * alike > len(several):
        yield (
            f"{len(several)} {whose} are lists, whose texts look like samples. Each list is read as the sentences of "
            "one text. --list-predictions first takes the first text of each."
        )


def _opening(text: str) -> str:
    """The first three words of a longer text, or fewer before a colon ("Summary:"); "" of a short text."""
    head = text[:200]
    words, label = bare_words(head), bare_words(head.partition(":")[0]) if ":" in head else []
    return " ".join(words[: len(label[:_OPENING_WORDS]) or _OPENING_WORDS]) if len(words) > _OPENING_WORDS else ""
