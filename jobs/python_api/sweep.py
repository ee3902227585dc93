"""A sweep over n in this process: the work of `nws submit baselines`, without Ray and without a permanent store."""

import contextlib
import hashlib
import json
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nws.cluster.dispatcher import rows_warning
from nws.core.errors import CorpusError, RecipeError
from nws.core.systems.rulers import REFERENCE_WORDS
from nws.core.text.dataset import Dataset, OpenDataset, open_dataset, open_rows
from nws.jobs.python_api.arguments import ArgumentConsole, naming_arguments, plain
from nws.jobs.python_api.result import SWEEP, Result
from nws.jobs.store import open_store

if TYPE_CHECKING:
    from nws.core.plugins.load import Judge, Plugin, Write
    from nws.jobs.recipes.plan import Plan

SYSTEMS = ("textrank", "lexrank", "position")
ALWAYS = ("lead", "random", REFERENCE_WORDS)
"""The systems of every sweep. They show what length alone gains, and what n words of a person keep."""


@naming_arguments
def sweep(
    articles: object,
    n: int | str | Sequence[int] | None = None,
    systems: "str | Write | Sequence[str | Write]" = SYSTEMS,
    encoder: str | None = None,
    *,
    max_chars: int | Sequence[int] | None = None,
    metrics: "Mapping[str, Judge] | Sequence[Judge]" = (),
    plugins: str | Sequence[str] = (),
    predictions: str | Sequence[str] = (),
    prompt: str | None = None,
    bertscore_model: str | None = None,
    bertscore_layer: int | None = None,
    tokenizer: str | None = None,
    labels: Mapping[str, str] | None = None,
    seed: int = 0,
    split: str = "test",
    text_field: str | None = None,
    reference_field: str | None = None,
    key_field: str | None = None,
    clean_texts: str | Sequence[str] = (),
    join_references: bool = False,
) -> Result:
    """Let every system summarise every article at every n, and score each summary against the article's references.

    The numbers are those of `nws submit baselines` with the same articles and options: texts byte for byte, scores to
    1e-6. The sweep runs in this process, on a GPU if there is one, otherwise on one CPU thread. Its summaries are in a
    temporary file, which is removed with the result. To keep them, save the frame `summaries()`, or write a `report`.

    Args:
        articles: a list of dicts, a frame of pandas, polars or Arrow, a `datasets.Dataset`, or the path of a file, as
            `--dataset` takes it. A row is an article. Its fields are recognised by their usual names (text: article,
            document, dialogue, text; references, a text or a list of texts: highlights, summary, summaries, references,
            reference; key: id, key, fname).
        n: the summary lengths in words, or "auto", the default: about eleven lengths up to the median length of the
            references (docs/phase1.md). For the bundled articles, "auto" is 1, 3, …, 21.
        max_chars: in place of n, the summary lengths in characters, such as [30, 50, 65] for titles. Each summary has
            whole words and at most that many characters (code points in composed form, NFC). The column `n` then has
            these lengths.
        systems: names of baselines and generators, as `--system` takes them (docs/baselines.md), and functions of your
            own, from an article's text and n to at most n words (docs/your-own.md). Every sweep also has the controls
            `lead` and `random`, and rulers: the first words of the reference, those of the most similar other
            article's reference, and if every article has two references, those of another person's reference.
        encoder: the model that embeds sentences and chunks for the systems that need it: a known name, a folder, or a
            Hub id. Default: the bundled all-MiniLM-L6-v2.
        metrics: functions of your own, from a summary and the list of its references to a number, by name.
        plugins: Python files with systems or metrics of your own, as `--plugin` takes them (docs/your-own.md).
        predictions: files of summaries that were written elsewhere, as `--predictions` takes them; each is a system.
        prompt: the prompt for generators that NWS does not know by name, with `{article}` and `{n}`
            (docs/generators.md).
        bertscore_model: the backbone of BERTScore, named like an encoder. Default: all-MiniLM-L6-v2.
        bertscore_layer: the layer of that backbone. Default: the layer that is tuned for it.
        tokenizer: the tokenizer of ROUGE: rouge_score (default for English), kiwi (for Korean), mecab, okt, or char.
        labels: labels for plots, pages and sentences, by name of the system. Frames have full names.
        seed: the seed of random draws, such as those of `random`.
        split: the split of a Hub dataset, or of a folder with splits.
        text_field: the name of the field with the text, if it is unusual.
        reference_field: the name of the field with the references, if it is unusual.
        key_field: the name of the field with the keys, if it is unusual.
        clean_texts: what to remove from the texts: html, marks, ptb (docs/running.md).
        join_references: whether the references of an article are the sentences of one reference.

    Raises:
        CorpusError: there are no articles, or a row has none (named by its number from 1).
        RecipeError: an n or a system is not usable, or both n and max_chars are given. For an unknown system, the error
            lists the known ones.
        NwsError: a model cannot be found or cannot read the articles, or no article could be summarised.

    For example, with six of the bundled articles:

    >>> import nws, pandas
    >>> from nws.core.text.dataset import BUNDLED
    >>> articles = pandas.read_json(BUNDLED["sample"], lines=True).head(6)
    >>> sweep = nws.sweep(articles, n=[7, 9, 11], systems=["textrank"])
    >>> sweep
    11 words keep 10 % of the reference's content (textrank). No system keeps half. The text's first 11 words keep 13 %
    (lead).
    A sweep of 6 articles: lead, other-article, random, reference-words, textrank at n = 7, 9, 11. No article failed.
    >>> sweep.curves().pivot(index="system", columns="n", values="mean").round(2)
    n                  7     9     11
    system
    lead             0.32  0.35  0.37
    other-article    0.14  0.16  0.18
    random           0.29  0.32  0.34
    reference-words  0.64  0.68  0.73
    textrank         0.32  0.33  0.33
    >>> sweep.summaries().query("system == 'lead' and n == 7").text.iloc[0]
    'Trams will run through the night in'
    >>> print(sweep.recommended().answer[0])
    unknown: 6 articles cannot tell 3 n apart
    >>> print(sweep.claim("7-9")[0]["answer"])
    7 to 9 words keep 89 to 98 % of what 11 words keep (34–143 % and 69–128 %). With 6 articles nothing is tested:
    take at least 20.
    >>> sweep.compare("textrank", "lead")[["n", "wins", "losses"]]
        n  wins  losses
    0   7     3       3
    1   9     3       3
    2  11     3       3
    >>> len(sweep.failures())
    0
    >>> len(sweep.points) == len(sweep.summaries()) == 90
    True
    >>> sweep.plot().savefig("curve.png")
    """
    from nws.core.plugins.load import plugin_of_session

    chosen = _several(systems)
    names = [system for system in chosen if isinstance(system, str)]
    own = _named("systems", [system for system in chosen if not isinstance(system, str)]), _named("metrics", metrics)
    settings: dict[str, Any] = {
        "n": _lengths(n),
        "max_chars": _lengths(max_chars),
        "systems": tuple(dict.fromkeys((*names, *ALWAYS))),
        "encoder": encoder,
        "plugins": _several(plugins) or None,
        "predictions": _several(predictions) or None,
        "prompt": prompt,
        "bertscore.model": bertscore_model,
        "bertscore.num_layers": plain(bertscore_layer),
        "rouge.tokenizer": tokenizer,
        "labels": None if labels is None else dict(labels),
        "seed": plain(seed),
    }
    spec = Dataset(NAME, split, text_field=text_field, reference_field=reference_field, key_field=key_field)
    spec = replace(spec, clean_texts=tuple(_several(clean_texts)), join_references=join_references)
    chosen_settings = {key: value for key, value in settings.items() if value is not None}
    plan = _plan(articles, spec, chosen_settings, *([plugin_of_session(*own)] if any(own) else []))
    return _run(plan)


def _lengths(lengths: int | str | Sequence[int] | None) -> str | tuple[int, ...] | None:
    if lengths is None or isinstance(lengths, str):
        return lengths
    return tuple(map(plain, lengths if isinstance(lengths, Iterable) else (lengths,)))


def _several(values: Any) -> Sequence[Any]:
    return [values] if isinstance(values, str) or callable(values) else values


def _named(argument: str, functions: "Mapping[str, Any] | Sequence[Any]") -> dict[str, Any]:
    """Return functions by their names."""
    if isinstance(functions, Mapping):
        return dict(functions)
    named: dict[str, Any] = {}
    for function in functions:
        if not callable(function):
            raise RecipeError(f"{function!r} in `{argument}` is neither a name nor a function.")
        name = getattr(function, "__name__", type(function).__name__)
        if name in named:
            raise RecipeError(f"Two functions in `{argument}` are called {name!r}. Rename one of them.")
        named[name] = function
    return named


def _plan(articles: object, spec: Dataset, settings: dict[str, Any], *session: "Plugin") -> "Plan":
    """Make the plan of `nws submit baselines`, with articles from Python objects."""
    from nws.jobs.recipes.job import new_plan
    from nws.jobs.recipes.load import load_recipe
    from nws.jobs.recipes.sweep_recipe import BaselinesRecipe

    recipe = load_recipe(BaselinesRecipe, "sample", settings | {"datasets": [{"name": NAME, "split": "all"}]})
    # A sweep of a frame goes on even if its first rows all fail, so that the others give results.
    recipe = recipe.model_copy(update={"stop_after_equal_failures": None})
    return new_plan(recipe, (corpus_of(articles, spec),), session)


def _run(plan: "Plan") -> Result:
    """Drive the run in a temporary store, which is removed with the result."""
    from nws.core.arithmetic import one_thread
    from nws.jobs.drive.driver import drive_alone
    from nws.jobs.drive.pools import open_pools
    from nws.jobs.report.warnings import check_corpora, print_lengths, warn_of_repeats

    console = ArgumentConsole()
    plan = replace(plan, findings=tuple(check_corpora(plan.corpora, plan.language, console)))
    warn_of_repeats(plan.corpora, console)
    print_lengths(plan, console, "n=")
    with contextlib.ExitStack() as on_error:
        folder = on_error.enter_context(tempfile.TemporaryDirectory(prefix="nws-sweep-"))
        store = on_error.enter_context(open_store(f"sqlite:///{folder}/nws.db"))
        with one_thread(), open_pools(plan.recipe, "inline", console) as pools:
            drive_alone(store, SWEEP, plan, pools, console)
        result = Result(store, store.run_info(SWEEP))
        if warning := rows_warning(result.run.arithmetic):
            console.print(f"Warning: on this CPU {warning} Import NWS first, before numbers are computed.")
        if not result.run.summaries:
            articles, first = result.run.total_articles, store.failures(SWEEP)[0]
            raise CorpusError(
                f"No article could be summarised. The first of {articles}, {first.key!r}: {first.message}"
            )
        weakref.finalize(result, on_error.pop_all().close)
    return result


NAME = "articles"
"""The name of the dataset of articles from Python objects."""
_ACCEPTED = "a list of dicts, a frame (pandas, polars or Arrow), a datasets.Dataset, or the path of a file"


def corpus_of(articles: object, spec: Dataset) -> OpenDataset:
    """Read a corpus from `articles`. Its revision is the SHA-256 of its rows.

    Args:
        articles: rows as dicts in any iterable, an object with the Arrow interface, or the name of a dataset as
            `--dataset` takes it, such as the path of a file.
        spec: the fields to read.

    Raises:
        CorpusError: `articles` is something else or empty, or a row has no article (named by its number from 1).
    """
    if isinstance(articles, str | Path):
        return open_dataset(replace(spec, name=str(articles)))
    rows = _rows(articles)
    if not rows:
        raise CorpusError("There are no articles: `articles` is empty.")
    content = json.dumps(rows, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    revision = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return open_rows(rows, NAME, NAME, revision, replace(spec, split="all"))


def _rows(articles: object) -> Sequence[Mapping[str, Any]]:
    if hasattr(articles, "__arrow_c_stream__"):  # missing values become None, and arrays lists
        return _arrow_rows(articles)
    if isinstance(articles, Mapping) or not isinstance(articles, Iterable):
        raise CorpusError(f"Articles must be {_ACCEPTED}, not {type(articles).__name__}.")
    rows = list(articles)
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise CorpusError(f"{NAME}, row {number}: a row must be a dict, not {type(row).__name__}.")
    return rows


def _arrow_rows(frame: object) -> list[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = pa.table(frame).to_pylist()
    except pa.ArrowException as error:
        raise CorpusError(f"The frame of articles cannot be read: {error}.") from error
    return rows
