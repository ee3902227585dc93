"""Words with which many articles begin or end: a byline, a row of buttons, a note on who wrote them."""

import itertools
from collections import Counter
from collections.abc import Collection, Iterator

# The share of articles for so many words at one end. Three that a twentieth has in common are there for a reason. Two,
# such as "It was", may be so by chance in a twentieth, and not in a tenth.
_LEAST = {2: 0.1, 3: 0.05}
_FEW = 4
"""Fewer articles than that may be alike by chance."""
_SHOWN = 12


def find_alike(texts: Collection[str]) -> Iterator[str]:
    """What many texts, of which no two are equal, have alike: `12 begin with "By. Daily Mail Reporter."`."""
    for end, step in (("begin", 1), ("end", -1)):
        sides = [tuple(text.split()[::step][:_SHOWN]) for text in texts]
        said = set[tuple[str, ...]]()
        for words, least in _LEAST.items():
            for common, count in Counter(side[:words] for side in sides).items():
                if count >= max(_FEW, least * len(sides)) and common[:2] not in said:
                    said.add(common)
                    places = zip(*(side for side in sides if side[:words] == common), strict=False)
                    shared = [place[0] for place in itertools.takewhile(lambda place: len({*place}) == 1, places)]
                    yield f'{count} {end} with "{" ".join(shared[::step])}"'
