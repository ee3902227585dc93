"""Content kept: how much of the reference's content a summary has, above what any text of its kind would have.

Of a summary of an article, with its recall R against the article's first reference and the floor F, the mean of its
recall against references of twelve other articles:

    kept = (R - F) / (1 - F)

0 is what a text about something else gets, 1 the whole reference. A plain difference would favour long summaries, whose
floor is higher. `kept` takes the recall of BERTScore (Zhang et al. 2020, section 3), with two changes, by which it
agrees better with people (`python -m bench.kept_weights`). Each token of the reference is weighed by how rare it is in
the references of the panel (idf), so that "the" weighs nothing. Tokens are matched by the mean of two cosines: that of
BERTScore's layer, and that of layer 0, the embeddings, where a token has seen no other one. `kept_words` needs no
model: its recall is the share of the reference's distinct tokens that the summary has, weighed by idf, too.

Recall is a weighted sum over the reference's tokens, so it splits by the kind of word that a token belongs to
(`nws.core.text.word_kinds`). For article i and kind k, let s be the share of the reference's weight that its tokens of
this kind have, R the weighted recall of these tokens, and F that of the tokens of this kind in the twelve other
references, taken together. Of kind k, systems keep over all articles

    sum s (R - F) / sum s (1 - F)

An article whose reference, or whose others, lack the kind is left out. Each kind is a share of its own ceiling, so the
kinds do not add up to content kept.

The floor of an article depends on its dataset alone, and not on what else is in its bundle: its others are drawn by
content from a panel, which is drawn by content from all articles that a run has of the dataset.

Neither is a measure of truth: with "not" put in, a summary keeps 99 % of its content, with changed numbers 97 %.
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

if TYPE_CHECKING:  # PyTorch takes seconds, which content words need not wait for
    from nws.core.metrics.bertscore import BertScorer, Reference
    from nws.core.models.tokens import IntArray

PANEL = 256
"""Articles of a dataset whose references may be others. Each process embeds them once."""
DISTRACTORS = 12
"""Of each article. On dialogues, shares differ by up to 0.1 points from those with 24, and with 6 by up to 0.2."""
KEPT_SIGNATURE = (
    f"ref:first|floor:mean of {DISTRACTORS} references of other articles, of {PANEL} drawn by content|(R-F)/(1-F)"
)
KEPT_RECALL = "R:recall by idf of tokens, mean cosine of layer 0 and the layer"


@dataclass(frozen=True, slots=True)
class Panel:
    """Articles of one dataset, in the order of their ids. An article's others are drawn from them."""

    dataset: str
    articles: tuple[Article, ...]

    @property
    def sha256(self) -> str:
        """64 hex digits. Scores of one text by panels with the same hash are the same."""
        ids = [self.dataset, *(article.id for article in self.articles)]
        return hashlib.sha256("\n".join(ids).encode("utf-8", "surrogatepass")).hexdigest()


def draw_panel(dataset: str, articles: Iterable[Article]) -> Panel:
    """The `PANEL` articles with the smallest ids, which are hashes of the content: their order does not matter.

    An article without a reference, which fails in a run, is none of them.
    """
    with_reference = (article for article in articles if article.references)
    return Panel(dataset, tuple(sorted(with_reference, key=lambda article: article.id)[:PANEL]))


def by_dataset(panels: Iterable[Panel]) -> Mapping[str, Panel]:
    """The panel of each dataset; one without articles for a dataset that has none."""
    return defaultdict(lambda: Panel("", ()), {panel.dataset: panel for panel in panels})


def first_references(panel: Panel) -> list[str]:
    """The reference of each article, by which tokens are weighed."""
    return [article.references[0] for article in panel.articles]


def draw_distractors(article: Article, panel: Panel) -> tuple[Article, ...]:
    """The articles with whose references an article's floor is measured, at most `DISTRACTORS`, drawn by content.

    None of them tells the same: has its text or its reference, or nearly its text. There may be none.
    """
    drawn = sorted(panel.articles, key=functools.partial(_place, article))
    return tuple(itertools.islice((other for other in drawn if not is_same_story(article, other)), DISTRACTORS))


def _place(article: Article, other: Article) -> bytes:
    return hashlib.blake2b(f"{article.content_hash}{other.content_hash}".encode(), digest_size=8).digest()


def is_same_story(article: Article, other: Article) -> bool:
    """Whether another article has this one's text or its reference, or nearly its text: it shows nothing then."""
    if article.content_hash == other.content_hash or article.references[0] == other.references[0]:
        return True
    return are_near_copies(article, other)


_FILE = "file"
# Rows whose token vectors are held at a time.
_ROWS_AT_ONCE = 256
# From a text to its distinct tokens.
Tokens = Callable[[str], AbstractSet[str]]


def kept(recalls: Sequence[float]) -> float:
    """Content kept, from the recall against an article's own reference and then those against others'.

    At most 1; below 0 where texts about something else are recalled better. It ends at -1: a floor next to 1, as of
    references of one word, leaves too little above it to divide by.
    """
    own, floor = recalls[0], math.fsum(recalls[1:]) / len(recalls[1:])
    return max(-1.0, (own - floor) / (1 - floor)) if floor < 1 else 0.0


def kept_by_kind(values: FloatArray) -> dict[str, float]:
    """The terms of both sums for each kind that an article has, by `KIND_TERMS`.

    Args:
        values: (4 · kinds,): of the reference's tokens of each kind the weighted recall times their weight, the same of
            the others' tokens, then both weights.
    """
    own, others_own, share, weight = np.split(values, 4)
    has = (share > 0) & (weight > 0)
    floor = share * others_own / np.where(has, weight, 1)
    terms = np.concatenate([own - floor, share - floor]).tolist()
    return {KIND_TERMS[i]: terms[i] for i in np.flatnonzero(np.tile(has, 2)).tolist()}


class WordsKept:
    """Content words kept by summaries, and the other articles that the floor is measured with.

    Args:
        panels: one for each dataset; of articles of other datasets nothing is said.
        tokens: the distinct tokens of a text.
    """

    def __init__(self, panels: Sequence[Panel], tokens: Tokens) -> None:
        self._panels = by_dataset(panels)
        self._tokens = tokens
        self._idf = functools.cache(lambda dataset: idf_of([*map(tokens, first_references(self._panels[dataset]))]))
        # The summaries of an article follow each other, and a bundle has few articles.
        self._others = functools.lru_cache(maxsize=1_024)(lambda one: draw_distractors(one, self._panels[one.dataset]))
        self._own_first = functools.lru_cache(maxsize=64)(self._weigh_references)
        self._weighed = functools.lru_cache(maxsize=4_096)(self._weigh)

    def words(self, article: Article, summary: str) -> float:
        """`kept_words` of a summary of an article that has others."""
        tokens = self._tokens(summary)
        return kept([weighed.recall(tokens) for weighed in self._own_first(article)])

    def nearest_reference(self, article: Article) -> str:
        """The reference of the other article that is most like this one's text, by the cosine of their tokens' idf.

        What it keeps is the level of the topic: what one knows of an article from what else is in the news. It is empty
        where there are no others.
        """
        tokens = self._tokens(article.text)

        def unlikeness(other: Article) -> float:
            return -self._weighed(article.dataset, other.references[0]).likeness(tokens)

        # Whether one tells the same takes longer to find out than how like it is, so the likest are asked first.
        likest_first = sorted(self._panels[article.dataset].articles, key=unlikeness)
        return next((other.references[0] for other in likest_first if not is_same_story(article, other)), "")

    def _weigh_references(self, article: Article) -> "list[_Weighed]":
        """The article's own first reference, then those of its others."""
        own_first = (article, *self._others(article))
        return [self._weighed(article.dataset, one.references[0]) for one in own_first]

    def _weigh(self, dataset: str, reference: str) -> "_Weighed":
        idf, unseen = self._idf(dataset), math.log(len(self._panels[dataset].articles) + 1)
        return _Weighed({token: idf.get(token, unseen) for token in self._tokens(reference)})


class KeptScorer(WordsKept):
    """Content kept by BERTScore, besides content words kept.

    The references of a panel are embedded once in a process, all together. On a GPU a vector's last bits depend on what
    else is in its pass. So they are the same whichever bundles this process gets, and in whatever order.

    Args:
        panels, tokens: as of `WordsKept`.
        scorer: of BERTScore.
        kinds: the signature of the kinds of words to tell (`nws.core.text.word_kinds`), "" for none.

    Attributes:
        token_idf: from a dataset to the idf of each token of the vocabulary among the references of its panel,
            (vocabulary,).
    """

    def __init__(self, panels: Sequence[Panel], scorer: "BertScorer", tokens: Tokens, kinds: str = "") -> None:
        super().__init__(panels, tokens)
        self._tag = load_tagger(kinds) if kinds else None
        self._scorer = scorer
        self._panel_embedded = functools.cache(self._embed_panel)
        self.token_idf = functools.cache(lambda dataset: scorer.idf(first_references(self._panels[dataset])))

    def against(self, articles: Iterable[Article]) -> "dict[Article, tuple[Reference, ...]]":
        """For each article that has others: its first reference, then those of the others, embedded.

        The first is embedded where the panel has it, since it is another's then, too; else it is the text.
        """
        against = {}
        for article in dict.fromkeys(articles):
            if chosen := self._others(article):
                embedded, own = self._panel_embedded(article.dataset), article.references[0]
                against[article] = embedded.get(own, own), *(embedded[other.references[0]] for other in chosen)
        return against

    def token_kinds(self, article: Article) -> "tuple[IntArray, ...]":
        """The kinds of the tokens of an article's own first reference and of its others', as `Crossing` numbers them.

        None where kinds are not told.
        """
        if self._tag is None:
            return ()
        own, *of_others = (
            self._scorer.token_kinds(one.references[0], self._tag) for one in (article, *self._others(article))
        )
        return own, *(kinds + len(KINDS) for kinds in of_others)

    def _embed_panel(self, dataset: str) -> "Mapping[str, Reference]":
        """The references of a panel by their text; one without words is the empty text."""
        from nws.core.models.batching import equal_length_batches

        references = list(dict.fromkeys(first_references(self._panels[dataset])))
        vectors = self._scorer.embed([text.strip() for text in references], equal_length_batches)
        return {text: "" if tokens is None else tokens for text, tokens in zip(references, vectors, strict=True)}


class _Weighed:
    """A reference as the idf of each of its distinct tokens. Many texts are compared with it.

    Sums are exact (fsum): sets have another order in each process, and other sums would depend on it.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = weights
        self._sum = math.fsum(weights.values())
        self._length = math.sqrt(math.fsum(weight**2 for weight in weights.values()))

    def recall(self, tokens: AbstractSet[str]) -> float:
        """The share of the weights that `tokens` have; 0 where nothing weighs anything."""
        weights = self._weights
        return math.fsum([weights[token] for token in tokens if token in weights]) / self._sum if self._sum else 0.0

    def likeness(self, tokens: AbstractSet[str]) -> float:
        """The cosine with a text that has `tokens`, up to a factor that this text decides alone."""
        common = math.fsum([weight**2 for token, weight in self._weights.items() if token in tokens])
        return common / self._length if common else 0.0


def make_kept(name: str, options: Options) -> RowMetric:
    """Content kept of BERTScore with the options' backbone, by the rows of a file.

    The other articles are the other documents of the file (`with_distractors`), so the numbers depend on all rows.

    Raises:
        RecipeError, ModelError: as of BERTScore.
    """
    from nws.core.metrics.model_metric import bertscore_config

    config = bertscore_config(options)

    def measure(rows: Sequence[Row]) -> Sequence[float]:
        return _measured(config, kinds_of(options), tuple(rows))[0]

    return RowMetric(name, f"{name}|{KEPT_SIGNATURE}|{KEPT_RECALL} of {config.signature}", measure)


def kinds_of(options: Options) -> str:
    """The signature of the kinds of words that are told of texts with these options, "" for none."""
    return "" if options.tokenizer not in (None, "rouge_score") else find_kinds("ko" if options.lang == "ko" else "en")


def kind_terms(options: Options, rows: Sequence[Row]) -> FloatArray:
    """The `KIND_TERMS` of the rows of a file, (rows, 2 · kinds); NaN of a kind that a row lacks.

    Raises:
        RecipeError, ModelError: as of BERTScore.
    """
    from nws.core.metrics.model_metric import bertscore_config

    return _measured(bertscore_config(options), kinds_of(options), tuple(rows))[1]


@functools.lru_cache(maxsize=2)  # content kept, and then its kinds, are asked for the same rows
def _measured(config: BertScoreConfig, kinds: str, rows: tuple[Row, ...]) -> tuple[list[float], FloatArray]:
    """Content kept, and the `KIND_TERMS`, of the rows of a file."""
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
    """Content words kept, which needs no model, by the rows of a file."""
    tokenizer = text_tokenizer(options)

    def measure(rows: Sequence[Row]) -> list[float]:
        articles, panel = with_distractors(rows)
        tokens = functools.lru_cache(maxsize=4_096)(lambda text: frozenset(tokenizer.tokenize(text)))
        measured = WordsKept((panel,), tokens)
        return [measured.words(article, row.prediction) for row, article in zip(rows, articles, strict=True)]

    signature = f"{name}|{KEPT_SIGNATURE}|R:recall of distinct tokens by idf|{tokenizer.signature}"
    return RowMetric(name, signature, measure)


def with_distractors(rows: Sequence[Row]) -> tuple[list[Article], Panel]:
    """The document of each row, and the panel of those that others are drawn from.

    Rows with the same source are of one document; without sources, those with the same references.

    Raises:
        CorpusError: a row has no others: the rows are of one document, or have one reference.
    """
    articles = [Article(_FILE, "", "", row.source or "\n".join(row.references), row.references) for row in rows]
    # Of rows that have other references of one document, the panel has one, whatever the order of rows.
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
