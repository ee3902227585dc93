"""The same sweep in several ways, each from the texts of articles to rows in a SQLite file.

They cut and compose alike. They differ in how texts are embedded and scored, and in who stores the rows.
"""

import contextlib
import math
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from bert_score import BERTScorer
from rich.console import Console
from rouge_score.rouge_scorer import RougeScorer
from sentence_transformers import SentenceTransformer

from nws.cluster.article_work import Work
from nws.core import arithmetic
from nws.core.arithmetic import find_device
from nws.core.article import Article, SegmentedArticle
from nws.core.metrics.rouge import VARIANTS
from nws.core.models import model_folder
from nws.core.models.encoders import FloatArray
from nws.core.stage import Stage
from nws.core.sweep import BeginEncode, Sweeper, embed, write
from nws.core.text.word_kinds import find_kinds
from nws.core.types import Score
from nws.core.worker_factories import make_segmenter
from nws.jobs.drive import driver
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import open_store

CPU = find_device("cpu")


@dataclass(frozen=True, slots=True)
class Row:
    """One scored summary."""

    article_id: str
    system: str
    n: int
    text: str
    bertscore: Score
    rouge: tuple[Score, ...]


COLUMNS = (
    *("article_id", "system", "n", "text"),
    *(
        f"{metric}_{part}"
        for metric in ("bertscore", *map(str.lower, VARIANTS))
        for part in ("precision", "recall", "f1")
    ),
)
# From an empty folder to a SQLite file in it with a table `summaries`.
Arm = Callable[[Path], Path]


def read_rows(path: Path) -> list[Row]:
    """What an arm has stored, by article, system and n."""
    with sqlite3.connect(path) as connection:
        found = connection.execute(f"SELECT {', '.join(COLUMNS)} FROM summaries ORDER BY article_id, system, n")
        rows = []
        for article_id, system, n, text, *scores in found:
            bertscore, *rouge = (Score(*scores[i : i + 3]) for i in (0, 3, 6, 9))
            rows.append(Row(article_id, system, n, text, bertscore, tuple(rouge)))
        return rows


def load_arms(plan: Plan) -> dict[str, Arm]:
    """Every arm by name, its models loaded. The last one is there only where oneDNN is used."""
    libraries = Libraries(plan)
    arms = {"NAIVE": libraries.one_at_a_time, "LIB": libraries.all_at_once, "NWS": nws(plan)}
    if arithmetic.onednn_is_faster():
        with mock.patch.object(arithmetic, "onednn_is_faster", return_value=False):
            arms["NWS without oneDNN"] = nws(plan)
    return arms


def stage_of(plan: Plan) -> Stage:
    """The one stage of a run, with the articles that content kept compares with, and the kinds of words it tells."""
    (stage,) = plan.with_panels(find_kinds(plan.language)).stages
    return stage


def nws(plan: Plan, sweeper: Sweeper | None = None) -> Arm:
    """A run as `nws submit phase1 --engine inline` drives it, but for models that are loaded before."""
    stage = stage_of(plan)
    segmenter = make_segmenter(stage)
    sweeper = sweeper or Sweeper(stage, CPU)

    def run(folder: Path) -> Path:
        with open_store(f"sqlite:///{folder}/nws.db") as store:
            outcome = driver.start(
                store, plan, "inline", Console(quiet=True), lambda *_: Work(lambda: segmenter, lambda: sweeper)
            )
        assert (outcome.state, outcome.failures) == ("done", 0), outcome
        return folder / "nws.db"

    return run


class Libraries:
    """sentence-transformers, bert-score and rouge-score, as their documentation calls them.

    `batch_size` is that of `encode`; the default is the library's own. `score` of bert-score takes 64.
    """

    def __init__(self, plan: Plan, device: torch.device = CPU, batch_size: int = 32) -> None:
        self._plan, self._stage, self._batch_size = plan, stage_of(plan), batch_size
        bertscore, rouge = self._stage.metrics.bertscore, self._stage.metrics.rouge
        self._segment = make_segmenter(self._stage)
        self._encoders = {
            ref.name: SentenceTransformer(str(model_folder(ref)), device=str(device)) for ref in self._stage.encoders
        }
        self._bertscore = BERTScorer(
            str(model_folder(bertscore.model)), num_layers=bertscore.num_layers, device=str(device)
        )
        self._rouge = RougeScorer(list(VARIANTS), use_stemmer=rouge.stemmer)

    def one_at_a_time(self, folder: Path) -> Path:
        """As a notebook does it: `encode` for each text, `score` for each summary."""

        def one_by_one(model: SentenceTransformer) -> Callable[[Sequence[str]], FloatArray]:
            return lambda texts: np.stack([model.encode(text, show_progress_bar=False) for text in texts])

        rows = self._sweep(
            self._articles(), one_by_one, lambda pairs: [score for pair in pairs for score in self._bertscores([pair])]
        )
        return _stored(rows, folder / "libraries.db")

    def all_at_once(self, folder: Path) -> Path:
        """As the libraries are meant to be used: one `encode` for all texts, one `score` for all summaries."""
        return _stored(self.rows(self._articles()), folder / "libraries.db")

    def rows(self, articles: Sequence[SegmentedArticle]) -> list[Row]:
        """All at once, of articles that are segmented, without storing anything."""

        def together(model: SentenceTransformer) -> Callable[[Sequence[str]], FloatArray]:
            return lambda texts: model.encode(list(texts), batch_size=self._batch_size, show_progress_bar=False)

        return self._sweep(articles, together, self._bertscores)

    def _articles(self) -> list[SegmentedArticle]:
        return [self._segment(article) for corpus in self._plan.corpora for article in corpus]

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
        """Where a system drew several texts, the scores are means over them, as in a run."""
        encoders = {name: _at_once(encode(model)) for name, model in self._encoders.items()}
        written = write(embed(articles, encoders, _no_oracle, _no_anchor), self._stage)
        pairs = [(text, ref) for article, _, draft in written for text in draft.texts for ref in article.references]
        scores = iter(bertscores(pairs))
        rows = []
        for article, system, draft in written:
            found = [max((next(scores) for _ in article.references), key=lambda score: score.f1) for _ in draft.texts]
            rouge = [self._rouge.score_multi(list(article.references), text) for text in draft.texts]
            by_variant = tuple(_mean([Score(*one[name]) for one in rouge]) for name in VARIANTS)
            rows.append(Row(article.id, system, draft.n, draft.text, _mean(found), by_variant))
        return rows


def _at_once(encode: Callable[[Sequence[str]], FloatArray]) -> BeginEncode:
    def begin(texts: Sequence[str]) -> Callable[[], FloatArray]:
        embeddings = encode(texts)
        return lambda: embeddings

    return begin


def _mean(scores: Sequence[Score]) -> Score:
    return Score(*(math.fsum(values) / len(scores) for values in zip(*map(astuple, scores), strict=True)))


def _stored(rows: Sequence[Row], path: Path) -> Path:
    values = [
        (
            row.article_id,
            row.system,
            row.n,
            row.text,
            *(v for score in (row.bertscore, *row.rouge) for v in astuple(score)),
        )
        for row in rows
    ]
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE summaries ({', '.join(COLUMNS)})")
        connection.executemany(f"INSERT INTO summaries VALUES ({', '.join('?' * len(COLUMNS))})", values)
    return path


def _no_oracle(article: Article, texts: Sequence[str]) -> list[float]:
    raise AssertionError("no system of the bench asks the reference")


def _no_anchor(anchor: str, texts: Sequence[str]) -> list[float]:
    raise AssertionError("no system of the bench asks for an anchor")
