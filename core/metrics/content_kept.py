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

from collections.abc import Iterable, Mapping, Sequence

from core.batching import equal_length_batches
from core.metrics.bertscore import BertScorer, Reference
from core.metrics.panel import Panel
from core.metrics.words_kept import Tokens, WordsKept
from core.types import Article


class ContentKept(WordsKept):
    """What summaries keep by a model, too.

    The references of a panel are embedded once in a process, all together. On a GPU a vector's last bits depend on what
    else is in its pass. So they are the same whichever bundles this process gets, and in whatever order.

    Args:
        panels, tokens: as of `WordsKept`.
        scorer: of BERTScore.
    """

    def __init__(self, panels: Sequence[Panel], scorer: BertScorer, tokens: Tokens) -> None:
        super().__init__(panels, tokens)
        self._scorer = scorer
        self._embedded: dict[str, Mapping[str, Reference]] = {}  # of each dataset, its panel's references

    def against(self, articles: Iterable[Article]) -> dict[Article, tuple[Reference, ...]]:
        """For each article that has others: its first reference, then those of the others, embedded.

        The first is embedded where the panel has it, since it is another's then, too; else it is the text.
        """
        drawn = {article: found for article in dict.fromkeys(articles) if (found := self._others(article))}
        against = {}
        for article, found in drawn.items():
            embedded, own = self._panel_embedded(article.dataset), article.references[0]
            against[article] = embedded.get(own, own), *(embedded[other.references[0]] for other in found)
        return against

    def _panel_embedded(self, dataset: str) -> Mapping[str, Reference]:
        """A reference without words is the empty text."""
        if dataset not in self._embedded:
            references = list(dict.fromkeys(article.references[0] for article in self._panels[dataset].articles))
            vectors = self._scorer.embed([text.strip() for text in references], equal_length_batches)
            self._embedded[dataset] = {
                text: "" if of is None else of for text, of in zip(references, vectors, strict=True)
            }
        return self._embedded[dataset]
