"""Metrics of models that a recipe names: stored with every summary, and seen wherever metrics are."""

from pathlib import Path

import pytest
import torch
from stored_rows import rows
from undisturbed import QUIET

from nws.core.errors import RecipeError
from nws.core.metrics.config import Options
from nws.core.metrics.faithfulness import Faithfulness
from nws.core.metrics.fluency import Fluency
from nws.core.metrics.metric import Row
from nws.core.metrics.registry import make_metric
from nws.core.models import parse_model, resolve_model
from nws.jobs.drive import driver
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import Store
from nws.jobs.store.runs import chosen_metrics_of, metrics_of


def planned(tiny_models: dict[str, Path], **models: str) -> Plan:
    tiny = {"bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2}, "encoder": str(tiny_models["bert"])}
    given = {"systems": ["lead", "random"], "n": [2, 5], "datasets.limit": 2}
    return plan_job("baselines", "sample", tiny | given | models)


@pytest.mark.slow
def test_they_are_stored_with_every_summary_and_reused_under_the_same_model_alone(
    store: Store, tiny_models: dict[str, Path]
) -> None:
    models = {"fluency_model": str(tiny_models["llama"]), "faithfulness_model": str(tiny_models["nli"])}
    first = driver.start(store, planned(tiny_models, **models), "inline", QUIET, reuse=True)
    info = store.run_info(first.run_id)
    assert chosen_metrics_of(info) == ("fluency", "faithfulness")
    assert metrics_of([info])[-2:] == ("fluency", "faithfulness")
    assert info.recipe["fluency_model"] == str(tiny_models["llama"])
    found = rows(
        store,
        "select a.text, s.text, s.extra -> 'scores' ->> 'fluency', s.extra -> 'scores' ->> 'faithfulness' "
        "from summaries s join articles a on a.id = s.article_id where s.system = 'lead'",
    )
    assert len(found) == 4
    for column, metric in ((2, Fluency), (3, Faithfulness)):
        folder = tiny_models["llama" if metric is Fluency else "nli"]
        scorer = metric(resolve_model(parse_model(str(folder)))).load(torch.device("cpu"))
        alone = [scorer.score([(article, text)])[0] for article, text, *_ in found]
        assert [float(row[column]) for row in found] == pytest.approx(alone, abs=1e-5)
    again = driver.start(store, planned(tiny_models, **models), "inline", QUIET, reuse=True)
    other = models | {"fluency_model": str(tiny_models["gpt2-lm"])}
    anew = driver.start(store, planned(tiny_models, **other), "inline", QUIET, reuse=True)
    without = driver.start(store, planned(tiny_models), "inline", QUIET, reuse=True)
    assert (again.reused, anew.reused, without.reused) == (again.summaries, 0, 0)


def test_a_file_is_scored_with_them(tiny_models: dict[str, Path]) -> None:
    options = Options(fluency_model=str(tiny_models["llama"]), faithfulness_model=str(tiny_models["nli"]))
    scored = [Row("The cat said no.", (), "The cat said. No news."), Row("news", (), "The cat.")]
    for name in ("fluency", "faithfulness"):
        metric = make_metric(name, options)
        assert metric.statistics(scored).shape == (2, 1)
        assert metric.signature.startswith(f"{name}|")
    with pytest.raises(RecipeError, match="The metric fluency needs a causal language model, such as smollm2"):
        make_metric("fluency")
