"""The same sweep in several ways. They differ in how texts are embedded and scored; summaries are composed alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from unittest import mock

import numpy as np
import torch
from bert_score import BERTScorer
from rouge_score.rouge_scorer import RougeScorer
from sentence_transformers import SentenceTransformer

from core import fast_linear
from core.metrics.rouge import VARIANTS
from core.models import model_folder
from core.summarizers.encoders import FloatArray
from core.sweep import Sweeper, SweepPlan, embed, write
from core.types import Article, Score, SegmentedArticle

CPU = torch.device("cpu")


def _no_oracle(article: Article, texts: Sequence[str]) -> list[float]:
    raise AssertionError("no system of the bench asks the reference")


def _no_anchor(anchor: str, texts: Sequence[str]) -> list[float]:
    raise AssertionError("no system of the bench asks for an anchor")


@dataclass(frozen=True, slots=True)
class Row:
    """One scored summary."""

    article_id: str
    system: str
    n: int
    text: str
    bertscore: Score
    rouge: tuple[Score, ...]


Arm = Callable[[Sequence[SegmentedArticle]], list[Row]]


def load_arms(plan: SweepPlan, bundle_size: int) -> dict[str, Arm]:
    """Every arm by name, its models loaded. The last one is there only where oneDNN is used."""
    libraries = Libraries(plan)
    arms = {"NAIVE": libraries.one_at_a_time, "LIB": libraries.all_at_once, "NWS": nws(plan, bundle_size)}
    if fast_linear.onednn_is_faster():
        with mock.patch.object(fast_linear, "onednn_is_faster", return_value=False):
            arms["NWS without oneDNN"] = nws(plan, bundle_size)
    return arms


def nws(plan: SweepPlan, bundle_size: int) -> Arm:
    sweeper = Sweeper(plan, CPU)

    def sweep(articles: Sequence[SegmentedArticle]) -> list[Row]:
        bundles = [articles[i : i + bundle_size] for i in range(0, len(articles), bundle_size)]
        return [
            Row(
                s.article_id,
                s.system,
                s.n,
                s.text,
                s.scores.bertscore,
                (s.scores.rouge1, s.scores.rouge2, s.scores.rougel),
            )
            for bundle in bundles
            for s in sweeper(bundle)
        ]

    return sweep


class Libraries:
    """sentence-transformers, bert-score and rouge-score, as their documentation calls them."""

    def __init__(self, plan: SweepPlan) -> None:
        bertscore, rouge = plan.metrics.bertscore, plan.metrics.rouge
        self._plan = plan
        self._encoders = {ref.name: SentenceTransformer(str(model_folder(ref)), device="cpu") for ref in plan.encoders}
        self._bertscore = BERTScorer(str(model_folder(bertscore.model)), num_layers=bertscore.num_layers, device="cpu")
        self._rouge = RougeScorer(list(VARIANTS), use_stemmer=rouge.stemmer)

    def one_at_a_time(self, articles: Sequence[SegmentedArticle]) -> list[Row]:
        """As a notebook does it: `encode` for each text, `score` for each summary."""

        def one_by_one(model: SentenceTransformer) -> Callable[[Sequence[str]], FloatArray]:
            return lambda texts: np.stack([model.encode(text, show_progress_bar=False) for text in texts])

        return self._sweep(
            articles, one_by_one, lambda pairs: [score for pair in pairs for score in self._bertscores([pair])]
        )

    def all_at_once(self, articles: Sequence[SegmentedArticle]) -> list[Row]:
        """As the libraries are meant to be used: one `encode` for all texts, one `score` for all summaries."""

        def together(model: SentenceTransformer) -> Callable[[Sequence[str]], FloatArray]:
            return lambda texts: model.encode(list(texts), show_progress_bar=False)

        return self._sweep(articles, together, self._bertscores)

    def _bertscores(self, pairs: Sequence[tuple[str, str]]) -> list[Score]:
        candidates, references = zip(*pairs, strict=True)
        found = self._bertscore.score(list(candidates), list(references))
        return [Score(*values) for values in zip(*(part.tolist() for part in found), strict=True)]

    def _sweep(
        self,
        articles: Sequence[SegmentedArticle],
        encode: Callable[[SentenceTransformer], Callable[[Sequence[str]], FloatArray]],
        bertscores: Callable[[Sequence[tuple[str, str]]], list[Score]],
    ) -> list[Row]:
        encoders = {name: encode(model) for name, model in self._encoders.items()}
        documents = embed(articles, encoders, _no_oracle, _no_anchor)
        written = [(a, system, draft.n, draft.text) for a, system, draft in write(documents, self._plan)]
        scores = iter(bertscores([(text, ref) for article, _, _, text in written for ref in article.references]))
        rows = []
        for article, system, n, text in written:
            bertscore = max((next(scores) for _ in article.references), key=lambda score: score.f1)
            found = self._rouge.score_multi(list(article.references), text)
            rouge = tuple(Score(*found[name]) for name in VARIANTS)
            rows.append(Row(article.id, system, n, text, bertscore, rouge))
        return rows
