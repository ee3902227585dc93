"""`nws score`: the metrics of a file of predictions."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from core.metrics.specs import SPECS
from jobs.commands.shared import Json, err, out
from jobs.terminal.busy import busy

if TYPE_CHECKING:
    from core.metrics.plugins import RowMetric


def score(
    file: Annotated[
        Path,
        typer.Argument(
            help="JSONL, CSV or Parquet with the fields prediction, reference (or references, a list), and if wanted "
            "source and id."
        ),
    ],
    metrics: Annotated[
        str,
        typer.Option(
            "--metrics",
            "-m",
            help="Names with commas between them: rouge1, rouge2, … rougeL, rougeLsum, rougeS, rougeSU, rougeSU4, "
            "rouge-lcsubstr, bleu, bleu1-4, sacrebleu, chrf, chrf++, meteor, bertscore, "
            f"{', '.join(spec.name for spec in SPECS if not spec.has_parts)}, dialogsum.",
        ),
    ] = "rouge1,rouge2,rougeL",
    plugin: Annotated[
        list[str] | None,
        typer.Option(
            help="Metrics of your own: a Python file with METRICS, or an installed entry point of nws.metrics. All of "
            "them are computed. Repeatable."
        ),
    ] = None,
    stemmer: Annotated[bool, typer.Option("--stemmer", help="ROUGE compares Porter stems (English only).")] = False,
    references: Annotated[
        Literal["best", "mean"], typer.Option(help="With several references: take the best score, or the mean.")
    ] = "best",
    lang: Annotated[str, typer.Option(help="Language of the texts: en or ko.")] = "en",
    tokenizer: Annotated[
        str | None, typer.Option(help="rouge_score (default for en), kiwi (default for ko), mecab, okt, or char.")
    ] = None,
    bertscore_model: Annotated[
        str, typer.Option(help="Backbone of BERTScore: a known name, a folder, or a Hub id.")
    ] = "all-MiniLM-L6-v2",
    bertscore_layer: Annotated[
        int | None, typer.Option(min=1, help="Layer of that backbone; default: the one tuned for it.")
    ] = None,
    bertscore_idf: Annotated[
        bool, typer.Option("--bertscore-idf", help="BERTScore weighs tokens by how rare they are in the references.")
    ] = False,
    bertscore_batched: Annotated[
        bool,
        typer.Option(
            "--bertscore-batched", help="BERTScore in padded batches as the library bert_score, to the last bit."
        ),
    ] = False,
    human: Annotated[
        bool,
        typer.Option(
            "--human", help="Score the references, too, where a row has several: each against the others, and all."
        ),
    ] = False,
    per_row: Annotated[
        Path | None, typer.Option("--per-row", help="Write the scores of each row to this JSONL file, replacing it.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap intervals.")] = 0,
    as_json: Json = False,
) -> None:
    """Score predictions against their references.

    ROUGE, BLEU, METEOR, BERTScore and more, with 95 % intervals.
    """
    from core.metrics.registry import Options
    from core.text.wordnet import HOW_TO_INSTALL, find_wordnet
    from jobs.score import compute as scores
    from jobs.score.show import print_score
    from jobs.terminal.warnings import warn_of_texts

    chosen = Options(
        *(stemmer, references, lang, tokenizer),
        *(bertscore_model, bertscore_layer, bertscore_idf, bertscore_batched),
    )
    if per_row is not None:
        scores.check_output(per_row, file)
    names = [name.strip() for name in metrics.split(",") if name.strip()]
    own = _own_metrics(plugin or [])
    with busy(f"Scoring {file}"):
        result = scores.score_file(file, names, chosen, seed, own, human)
    if lang == "ko" or tokenizer in (None, "rouge_score"):  # else the texts may be in any language
        predictions = [prediction.row.prediction for prediction in result.predictions]
        warn_of_texts(f"predictions of {file}", predictions, "ko" if lang == "ko" else "en", err)
    if "meteor" in names and lang == "en" and find_wordnet() is None:
        err.print(f"METEOR ran without synonyms: WordNet was not found. {HOW_TO_INSTALL}.")
    if per_row is not None:
        scores.write_rows(per_row, result)
    print(json.dumps(result.as_dict())) if as_json else print_score(result, out)


def _own_metrics(plugins: list[str]) -> "list[RowMetric]":
    """Every metric of these plugins.

    Raises:
        PluginError: a plugin cannot be found or imported, or has no metrics.
    """
    from core.errors import PluginError
    from core.metrics.plugins import plugin_metrics, row_metric
    from core.plugins import PluginSpec, read_plugin

    row_metrics: list[RowMetric] = []
    for name in plugins:
        metrics = plugin_metrics(read_plugin(PluginSpec(name), Path(name)))
        if not metrics:
            raise PluginError(f'The plugin {name} has no metrics: end it with METRICS = {{"name": function}}.')
        row_metrics += map(row_metric, metrics)
    return row_metrics
