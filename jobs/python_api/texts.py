"""The metrics of predictions from Python objects, with intervals and signatures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from nws.core.errors import CorpusError, RecipeError
from nws.core.text.length import count_words
from nws.jobs.python_api.arguments import ArgumentConsole, index_of, listed, naming_arguments, plain
from nws.jobs.report.numerals import counted

if TYPE_CHECKING:  # importing these would delay `import nws`
    from nws.core.plugins.load import Judge
    from nws.jobs.tools.check_file import HealthCard
    from nws.jobs.tools.score import FileScore

_COLUMNS = ("metric", "part", "score", "low", "high", "interval", "signature")


@naming_arguments
def score(
    predictions: Sequence[str],
    references: Sequence[str | Sequence[str]],
    metrics: "str | Judge | Sequence[str | Judge] | Mapping[str, Judge]" = ("rouge1", "rouge2", "rougeL"),
    *,
    sources: Sequence[str] | None = None,
    lang: str | None = None,
    tokenizer: str | None = None,
    stemmer: bool = False,
    bertscore_model: str | None = None,
    bertscore_layer: int | None = None,
    fluency_model: str | None = None,
    faithfulness_model: str | None = None,
    clean_texts: str | Sequence[str] = (),
    join_references: bool = False,
    clean_outputs: Sequence[str] = ("thoughts",),
    seed: int = 0,
) -> "ScoreResult":
    """Score predictions against their references, as `nws score` does with the rows of a file.

    Args:
        predictions: the texts to score, as a list or a column of a frame.
        references: for each prediction one text, or a list of several, of which the best one counts.
        metrics: names in docs/metrics.md, such as rouge1, rougeL, bleu, chrf, meteor, bertscore; or functions of your
            own, from a summary and the list of its references to a number, or a dict of functions by name.
        sources: for each prediction the text that it summarises, which `density`, `coverage` and `faithfulness` need.
            Content kept uses it to tell documents apart; without it, it uses the references.
        lang: `en` (the default) or `ko`. If most references are in neither, the default tokenizer is `unicode`.
        tokenizer: the tokenizer of words: rouge_score (for `en`), kiwi (for `ko`), unicode, mecab, okt, or char.
        stemmer: whether ROUGE compares Porter stems (English only).
        bertscore_model: the backbone of BERTScore: a known name, a folder, or a Hub id. Default: all-MiniLM-L6-v2.
        bertscore_layer: the layer of that backbone. Default: the layer that is tuned for it.
        fluency_model: the causal language model of `fluency`: smollm2, a folder, or a Hub id.
        faithfulness_model: the NLI model of `faithfulness`: a folder, or a Hub id.
        clean_texts: what to remove from the texts: html, marks, ptb (docs/running.md).
        join_references: whether the references of a prediction are the sentences of one reference.
        clean_outputs: what to remove from predictions: thoughts, markup and preamble (docs/generators.md).
        seed: the seed of bootstrap intervals, which BLEU, SacreBLEU and chrF have.

    Raises:
        CorpusError: there are no predictions, the numbers of predictions, references and sources differ, a value is not
            a text (named by its row, from 1), or two Series have the same index in different orders.
        RecipeError: there is no such metric, or options contradict each other.
        LanguageError: the tokenizer would delete a reference.
        ModelError: the backbone of BERTScore cannot be found.
        PluginError: a function of your own raised an error, or did not return a finite number, for a row, which is
            named.

    >>> import nws
    >>> scores = nws.score(
    ...     ["Snow closed the schools.", "The mayor opened a bridge.", "Trams will run all night."],
    ...     ["Snow has closed all schools.", "A new bridge was opened.", ["Night trams run.", "Trams run all night."]],
    ...     metrics=["rouge1", "bleu"],
    ... )
    >>> scores.to_pandas()[["metric", "part", "score", "low", "high"]].round(3)
       metric       part  score    low   high
    0  rouge1  precision  0.717  0.458  0.975
    1  rouge1     recall  0.733  0.160  1.307
    2  rouge1         f1  0.719  0.343  1.094
    3    bleu      score  0.260  0.000  0.537
    >>> scores.signatures["rouge1"]
    'rouge1|tok:rouge_score-0.1.2|stem:no|version:rouge_score-0.1.2|refs:best-f1'
    >>> scores.by_kind().empty  # it takes the metric "kept"
    True
    >>> scores.rows().round(3)
       words  rouge1_precision  rouge1_recall  rouge1_f1  bleu_score
    0      4              0.75            0.6      0.667       0.000
    1      5              0.60            0.6      0.600       0.000
    2      5              0.80            1.0      0.889       0.537

    With a metric of your own:

    >>> def brevity(summary, references):
    ...     return min(len(summary) / len(reference) for reference in references)
    >>> nws.score(["Snow closed the schools."], ["Snow has closed all schools."], metrics=["rouge1", brevity])
    Scores of 1 row: rouge1 0.6667, brevity 0.8571 (F1, where there is one).
    """
    from nws.core.metrics.config import MINILM, Options
    from nws.core.plugins.adapters import function_metric
    from nws.core.text.model_outputs import parse_cleaning
    from nws.core.text.text_marks import Preparation
    from nws.jobs.tools.score import score_rows

    if isinstance(metrics, Mapping):
        names, own = [], [function_metric(function, name) for name, function in metrics.items()]
    else:
        chosen = [metrics] if isinstance(metrics, str) or callable(metrics) else list(metrics)
        names = [metric for metric in chosen if isinstance(metric, str)]
        own = [function_metric(metric) for metric in chosen if not isinstance(metric, str)]
    options = Options(
        stemmer=stemmer,
        lang=lang,
        tokenizer=tokenizer,
        bertscore_model=bertscore_model or MINILM,
        bertscore_layer=plain(bertscore_layer),
        fluency_model=fluency_model,
        faithfulness_model=faithfulness_model,
    )
    index = index_of(predictions, references, sources)
    texts = listed("predictions", predictions), listed("references", references)
    rows = _rows(*texts, None if sources is None else listed("sources", sources))
    prepared, cleaning = Preparation(clean_texts, join_references), parse_cleaning(clean_outputs)
    scored = score_rows("predictions", rows, names, options, plain(seed), own, prepared, cleaning)
    console = ArgumentConsole()
    for line in scored.notes:
        console.print(line)
    return ScoreResult(scored, index)


@naming_arguments
def check(
    articles: str | Path,
    *,
    predictions: str | Path | None = None,
    train: str | Path | None = None,
    split: str = "test",
    text_field: str | None = None,
    reference_field: str | None = None,
    key_field: str | None = None,
    clean_texts: str | Sequence[str] = (),
) -> "HealthCard":
    """Check a file of articles, as `nws check` does: lengths, extractiveness, languages, copies, and oddities.

    Args:
        articles: a file or folder of articles, or a name that `nws submit --dataset` takes.
        predictions: a file with the summaries that systems wrote for these articles.
        train: articles that a model was trained on, with the same field names. Articles in both files are counted.
        split: the split of a dataset with several splits.
        text_field: the name of the field with the text, if it is unusual.
        reference_field: the name of the field with the references, if it is unusual.
        key_field: the name of the field with the ids, if it is unusual.
        clean_texts: what to remove from the texts first: html, marks, ptb.

    Raises:
        CorpusError: a file cannot be read, or a row is malformed.
        RecipeError: a system has no prediction for any of these articles.
        ModelError: the tokenizer of BERTScore's default model cannot be found.
    """
    from nws.core.text.dataset import Dataset
    from nws.jobs.tools.check_file import check_corpus, open_files

    kinds = clean_texts if isinstance(clean_texts, str) else tuple(clean_texts)
    fields = text_field, reference_field, key_field
    dataset = Dataset(str(articles), split, False, 0, None, *fields, clean_texts=kinds)
    corpus, trained_on = open_files(dataset, None if train is None else str(train))
    return check_corpus(corpus, None if predictions is None else Path(predictions), trained_on)


@naming_arguments
def compare(
    a: Sequence[str],
    b: Sequence[str],
    references: Sequence[str | Sequence[str]],
    *,
    sources: Sequence[str] | None = None,
) -> "pd.DataFrame":
    """Compare the texts of two systems for the same articles, as `nws compare` does with files of predictions.

    Args:
        a: the texts of one system, in the order of the articles.
        b: the texts of the other system.
        references: for each article one text, or a list of several.
        sources: the articles. Content kept uses them to tell documents apart; without them, it uses the references.

    Returns:
        A row for each metric, and for the number of words: a − b with its 95 % confidence interval, the p of a
        sign-flip test, and the p with Holm's correction over the metrics. `attrs` has the signatures of the metrics
        and, if spaCy's English pipeline is installed, `kept_by_kind`: what both systems keep of each kind of word.

    Raises:
        CorpusError: the numbers of texts and references differ, a value is not a text (named by its row, from 1), or
            two Series have the same index in different orders.

    >>> import nws
    >>> frame = nws.compare(
    ...     ["Snow closed schools.", "Trams run all night."],
    ...     ["Snow fell.", "Trams stop."],
    ...     ["Snow has closed all schools.", "Trams will run all night."],
    ... )
    >>> frame[["metric", "n", "difference"]].round(2).head(2)
             metric  n  difference
    0          kept  0        0.53
    1  bertscore_f1  0        0.39
    """
    from nws.jobs.tools.compare_texts import compare_texts, metric_rows

    index_of(a, b, references, sources)
    named = {"a": a, "b": b} | ({} if sources is None else {"sources": sources})
    texts = {name: listed(name, values) for name, values in named.items()}
    given = listed("references", references)
    several = [list(one) if isinstance(one, Iterable) and not isinstance(one, str) else [one] for one in given]
    for name, values in texts.items():
        if len(values) != len(several):
            raise CorpusError(f"`{name}` has {len(values)} texts, but there are {len(several)} references.")
    result = compare_texts(texts["a"], texts["b"], several, sources=texts.get("sources"))
    console = ArgumentConsole()
    for line in result.notes:
        console.print(line)
    return paired_frame(metric_rows(result.rows), {"kept_by_kind": result.kind_rows()}, result.signatures)


def paired_frame(
    rows: Sequence[Mapping[str, Any]], about: Mapping[str, Any], signatures: Mapping[str, str]
) -> "pd.DataFrame":
    """Make a frame of rows of paired comparisons. Its `attrs` have what the rows are `about`, and signatures."""
    frame = pd.DataFrame(rows)
    first = ["metric", "n", "difference", "low", "high", "p", "p_holm"]
    frame = frame[[*first, *(name for name in frame if name not in first)]]
    frame.attrs = {**about, "signatures": dict(signatures)}
    return frame


def _rows(
    predictions: list[Any], references: list[Any], sources: list[Any] | None
) -> "Iterator[tuple[str, dict[str, object]]]":
    """Yield the texts as the rows of a file of predictions."""
    for name, values in (("references", references), ("sources", sources)):
        if values is not None and len(values) != len(predictions):
            raise CorpusError(f"There are {len(predictions)} predictions but {len(values)} {name}. Give one for each.")
    for i, prediction in enumerate(predictions):
        several = references[i]
        if isinstance(several, Iterable) and not isinstance(several, str | Mapping | set):  # also a NumPy array
            several = list(several)
        row = {"prediction": prediction, "references": several}
        yield f"row {i + 1}", row if sources is None else row | {"source": sources[i]}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreResult:
    """The scores of predictions with their 95 % intervals, over all rows (`to_pandas`) and of each row (`rows`)."""

    found: "FileScore"
    index: "pd.Index[Any] | None" = None

    @property
    def signatures(self) -> dict[str, str]:
        """The signature of each metric: every option that changes its numbers. Compare only equal signatures."""
        return {name: metric.signature for name, metric in self.found.metrics.items()}

    def to_pandas(self) -> pd.DataFrame:
        """Return the scores of each metric and part, with the ends and the method of its interval, and its signature.

        The interval is missing if there is only one row, or if all scores are equal.
        """
        rows = [
            (name, part, interval.mean, interval.low, interval.high, metric.method, metric.signature)
            for name, metric in self.found.metrics.items()
            for part, interval in metric.intervals.items()
        ]
        return pd.DataFrame(rows, columns=_COLUMNS)

    def by_kind(self) -> pd.DataFrame:
        """Return the share that the predictions keep of each kind of word, with its 95 % confidence interval.

        The frame is empty without the metric `kept`, or without kinds of words (docs/metrics.md).
        """
        rows = [(kind, *astuple(kept.interval), kept.articles) for kind, kept in self.found.kinds.items()]
        return pd.DataFrame(rows, columns=["kind", "share", "low", "high", "rows"])

    def rows(self) -> pd.DataFrame:
        """Return a row for each prediction: its number of `words`, and each metric and part, such as `rouge1_f1`.

        The index is that of the Series of predictions, or else of the references or sources.
        """
        words = {"words": [count_words(prediction.row.prediction) for prediction in self.found.predictions]}
        columns = {
            f"{name}_{part}": metric.rows[:, i]
            for name, metric in self.found.metrics.items()
            for i, part in enumerate(metric.intervals)
        }
        return pd.DataFrame(words | columns, index=self.index)

    def __repr__(self) -> str:
        means = [f"{name} {[*metric.intervals.values()][-1].mean:.4f}" for name, metric in self.found.metrics.items()]
        rows = counted(len(self.found.predictions), "row")
        return f"Scores of {rows}: {', '.join(means)} (F1, where there is one)."

    def _repr_html_(self) -> str:
        table: str = self.to_pandas().to_html(index=False, float_format="{:.4f}".format)
        return table


def summarize(text: str, n: int | None = None, *, policy: str | Path, max_chars: int | None = None) -> str:
    """Write a summary of exactly n words, or of all words if the text has fewer.

    Args:
        text: an article, in the language that the policies were trained on.
        n: the number of words of the summary. Default: 9. For a length that no policies were trained for, those of the
            nearest length write it.
        policy: the folder that `nws export RUN --policy FOLDER` wrote.
        max_chars: in place of n, the maximum number of characters. The policies write as many whole words as fit.

    Raises:
        ModelError: the folder has no policies, or one of their models cannot be loaded.
        RecipeError: n or max_chars is less than 1, or both are given.
        EmptyArticleError: the text has no word.
        LanguageError: the text is in another language than the policies were trained on.

    With policies in the folder `my-policy`:

    >>> import nws
    >>> text = (
    ...     "Trams in the harbour town will run all night from Monday, the mayor said. Nurses and dockers had asked "
    ...     "for them for years. A ticket costs two euros."
    ... )
    >>> summary = nws.summarize(text, n=9, policy="my-policy")
    >>> len(summary.split())
    9
    >>> len(nws.summarize(text, max_chars=50, policy="my-policy")) <= 50
    True

    To write many summaries, load the policies once:

    >>> from nws.core.learning.writer import load_writer
    >>> writer = load_writer("my-policy")
    >>> writer.write(text, [9]) == [summary]
    True
    """
    if n is not None and max_chars is not None:
        raise RecipeError("Give n (words) or max_chars (characters), not both.")

    from nws.core.learning.writer import load_writer  # imports PyTorch

    writer = load_writer(policy)
    if max_chars is not None:
        return writer.write(text, [max_chars], "characters")[0]
    return writer.write(text, [9 if n is None else n])[0]
