"""`nws score`, `judge`, `correlate`, `keysentences` and `data`: files of texts and scores, without a store."""

import json
import re
import shlex
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nws.core.errors import NwsError, RecipeError
from nws.core.whole_files import check_target, write_json_lines
from nws.jobs.commands.options import LISTS, PARAMETERS, Json, grouped, option, plain
from nws.jobs.commands.shared import err, out, print_result
from nws.jobs.report.console import PrintableConsole, busy
from nws.jobs.report.numerals import counted

if TYPE_CHECKING:
    from nws.core.plugins.adapters import PluginMetric
    from nws.jobs.tools.judged_file import Judging


_bertscore = partial(option, "BERTScore")
_CLEAN_TEXTS = "--clean-texts KINDS", "What is removed from texts: html, marks, ptb, with commas between them."


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """Options of `nws score`."""

    metrics: str = plain(
        "--metrics -m NAMES",
        "Names with commas between them: rouge1, rouge2, … rougeL, rougeLsum, rougeS, rougeSU, rougeSU4, "
        "rouge-lcsubstr, bleu, bleu1-4, sacrebleu, chrf, chrf++, meteor, bertscore, efficiency, kept, "
        "kept_words, density, coverage, dialogsum, fluency, faithfulness.",
        "rouge1,rouge2,rougeL",
    )
    plugin: list[str] | None = plain(
        "--plugin FILE", "Python file with METRICS of your own, all of which are computed. Repeatable."
    )
    stemmer: bool = plain("--stemmer", "ROUGE compares Porter stems (English only).", False)
    references: Literal["best", "mean"] = plain(
        "--references", "For several references: take the best score, or the mean.", "best"
    )
    lang: str | None = plain("--lang CODE", "Language of the texts: en (default) or ko.")
    tokenizer: str | None = plain(
        "--tokenizer NAME", "rouge_score (default for en), kiwi (for ko), unicode (for others), mecab, okt, or char."
    )
    prediction_field: str | None = plain(
        "--prediction-field NAME", "Field with the predictions, if its name is unusual."
    )
    reference_field: str | None = plain("--reference-field NAME", "Field with the references, if its name is unusual.")
    references_file: str | None = plain(
        "--references-file FILE", "File with references: one line of text per row, or rows with the same ids."
    )
    clean_texts: str = plain(*_CLEAN_TEXTS, "")
    join_references: bool = plain(
        "--join-references", "Join the references of a row: they are the sentences of one reference.", False
    )
    clean_outputs: str = plain(
        "--clean-outputs NAME,NAME", "What to remove from predictions: thoughts, markup, preamble; or none.", "thoughts"
    )
    list_predictions: Literal["join", "first"] = plain(*LISTS, "join")
    per_row: Path | None = plain("--per-row --out -o FILE", "JSONL file for the scores of each row; it is replaced.")
    seed: int = plain("--seed N", "Seed of the bootstrap intervals.", 0, min=0)
    fluency_model: str | None = plain(
        "--fluency-model NAME", "Causal language model for fluency: smollm2, a folder, or a Hub id."
    )
    faithfulness_model: str | None = plain(
        "--faithfulness-model NAME", "NLI model for faithfulness: a folder, or a Hub id."
    )
    bertscore_model: str = _bertscore(
        "--bertscore-model NAME", "Backbone of BERTScore: a known name, a folder, or a Hub id.", "all-MiniLM-L6-v2"
    )
    bertscore_layer: int | None = _bertscore(
        "--bertscore-layer N", "Layer of that backbone; default: the one tuned for it.", min=1
    )


@grouped
def score(
    file: Annotated[
        Path,
        typer.Argument(
            help="JSONL, CSV or Parquet with prediction, reference(s) and perhaps source, id; or lines of predictions."
        ),
    ],
    options: ScoreOptions,
    as_json: Json = False,
) -> None:
    """Score predictions against their references.

    Computes ROUGE, BLEU, METEOR, BERTScore and more, with 95 % intervals. If the file has a field `system` with several
    values, each system gets its own scores.
    """
    from nws.core.metrics.config import Options
    from nws.core.metrics.meteor import HOW_TO_INSTALL, find_wordnet
    from nws.core.systems.predictions import by_system
    from nws.core.text.model_outputs import parse_cleaning
    from nws.core.text.text_marks import Preparation
    from nws.jobs.tools.score import print_score, read_scored, row_lines, score_rows, scores_json

    chosen = Options(**{field.name: getattr(options, field.name) for field in fields(Options)})
    if options.per_row is not None:
        check_target("--per-row", options.per_row, file)
    names = [name.strip() for name in options.metrics.split(",") if name.strip()]
    own = _own_metrics(options.plugin or [])
    prepared = Preparation(options.clean_texts, options.join_references, options.list_predictions)
    with busy(f"Scoring {file}"):
        named = options.prediction_field, options.reference_field
        cleaning = parse_cleaning(options.clean_outputs)
        scores = {}
        for system, rows in by_system(file, read_scored(file, named, options.references_file)).items():
            place = f"{file} ({system})" if system else str(file)
            scores[system] = score_rows(place, rows, names, chosen, options.seed, own, prepared, cleaning)
    for line in (line for score in scores.values() for line in score.notes):
        err.print(line, markup=False)
    if "meteor" in names and options.lang != "ko" and find_wordnet() is None:
        err.print(f"METEOR ran without synonyms, because WordNet was not found. {HOW_TO_INSTALL}.")
    if options.per_row is not None:
        write_json_lines("--per-row", options.per_row, row_lines(scores))
    print(json.dumps(scores_json(scores))) if as_json else print_score(scores, out)


def _own_metrics(plugins: list[str]) -> "list[PluginMetric]":
    """Collect the metrics of these plugins.

    Raises:
        PluginError: a plugin cannot be found or imported, or has no metrics.
    """
    from nws.core.errors import PluginError
    from nws.core.plugins.adapters import plugin_metrics
    from nws.core.plugins.load import PluginSpec, read_plugin

    own: list[PluginMetric] = []
    for name in plugins:
        metrics = plugin_metrics(read_plugin(PluginSpec(name), Path(name)))
        if not metrics:
            raise PluginError(f'The plugin {name} has no metrics. End it with METRICS = {{"name": function}}.')
        own += metrics
    return own


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Who judges what, and how."""

    model: str = plain("--model NAME", "The model that judges, as the endpoint names it.", ...)
    output: Path = plain(
        "--out -o FILE",
        "JSONL file for the summaries with their scores; it is replaced. The replies are stored beside it, in "
        "NAME.replies.jsonl: a repeated command asks only for those that are missing.",
        ...,
    )
    clean_texts: str = plain(*_CLEAN_TEXTS, "")
    scale: str = plain("--scale LOW,HIGH", "Worst and best score, as whole numbers.", "1,5")
    prompt: str | None = plain(
        "--prompt FILE|TEXT",
        "Prompt for the judge, with {summary} and optionally {article}, {low} and {high}. Default: see docs/judge.md.",
    )
    parameters: list[str] | None = plain(*PARAMETERS)
    limit: int | None = plain("--limit N", "Judge at most this many articles.", min=1)
    concurrency: int = plain("--concurrency N", "Maximum number of requests under way.", 8, min=1)
    seed: int = plain("--seed N", "Seed that is sent with each request.", 0, min=0)
    dry_run: bool = plain("--dry-run", "Print how many requests and tokens are needed, and send nothing.", False)


@grouped
def judge(
    how: JudgeOptions,
    file: Annotated[
        Path, typer.Argument(help="JSONL, CSV or Parquet with the fields system, document, source and prediction.")
    ],
    as_json: Json = False,
) -> None:
    """Ask a language model to score the summaries of a file.

    OPENAI_BASE_URL and OPENAI_API_KEY name the endpoint.
    """
    from nws.core.metrics.judge import DEFAULT_PROMPT, make_judge
    from nws.core.text.text_marks import Preparation
    from nws.jobs.recipes.load import parse_settings
    from nws.jobs.tools.judged_file import Judging, open_replies, print_dry_run, read_prompt, read_texts, stored_replies

    if how.output.suffix != ".jsonl" or how.output.name.endswith(".replies.jsonl"):
        raise RecipeError(f"-o {how.output}: name a file that ends in .jsonl, but not in .replies.jsonl.")
    check_target("-o", how.output, file)
    prompt = DEFAULT_PROMPT if how.prompt is None else read_prompt(how.prompt)
    parameters = parse_settings(how.parameters or (), "--parameters")
    judge = make_judge(how.model, None, prompt, _scale(how.scale), how.seed, how.concurrency, parameters)
    with busy(f"Reading {file}"):
        texts = read_texts(file, judge, how.limit, Preparation(how.clean_texts))
    path = how.output.with_suffix(".replies.jsonl")
    if how.dry_run:
        print_dry_run(Judging(judge, texts, stored_replies(path)), path, as_json, PrintableConsole())
        return
    with open_replies(path) as (replies, to_add):
        judging = Judging(judge, texts, replies)
        try:
            with busy(f"Asking {how.model}"):
                judging.ask(to_add)
        except KeyboardInterrupt:
            err.print(f"Interrupted. The replies so far are in {path}. The same command continues from there.")
            raise typer.Exit(130) from None
    _write_and_print(judging, how.output, path, as_json)


def _scale(text: str) -> tuple[int, int]:
    match = re.fullmatch(r" *([0-9]{1,4}) *, *([0-9]{1,4}) *", text)
    if match is None:
        raise RecipeError(f"The scale must be two whole numbers such as 1,5, not {text!r}.", settings=("scale",))
    return int(match[1]), int(match[2])


def _write_and_print(judging: "Judging", output: Path, replies: Path, as_json: bool) -> None:
    """Write the file of summaries, and print their scores. Exits with 1 if requests failed."""
    from nws.jobs.tools.judged_file import print_judged

    rows = judging.rows()
    write_json_lines("-o", output, rows)
    numbers = {**judging.summary(), "sent": judging.added, "files": [str(output), str(replies)]}
    print_result(as_json, numbers, lambda: print_judged(judging, output, PrintableConsole()))
    if judging.errors:
        err.print(f"{counted(len(judging.errors), 'request')} got no reply. The first: {judging.errors[0]}")
        raise typer.Exit(1)
    if not rows:
        raise NwsError(f"No reply has a score. See what {judging.judge.endpoint.model} has written: {replies}")
    err.print(f"{counted(judging.added, 'new reply')}; all are in {replies}. The summaries are in {output}.")


def correlate(
    file: Annotated[
        Path,
        typer.Argument(help="JSONL, CSV or Parquet with the fields system, document, the metrics and the human one."),
    ],
    metrics: Annotated[
        str,
        typer.Option("--metrics", "-m", metavar="NAMES", help="Fields with metrics, separated by commas."),
    ],
    human: Annotated[str, typer.Option(metavar="NAME", help="Field with human scores.")],
    equal_length: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="Also compare pairs of summaries whose lengths differ by at most N words."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the resamples and of the tests.")] = 0,
    as_json: Json = False,
) -> None:
    """Correlate metrics with human scores.

    By system and by summary, with 95 % intervals and tests between metrics. Pearson, Spearman and Kendall (tau-b).
    """
    from nws.jobs.tools.correlate import correlate_file, print_correlation

    names = [name.strip() for name in metrics.split(",") if name.strip()]
    with busy("Correlating, and drawing resamples"):
        result = correlate_file(file, names, human, seed, equal_length)
    print_result(as_json, result.as_dict(), lambda: print_correlation(result, PrintableConsole()))


def keysentences(
    file: Annotated[
        Path,
        typer.Argument(help="UTF-8 text with one document (a sentence, a comment) per line; a tab ends the document."),
    ],
    top: Annotated[int, typer.Option(metavar="N", min=1, help="Number of keywords and of sentences to print.")] = 30,
    stopwords: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|WORDS",
            help="Words that are not keywords: a file with one word per line, or words separated by commas.",
        ),
    ] = None,
    diversity: Annotated[
        float,
        typer.Option(metavar="DISTANCE", min=0, max=1, help="Smallest cosine distance between two key sentences."),
    ] = 0.7,
    as_json: Json = False,
) -> None:
    """Find keywords and key sentences of Korean texts.

    Those of KR-WordRank beside those of TextRank, with their recall.
    """
    from nws.jobs.tools import keysentences as key_sentences
    from nws.jobs.tools.keysentences import print_key_sentences

    without = key_sentences.read_stopwords(stopwords) if stopwords is not None else frozenset()
    documents = key_sentences.read_documents(file)
    err.print(f"{file}: {len(documents)} documents")
    with busy("Finding keywords and sentences"):
        result = key_sentences.find_key_sentences(documents, top, without, diversity)
    print(json.dumps(result.as_dict())) if as_json else print_key_sentences(result, out)


def data(
    name: Annotated[
        str,
        typer.Argument(
            help="cnn_dailymail, xsum, gigaword, or a Hub id: organisation/name[:configuration][@revision]."
        ),
    ],
    limit: Annotated[int | None, typer.Option(metavar="N", min=1, help="Number of articles; default: all.")] = None,
    skip: Annotated[int, typer.Option(metavar="N", min=0, help="Number of articles to skip first.")] = 0,
    split: Annotated[str, typer.Option(metavar="NAME", help="Split of the dataset.")] = "test",
    target: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="JSONL file; it is replaced. Default: NAME.jsonl."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write articles of a Hub dataset to a file.

    Each row has a key, the text, and its references.
    """
    from nws.core.text.data_files import is_files
    from nws.core.text.dataset import Dataset, article_rows, open_dataset

    if target is None and is_files(name):
        raise RecipeError(f"{name} is not a dataset of the Hub. Name the new file with --out FILE.")
    file = target or Path(f"{name.partition('@')[0].partition(':')[0].rpartition('/')[2]}.jsonl")
    check_target("--out", file, Path(name))
    with busy("Reading articles"):
        corpus = open_dataset(Dataset(name, split, streaming=True, skip=skip, limit=limit))
        count = write_json_lines("--out", file, article_rows(corpus))
    if as_json:
        made = {"dataset": corpus.pinned_name, "split": corpus.split, "revision": corpus.revision}
        print(json.dumps({"file": str(file), "articles": count, **made}))
        return
    out.print(f"{counted(count, 'article')} of {corpus.pinned_name} ({corpus.split}) in {file}")
    if corpus.is_of_hub:
        out.print(f"Its card, with the licence: https://huggingface.co/datasets/{corpus.name}")
    out.print(f"Next: nws submit phase1 --dataset {shlex.quote(str(file))}")
