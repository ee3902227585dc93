"""How many words keep how much of the content: as sentences and frames."""

from dataclasses import dataclass
from html import escape

import pandas as pd

from nws.core.analysis.answer import Answer
from nws.jobs.report import kept_answer
from nws.jobs.report.system_names import SystemNames

_SHARE_COLUMNS = ("dataset", "system", "kind", "of", "n", "share", "low", "high", "articles", "words")
_SMALLEST_COLUMNS = (
    *("dataset", "system", "kind", "of", "longest", "x", "n", "low", "high", "claimed", "at"),
    "articles_for_one_step",
)


@dataclass(frozen=True, eq=False, repr=False)
class ShownAnswer:
    """The answer of a run: how many words keep how much of the content, how sure that is, and what would tell more.

    `print` shows the sentences of `nws report`; a notebook does, too.
    """

    _answer: Answer
    _names: SystemNames

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences below the headline of each dataset: at most three systems, what to compare with, what next."""
        return tuple(f"{name}: {text}" for dataset in self._datasets() for name, text in self._said(dataset))

    @property
    def headlines(self) -> tuple[str, ...]:
        """One sentence for each dataset: what the best system keeps."""
        return tuple(map(self._headline, self._datasets()))

    def to_pandas(self) -> pd.DataFrame:
        """A row for each dataset, system, ceiling (`of`) and n: the share of the ceiling with its 95 % interval.

        `of` is the "reference", what another "person" keeps, or what the system's own "longest" n keeps; 1 is all of
        it. `n` is 0 for summaries of a system's own length, such as another person's whole one. `words` is their mean
        number of words.
        """
        return pd.DataFrame(self._answer.share_rows(), columns=_SHARE_COLUMNS)

    def own_length(self) -> pd.DataFrame:
        """Each system `a` at its own length minus each `b` with as many words, a row for each dataset and pair.

        Of `only_a` articles no summary by b is as long: these are left out. `p_holm` is corrected over the rows of a
        dataset.
        """
        return pd.DataFrame(self._answer.own_length_rows())

    def smallest_n(self) -> pd.DataFrame:
        """A row for each dataset, system, ceiling and share `x`: the smallest n from which on that share is kept.

        `low` and `high` are of its 95 % interval, `claimed` is the n that is shown to keep it, as all longer n do. A
        missing one is beyond the longest n. `at` tells an n that is the "longest" or the "shortest" tried. With
        `articles_for_one_step` articles the interval would be one step of n wide.
        """
        frame = pd.DataFrame(self._answer.smallest_rows(), columns=_SMALLEST_COLUMNS)
        frame["at"] = [kept.edge(smallest.n) for kept in self._answer.of_systems for smallest in kept.smallest]
        whole = ("n", "low", "high", "claimed", "articles_for_one_step")
        return frame.astype(dict.fromkeys(whole, "Int64"))

    def __repr__(self) -> str:
        lines = []
        for dataset in self._datasets():
            lines += [self._heading(dataset), self._headline(dataset)]
            lines += [f"{name}: {text}" for name, text in self._said(dataset)]
        return "\n".join([*lines, "", *self._shared(), kept_answer.HOW_SURE, kept_answer.WHAT_IT_IS])

    def _repr_html_(self) -> str:
        parts = []
        for dataset in self._datasets():
            items = "".join(f"<li><b>{escape(name)}</b>: {escape(text)}</li>" for name, text in self._said(dataset))
            title = "<br>".join(map(escape, (self._heading(dataset), self._headline(dataset))))
            parts.append(f"<p><b>{title}</b></p><ul>{items}</ul>")
        notes = escape(" ".join((*self._shared(), kept_answer.HOW_SURE, kept_answer.WHAT_IT_IS)))
        return "".join([*parts, f"<p><small>{notes}</small></p>"])

    def _datasets(self) -> tuple[str, ...]:
        return self._answer.datasets or ("",)

    def _said(self, dataset: str) -> tuple[tuple[str, str], ...]:
        return kept_answer.sentences(self._answer, dataset, self._names)

    def _shared(self) -> list[str]:
        return [f"Systems: {shared}." for shared in self._names.shared]

    def _heading(self, dataset: str) -> str:
        return kept_answer.heading(self._answer, dataset)

    def _headline(self, dataset: str) -> str:
        return kept_answer.headline(self._answer, dataset, self._names)
