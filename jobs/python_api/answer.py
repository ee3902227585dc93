"""The answer of a run (how many words keep how much of the content), as sentences and frames."""

from dataclasses import dataclass
from html import escape

import pandas as pd

from nws.jobs.report import wording
from nws.jobs.report.run_report import RunReport

_SHARE_COLUMNS = ("dataset", "system", "kind", "ceiling", "n", "share", "low", "high", "articles", "words")
_KIND_COLUMNS = ("dataset", "system", "n", "kind", "share", "low", "high", "articles")
_SMALLEST_COLUMNS = (
    *("dataset", "system", "kind", "ceiling", "longest", "share", "n", "low", "high", "claimed", "at"),
    "articles_for_one_step",
)


@dataclass(frozen=True, eq=False, repr=False)
class ShownAnswer:
    """The answer of a run: how much of the content n words keep, with confidence intervals, and what to try next.

    `print`, or a notebook, shows the sentences of `nws report`.
    """

    _report: RunReport

    @property
    def sentences(self) -> tuple[str, ...]:
        """The findings on each dataset after its headline, the most important first."""
        return tuple(sentence for dataset in self._datasets() for sentence in self._sentences(dataset))

    @property
    def headlines(self) -> tuple[str, ...]:
        """One or two sentences for each dataset, which say what the best system keeps."""
        return tuple(map(self._headline, self._datasets()))

    def to_pandas(self) -> pd.DataFrame:
        """Return the shares kept, with their 95 % confidence intervals: a row for each dataset, system, ceiling and n.

        `ceiling` says what a share refers to: the content of the "reference", what another "person" keeps, or what
        the system's own "longest" n keeps; 1 is all of it. `n` is 0 for uncut summaries, such as another person's
        whole one. `words` is the mean number of words of the summaries.
        """
        return pd.DataFrame(self._report.document.share_rows(), columns=_SHARE_COLUMNS)

    def by_kind(self) -> pd.DataFrame:
        """Return the share kept of each kind of word, with its 95 % CI, for each dataset, system and n (0: uncut).

        The frame is empty if the run has no kinds of words (docs/metrics.md).
        """
        return pd.DataFrame(self._report.document.kind_rows(), columns=_KIND_COLUMNS)

    def length_matched(self) -> pd.DataFrame:
        """Return the length-matched comparisons: `a` minus `b`, a row for each dataset and pair.

        `only_a` articles are left out, because no summary by b is within 10 % of the length of a's. `p_holm` is
        Holm-corrected over the rows of a dataset.
        """
        return pd.DataFrame([row for pair in self._report.document.length_matched for row in pair.rows()])

    def smallest_n(self) -> pd.DataFrame:
        """Return the smallest n from which on a share is kept: a row for each dataset, system, ceiling and `share`.

        `low` and `high` are the ends of its 95 % confidence interval. `claimed` is the n from which on the share is
        kept with 95 % confidence. A missing value is beyond the longest n. `at` says whether n is the "longest" or the
        "shortest" tried. With `articles_for_one_step` articles, the interval would span two neighbouring n.
        """
        frame = pd.DataFrame(self._report.document.smallest_rows(), columns=_SMALLEST_COLUMNS)
        frame["at"] = [kept.edge(smallest.n) for kept in self._report.document.kept for smallest in kept.smallest]
        whole = ("n", "low", "high", "claimed", "articles_for_one_step")
        return frame.astype(dict.fromkeys(whole, "Int64"))

    def __repr__(self) -> str:
        lines = []
        for dataset in self._datasets():
            lines += [self._heading(dataset), self._headline(dataset), *self._sentences(dataset)]
        return "\n".join([*lines, "", *self._notes()])

    def _repr_html_(self) -> str:
        parts = []
        for dataset in self._datasets():
            items = "".join(f"<li>{escape(text)}</li>" for text in self._sentences(dataset))
            title = "<br>".join(map(escape, (self._heading(dataset), self._headline(dataset))))
            parts.append(f"<p><b>{title}</b></p><ul>{items}</ul>")
        notes = escape(" ".join(self._notes()))
        return "".join([*parts, f"<p><small>{notes}</small></p>"])

    def _datasets(self) -> tuple[str, ...]:
        return tuple(self._report.document.ranking) or ("",)

    def _sentences(self, dataset: str) -> list[str]:
        of = self._report.document, dataset, self._report.names
        return [*wording.sentences(*of), *wording.warning_sentences(*of)]

    def _notes(self) -> list[str]:
        shortened = [f"{note}." for note in self._report.names.shortened]
        return [*shortened, wording.INTERVALS_EXPLAINED, wording.content_kept_explained(self._report.document)]

    def _heading(self, dataset: str) -> str:
        rests_on = wording.articles_and_lengths(self._report.document, dataset)
        return f"{dataset}: how many {self._report.document.unit} keep how much? ({rests_on})".removeprefix(": ")

    def _headline(self, dataset: str) -> str:
        return wording.headline(self._report.document, dataset, self._report.names)
