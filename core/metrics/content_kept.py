"""Content kept: how much of the reference's content a summary has, above what any text of its kind would have.

Of a summary of an article, with its recall R against the article's first reference and the floor F, the mean of its
recall against references of twelve other articles:

    kept = (R - F) / (1 - F)

0 is what a text about something else gets, 1 the whole reference. A plain difference would favour long summaries, whose
floor is higher. `kept` takes the recall of BERTScore (Zhang et al. 2020, section 3). `kept_words` needs no model: its
recall is the share of the reference's distinct tokens that the summary has, each weighed by how rare it is in
references (idf), so that "the" weighs nothing.

Which articles these are: `core.metrics.panel`.

Neither is a measure of truth: with "not" put in, a summary keeps 99 % of its content, with changed numbers 98 %.
"""

from collections.abc import Iterable, Sequence

from core.batching import equal_length_batches
from core.metrics.bertscore import BertScorer, Reference
from core.metrics.panel import Panel
from core.metrics.words_kept import Tokens, WordsKept
from core.types import Article


class ContentKept(WordsKept):
    """What summaries keep by a model, too. References of others are embedded once, each the same in whatever company.

    Args:
        panels, tokens: as of `WordsKept`.
        scorer: of BERTScore.
    """

    def __init__(self, panels: Sequence[Panel], scorer: BertScorer, tokens: Tokens) -> None:
        super().__init__(panels, tokens)
        self._scorer = scorer
        self._embedded: dict[str, Reference] = {}
        self._first = {panel.dataset: {article.references[0] for article in panel.articles} for panel in panels}

    def against(self, articles: Iterable[Article]) -> dict[Article, tuple[Reference, ...]]:
        """For each article that has others: its first reference, then those of the others, embedded.

        The first is embedded where the panel has it, since it is another's then, too; else it is the text.
        """
        drawn = {article: found for article in dict.fromkeys(articles) if (found := self._others(article))}
        own = [article.references[0] for article in drawn if article.references[0] in self._first[article.dataset]]
        self._embed([*own, *(other.references[0] for found in drawn.values() for other in found)])
        known = {text: self._embedded[text] for text in own}
        return {
            article: (
                known.get(article.references[0], article.references[0]),
                *(self._embedded[other.references[0]] for other in found),
            )
            for article, found in drawn.items()
        }

    def _embed(self, references: Iterable[str]) -> None:
        """Texts of equal length go through the model together, so that each is the same with whatever else is new."""
        new = [text for text in dict.fromkeys(references) if text not in self._embedded]
        vectors = self._scorer.embed([text.strip() for text in new], equal_length_batches)
        self._embedded |= {text: "" if of is None else of for text, of in zip(new, vectors, strict=True)}
