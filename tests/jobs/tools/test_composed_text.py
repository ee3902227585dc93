"""Text that is encoded in another way is the same text, to a run and to `nws score`."""

import io
import json
from pathlib import Path
from typing import Literal
from unicodedata import normalize

from rich.console import Console

from core.metrics.config import Options
from core.metrics.specs import BY_COLUMN
from jobs.drive import driver
from jobs.recipes.job import make_plan
from jobs.recipes.load import load_recipe
from jobs.recipes.plan import Plan
from jobs.recipes.sweep_recipe import BaselinesRecipe
from jobs.report.table import Table
from jobs.store import Store, open_store
from jobs.tools.score import score_file

QUIET = Console(file=io.StringIO())
ROWS = [
    {
        "id": "a",
        "article": "Zoë Brontë opened a café in Malmö. The façade is naïve, said the critic René Müller of Zürich.",
        "highlights": "Brontë’s café opened in Malmö; a critic called its façade naïve.",
    },
    {"id": "b", "article": "Señor Nuñez sold piñatas at the fête in Besançon.", "highlights": "Piñatas in Besançon."},
]
Form = Literal["NFC", "NFD"]


def encoded(row: dict[str, str], form: Form) -> dict[str, str]:
    return {name: normalize(form, text) for name, text in row.items()}


def planned(folder: Path, form: Form) -> Plan:
    file = folder / "news.jsonl"
    file.write_text("".join(json.dumps(encoded(row, form)) + "\n" for row in ROWS))
    asked = {"datasets": [{"name": str(file)}], "systems": ["lead", "random", "textrank"], "n": [5, 9]}
    return make_plan(load_recipe(BaselinesRecipe, "sample", asked))


def summaries(store: Store) -> list[dict[str, object]]:
    columns = ", ".join(BY_COLUMN)
    sql = f"SELECT key, system, n, s.text, {columns} FROM summaries s JOIN articles a ON a.id = s.article_id"
    with store.query(f"{sql} ORDER BY 1, 2, 3") as answer:
        return Table(answer.columns, list(answer.rows)).objects()


def test_a_run_and_nws_score_give_the_same_numbers_for_decomposed_text(tmp_path: Path) -> None:
    found: dict[Form, list[dict[str, object]]] = {}
    for form in ("NFC", "NFD"):
        with open_store(f"sqlite:///{tmp_path / form}.db") as store:
            driver.start(store, planned(tmp_path, form), "inline", QUIET)
            found[form] = summaries(store)
    assert found["NFD"] == found["NFC"]
    by_lead = [row for row in found["NFC"] if row["system"] == "lead"]
    articles = {row["id"]: encoded(row, "NFD") for row in ROWS}
    predictions = tmp_path / "predictions.jsonl"
    for row in by_lead:
        article = articles[str(row["key"])]
        prediction = {"prediction": normalize("NFD", str(row["text"])), "source": article["article"]}
        predictions.write_text(json.dumps(prediction | {"reference": article["highlights"]}) + "\n")
        scores = score_file(predictions, ["rouge1", "rouge2", "rougeL", "density", "coverage"], Options(), 0)
        for name, parts in scores.as_dict()["metrics"].items():
            for part, value in parts.items():
                column = name if part == "score" else f"{name.lower()}_{part}"
                assert row[column] == value, column
