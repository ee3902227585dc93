"""Every metric by its name. A metric, and the libraries that compute it, are imported when it is made.

Metrics that are stored with every summary have a `MetricSpec`, too: `nws.core.metrics.specs`.
"""

import pkgutil
import re
from collections.abc import Callable

from nws.core.errors import RecipeError, did_you_mean
from nws.core.metrics.config import Options
from nws.core.metrics.metric import Metric
from nws.core.metrics.specs import BY_MODEL

_OF_SOURCE = ("density", "coverage")
NEED_SOURCE = (*_OF_SOURCE, "faithfulness")
"""Metrics that compare a summary with its article."""

METRICS = {
    **dict.fromkeys(("rouge1", "rouge2", "rouge3", "rougeL", "rougeLsum"), "nws.core.metrics.rouge:make_rouge"),
    **dict.fromkeys(
        ("rougeS", "rougeS4", "rougeS*", "rougeSU", "rougeSU4", "rougeSU*"), "nws.core.metrics.rouge:make_skip_bigram"
    ),
    "rouge-lcsubstr": "nws.core.metrics.rouge:make_common_substring",
    **dict.fromkeys(("bleu", "bleu1", "bleu2", "bleu3", "bleu4"), "nws.core.metrics.bleu:make_bleu"),
    "sacrebleu": "nws.core.metrics.bleu:make_sacrebleu",
    **dict.fromkeys(("chrf", "chrf++"), "nws.core.metrics.bleu:make_chrf"),
    "meteor": "nws.core.metrics.meteor:make_meteor",
    **dict.fromkeys(("bertscore", "efficiency"), "nws.core.metrics.model_metric:make_bertscore"),
    "kept": "nws.core.metrics.kept:make_kept",
    "kept_words": "nws.core.metrics.kept:make_kept_words",
    **dict.fromkeys(_OF_SOURCE, "nws.core.metrics.surface:make_source_metric"),
    **dict.fromkeys(BY_MODEL, "nws.core.metrics.model_metric:make_model_metric"),
    "dialogsum": "nws.core.metrics.rouge:make_dialogsum",
}
"""For each name, the `module:function` that makes the metric from the name asked for and the options."""
# Names that `METRICS` does not list, and for each pattern a listed name that is made in the same way.
_PATTERNS = {r"rouge[1-9]": "rouge1", r"rougeSU?[0-9]+": "rougeS"}
NEED_BACKBONE = ("bertscore", "efficiency", "kept")


def metric_called(name: str) -> str:
    """Return the name of the metric that a person means: `rouge1` for `rouge1_f1`, and `rougeL` for `rougel`."""
    if is_metric(name):
        return name
    short = name.removesuffix("_f1")
    return next((key for key in (short, *METRICS) if key.lower() == short.lower() and is_metric(key)), name)


def make_metric(name: str, options: Options | None = None) -> Metric:
    """Make the metric with a name of `METRICS`, or rougeN for N from 1 to 9, or rougeSN or rougeSUN for any gap N.

    Raises:
        RecipeError: there is no such metric, or the options do not go together.
        NwsError: something that the tokenizer needs is not installed.
        ModelError: BERTScore's backbone cannot be found.
    """
    if not is_metric(name):
        raise RecipeError(
            f"There is no metric {name!r}. The metrics are {', '.join(METRICS)}, besides rougeN for N from 1 to 9, and "
            f"rougeSN and rougeSUN for any gap N.{did_you_mean(name, METRICS)}"
        )
    make: Callable[[str, Options], Metric] = pkgutil.resolve_name(METRICS[_listed(name)])
    return make(name, options or Options())


def is_metric(name: str) -> bool:
    """Return whether `make_metric` knows the name."""
    return _listed(name) in METRICS


def _listed(name: str) -> str:
    return next((listed for pattern, listed in _PATTERNS.items() if re.fullmatch(pattern, name)), name)
