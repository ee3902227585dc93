"""Content kept: how much of the reference's content a summary has, above what a text about something else would have.

Let R be the recall of a summary against the article's first reference. The floor F is the mean of its recalls against
references of twelve other articles. Then

    kept = (R - F) / (1 - F)

A text about something else has about 0, and the whole reference has 1. A plain difference R - F would favour long
summaries, whose floor is higher.

The recall of `kept` is that of BERTScore (Zhang et al. 2020, section 3) with two changes, which make it agree better
with people (`python -m bench.kept_weights`). Each token of the reference is weighted by how rare it is in the
references of the panel (idf), so "the" weighs nothing. Tokens are matched by the mean of two cosines: one in
BERTScore's layer, and one in layer 0, the embeddings, where a token has seen no other token. `kept_words` needs no
model: its recall is the share of the reference's distinct tokens that the summary has, also weighted by idf.

Recall is a weighted sum over the reference's tokens, so it can be split by the kind of word that a token belongs to
(`nws.core.text.word_kinds`). For article i and kind k, let s be the weight of the reference's tokens of this kind, as a
share of the weight of all its tokens. Let R be the weighted recall of these tokens, and F that of the tokens of this
kind in the twelve other references, taken together. Of kind k, a system keeps over all articles

    sum s (R - F) / sum s (1 - F)

An article is left out if its reference, or all twelve others, lack the kind. Each kind is a share of its own ceiling,
so the kinds do not add up to content kept.

The floor of an article depends on its dataset alone, and not on the other articles of its bundle. The twelve others are
chosen by their content from a panel, which is chosen by content from all articles that a run has of the dataset.

Neither metric measures truth: with one "not" added, a reference keeps 99 % of its content, with changed numbers 97 %.
"""

import functools
import hashlib
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nws.core.article import Article
from nws.core.errors import CorpusError
from nws.core.metrics.config import BertScoreConfig, Options, text_tokenizer
from nws.core.metrics.metric import FloatArray, Row, RowMetric
from nws.core.text.length import idf_of
from nws.core.text.near_copies import are_near_copies
from nws.core.text.word_kinds import KIND_TERMS, KINDS, find_kinds, load_tagger

if TYPE_CHECKING:  # importing PyTorch takes seconds, and `kept_words` does not need it
    from nws.core.metrics.bertscore import BertScorer, Reference
    from nws.core.models.tokens import IntArray

PANEL = 256
"""The most articles of a dataset from which others are chosen. Each process embeds their references once."""
DISTRACTORS = 12
"""The number of other articles for each article.

On dialogues, shares differ by up to 0.1 points from those with 24 others. With 6 others they differ by up to 0.2.
"""
KEPT_SIGNATURE = f"ref:first|F:mean over {DISTRACTORS} references of other articles from a panel of {PANEL}|(R-F)/(1-F)"
KEPT_RECALL = "R:recall by idf of tokens, mean cosine of layer 0 and the layer"


@dataclass(frozen=True, slots=True)
class Panel:
    """Articles of one dataset, in the order of their ids. The others of each article are chosen from them."""

    dataset: str
    articles: tuple[Article, ...]

    @property
    def sha256(self) -> str:
        """64 hex digits. Scores of one text by panels with the same hash are the same."""
        ids = [self.dataset, *(article.id for article in self.articles)]
        return hashlib.sha256("\n".join(ids).encode("utf-8", "surrogatepass")).hexdigest()


def draw_panel(dataset: str, articles: Iterable[Article]) -> Panel:
    """Choose the `PANEL` articles with the smallest ids.

    Ids are hashes of the content, so the order of the articles does not matter. An article without a reference is never
    chosen, since it fails in a run.
    """
    with_reference = (article for article in articles if article.references)
    return Panel(dataset, tuple(sorted(with_reference, key=lambda article: article.id)[:PANEL]))


def by_dataset(panels: Iterable[Panel]) -> Mapping[str, Panel]:
    """Map each dataset to its panel. A dataset without a panel has one without articles."""
    return defaultdict(lambda: Panel("", ()), {panel.dataset: panel for panel in panels})


def first_references(panel: Panel) -> list[str]:
    """Return the first reference of each article. Tokens are weighted by these."""
    return [article.references[0] for article in panel.articles]


def draw_distractors(article: Article, panel: Panel) -> tuple[Article, ...]:
    """Choose the articles whose references measure an article's floor: at most `DISTRACTORS`, by their content.

    None of them tells the same as the article (`is_same_story`). There may be none.
    """
    drawn = sorted(panel.articles, key=functools.partial(_place, article))
    return tuple(itertools.islice((other for other in drawn if not is_same_story(article, other)), DISTRACTORS))


def _place(article: Article, other: Article) -> bytes:
    return hashlib.blake2b(f"{article.content_hash}{other.content_hash}".encode(), digest_size=8).digest()


def is_same_story(article: Article, other: Article) -> bool:
    """Return whether another article has this one's text or reference, or nearly its text.

    Its reference then says nothing about the floor.
    """
    if article.content_hash == other.content_hash or article.references[0] == other.references[0]:
        return True
    return are_near_copies(article, other)


_FILE = "file"
# The rows whose token vectors are in memory at a time.
_ROWS_AT_ONCE = 256
# From a text to its distinct tokens.
Tokens = Callable[[str], AbstractSet[str]]


def kept(recalls: Sequence[float]) -> float:
    """Return content kept, given the recall against an article's own reference, then those against the others'.

    It is at most 1. It is below 0 if the summary recalls other references better. It is at least -1, since a floor
    close to 1, as that of references of one word, leaves too little above it to divide by.
    """
    own, floor = recalls[0], math.fsum(recalls[1:]) / len(recalls[1:])
    return max(-1.0, (own - floor) / (1 - floor)) if floor < 1 else 0.0


def kept_by_kind(values: FloatArray) -> dict[str, float]:
    """Return the terms of both sums for each kind that an article has, by `KIND_TERMS`.

    Args:
        values: (4 · kinds,): for each kind, the weighted recall of the reference's tokens times their weight; the same
            for the others' tokens; the weight of the reference's tokens; and that of the others' tokens.
    """
    own, others_own, share, weight = np.split(values, 4)
    has = (share > 0) & (weight > 0)
    floor = share * others_own / np.where(has, weight, 1)
    terms = np.concatenate([own - floor, share - floor]).tolist()
    return {KIND_TERMS[i]: terms[i] for i in np.flatnonzero(np.tile(has, 2)).tolist()}


class WordsKept:
    """Measures the content words that summaries keep, and chooses the other articles for the floor.

    Args:
        panels: one panel for each dataset. Articles of other datasets have no others.
        tokens: the function from a text to its distinct tokens.
    """

    def __init__(self, panels: Sequence[Panel], tokens: Tokens) -> None:
        self._panels = by_dataset(panels)
        self._tokens = tokens
        self._idf = functools.cache(lambda dataset: idf_of([*map(tokens, first_references(self._panels[dataset]))]))
        # The summaries of an article come one after the other, and a bundle has few articles.
        self._others = functools.lru_cache(maxsize=1_024)(lambda one: draw_distractors(one, self._panels[one.dataset]))
        self._own_first = functools.lru_cache(maxsize=64)(self._weigh_references)
        self._weighed = functools.lru_cache(maxsize=4_096)(self._weigh)

    def words(self, article: Article, summary: str) -> float:
        """Return `kept_words` of a summary of an article that has others."""
        tokens = self._tokens(summary)
        return kept([weighed.recall(tokens) for weighed in self._own_first(article)])

    def nearest_reference(self, article: Article) -> str:
        """Return the reference of another article that is most similar to this article's text.

        Similarity is the cosine of the tokens' idf. What this reference keeps is what the topic alone tells: what one
        knows about an article from other news. It is empty where there are no others.
        """
        tokens = self._tokens(article.text)

        def unlikeness(other: Article) -> float:
            return -self._weighed(article.dataset, other.references[0]).likeness(tokens)

        # `is_same_story` takes longer than the similarity, so it is asked of the most similar articles first.
        likest_first = sorted(self._panels[article.dataset].articles, key=unlikeness)
        return next((other.references[0] for other in likest_first if not is_same_story(article, other)), "")

    def _weigh_references(self, article: Article) -> "list[_Weighed]":
        """Weight the article's own first reference, then those of its others."""
        own_first = (article, *self._others(article))
        return [self._weighed(article.dataset, one.references[0]) for one in own_first]

    def _weigh(self, dataset: str, reference: str) -> "_Weighed":
        idf, unseen = self._idf(dataset), math.log(len(self._panels[dataset].articles) + 1)
        return _Weighed({token: idf.get(token, unseen) for token in self._tokens(reference)})


class KeptScorer(WordsKept):
    """Measures content kept by BERTScore, besides content words kept.

    A process embeds the references of a panel once, all together. On a GPU, the last bits of a vector depend on the
    other texts of its pass. So embedding them together makes the vectors the same for any bundles and any order.

    Args:
        panels, tokens: as for `WordsKept`.
        scorer: the scorer of BERTScore.
        kinds: the signature of the kinds of words to tell (`nws.core.text.word_kinds`), or "" for none.

    Attributes:
        token_idf: the function from a dataset to the idf of each token of the vocabulary, (vocabulary,), among the
            references of its panel.
    """

    def __init__(self, panels: Sequence[Panel], scorer: "BertScorer", tokens: Tokens, kinds: str = "") -> None:
        super().__init__(panels, tokens)
        self._tag = load_tagger(kinds) if kinds else None
        self._scorer = scorer
        self._panel_embedded = functools.cache(self._embed_panel)
        self.token_idf = functools.cache(lambda dataset: scorer.idf(first_references(self._panels[dataset])))

    def against(self, articles: Iterable[Article]) -> "dict[Article, tuple[Reference, ...]]":
        """Map each article that has others to its first reference, followed by those of the others, embedded.

        The article's own reference is embedded if the panel has it, since it then serves other articles, too. Otherwise
        it is the text.
        """
        against = {}
        for article in dict.fromkeys(articles):
            if chosen := self._others(article):
                embedded, own = self._panel_embedded(article.dataset), article.references[0]
                against[article] = embedded.get(own, own), *(embedded[other.references[0]] for other in chosen)
        return against

    def token_kinds(self, article: Article) -> "tuple[IntArray, ...]":
        """Return the kinds of the tokens of an article's own first reference and of its others', as in `Crossing`.

        The tuple is empty where kinds are not told.
        """
        if self._tag is None:
            return ()
        own, *of_others = (
            self._scorer.token_kinds(one.references[0], self._tag) for one in (article, *self._others(article))
        )
        return own, *(kinds + len(KINDS) for kinds in of_others)

    def _embed_panel(self, dataset: str) -> "Mapping[str, Reference]":
        """Embed the references of a panel, by their text. One without words stays an empty text."""
        from nws.core.models.batching import equal_length_batches

        references = list(dict.fromkeys(first_references(self._panels[dataset])))
        vectors = self._scorer.embed([text.strip() for text in references], equal_length_batches)
        return {text: "" if tokens is None else tokens for text, tokens in zip(references, vectors, strict=True)}


class _Weighed:
    """A reference as the idf of each of its distinct tokens. Many texts are compared with it.

    Sums are exact (fsum). Sets have another order in each process, and ordinary sums would depend on it.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = weights
        self._sum = math.fsum(weights.values())
        self._length = math.sqrt(math.fsum(weight**2 for weight in weights.values()))

    def recall(self, tokens: AbstractSet[str]) -> float:
        """Return the share of the weights that `tokens` have; 0 where all weights are 0."""
        weights = self._weights
        return math.fsum([weights[token] for token in tokens if token in weights]) / self._sum if self._sum else 0.0

    def likeness(self, tokens: AbstractSet[str]) -> float:
        """Return the cosine with a text that has `tokens`, up to a factor that depends on that text alone."""
        common = math.fsum([weight**2 for token, weight in self._weights.items() if token in tokens])
        return common / self._length if common else 0.0


def make_kept(name: str, options: Options) -> RowMetric:
    """Make content kept by BERTScore with the options' backbone, for the rows of a file.

    The other articles are the other documents of the file (`with_distractors`), so a score depends on all rows.

    Raises:
        RecipeError, ModelError: as for BERTScore.
    """
    from nws.core.metrics.model_metric import bertscore_config

    config = bertscore_config(options)

    def measure(rows: Sequence[Row]) -> Sequence[float]:
        return _measured(config, kinds_of(options), tuple(rows))[0]

    return RowMetric(name, f"{name}|{KEPT_SIGNATURE}|{KEPT_RECALL} of {config.signature}", measure)


def kinds_of(options: Options) -> str:
    """Return the signature of the kinds of words that are told for texts with these options, or "" for none."""
    return "" if options.tokenizer not in (None, "rouge_score") else find_kinds("ko" if options.lang == "ko" else "en")


def kind_terms(options: Options, rows: Sequence[Row]) -> FloatArray:
    """Return the `KIND_TERMS` of the rows of a file, (rows, 2 · kinds); NaN for a kind that a row lacks.

    Raises:
        RecipeError, ModelError: as for BERTScore.
    """
    from nws.core.metrics.model_metric import bertscore_config

    return _measured(bertscore_config(options), kinds_of(options), tuple(rows))[1]


@functools.lru_cache(maxsize=2)  # first content kept and then its kinds are asked for, of the same rows
def _measured(config: BertScoreConfig, kinds: str, rows: tuple[Row, ...]) -> tuple[list[float], FloatArray]:
    """Return content kept, and the `KIND_TERMS`, of the rows of a file."""
    from nws.core.arithmetic import one_thread
    from nws.core.metrics.model_metric import loaded_bertscore

    articles, panel = with_distractors(rows)
    scorer = loaded_bertscore(config)
    measured = KeptScorer((panel,), scorer, lambda text: frozenset(), kinds)
    idf = measured.token_idf(panel.dataset)
    values, terms = list[float](), np.full((len(rows), len(KIND_TERMS)), math.nan)
    with one_thread():
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            batch = articles[start : start + _ROWS_AT_ONCE]
            against = measured.against(batch)
            texts = zip(rows[start:], batch, strict=False)
            crossed = [
                ((row.prediction,), against[article], idf, measured.token_kinds(article)) for row, article in texts
            ]
            for article, (of_text,) in zip(batch, scorer.recalls(crossed), strict=True):
                recalls, by_kind = np.split(of_text, [len(against[article])])
                found = kept_by_kind(by_kind)
                terms[len(values)] = [found.get(name, math.nan) for name in KIND_TERMS]
                values.append(kept(recalls.tolist()))
    return values, terms


def make_kept_words(name: str, options: Options) -> RowMetric:
    """Make content words kept, which needs no model, for the rows of a file."""
    tokenizer = text_tokenizer(options)

    def measure(rows: Sequence[Row]) -> list[float]:
        articles, panel = with_distractors(rows)
        tokens = functools.lru_cache(maxsize=4_096)(lambda text: frozenset(tokenizer.tokenize(text)))
        measured = WordsKept((panel,), tokens)
        return [measured.words(article, row.prediction) for row, article in zip(rows, articles, strict=True)]

    signature = f"{name}|{KEPT_SIGNATURE}|R:recall of distinct tokens by idf|{tokenizer.signature}"
    return RowMetric(name, signature, measure)


def with_distractors(rows: Sequence[Row]) -> tuple[list[Article], Panel]:
    """Return the document of each row as an article, and the panel from which others are chosen.

    Rows with the same source belong to one document. Without sources, rows with the same references do.

    Raises:
        CorpusError: a row has no others, since all rows belong to one document or have one reference.
    """
    articles = [Article(_FILE, "", "", row.source or "\n".join(row.references), row.references) for row in rows]
    # If rows of one document have different references, the panel has one of them, whatever the order of rows.
    by_text = {article.text: article for article in sorted(set(articles), key=lambda a: a.references, reverse=True)}
    panel = draw_panel(_FILE, by_text.values())
    for article in dict.fromkeys(articles):
        if not draw_distractors(article, panel):
            raise CorpusError(
                f"Content kept is measured against references of other documents, and {article.references[0][:60]!r} "
                "has none beside it: score rows of two documents or more, or leave out kept and kept_words.",
                settings=("metrics",),
            )
    return articles, panel
