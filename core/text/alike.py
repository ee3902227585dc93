"""Words with which many articles begin or end: a byline, a row of buttons, a note on who wrote them."""

import itertools
from collections import Counter
from collections.abc import Collection, Iterator

_WORDS, _LEAST_SHARE = 3, 0.05
"""Fewer words, such as "It was", a twentieth of articles may share by chance."""
_FEW = 5
"""Fewer articles than that may be alike by chance."""
_SHOWN = 12


def find_alike(texts: Collection[str]) -> Iterator[str]:
    """What many texts, of which no two are equal, have alike: `12 begin with "By. Daily Mail Reporter."`."""
    for end, step in (("begin", 1), ("end", -1)):
        sides = [tuple(text.split()[::step][:_SHOWN]) for text in texts]
        for words, count in Counter(side[:_WORDS] for side in sides).items():
            if count >= max(_FEW, _LEAST_SHARE * len(sides)):
                places = zip(*(side for side in sides if side[:_WORDS] == words), strict=False)
                shared = [place[0] for place in itertools.takewhile(lambda place: len({*place}) == 1, places)]
                yield f'{count} {end} with "{" ".join(shared[::step])}"'
