"""What a person reaches: references that are scored as predictions are."""

import io
import json
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU

from core.errors import CorpusError
from core.metrics.config import Options
from core.metrics.metric import Row
from core.metrics.registry import METRICS, NEED_BACKBONE
from core.metrics.specs import BY_MODEL
from jobs.evaluate.printed_scores import print_score
from jobs.evaluate.score import VIEWS, FileScore, score_file

ROWS = [
    {"prediction": "a cat sat", "references": ["a cat", "the cat sat", "cats sit there"], "source": "a cat sat there"},
    {"prediction": "no", "references": ["one alone"], "source": "one"},
    {
        "prediction": "dogs bark",
        "references": ["the dog barked", "dogs bark at night"],
        "source": "dogs bark at the moon",
    },
]
SCORER = RougeScorer(["rouge1"])


@pytest.fixture
def scored(tmp_path: Path) -> Callable[..., FileScore]:
    def run(names: list[str], rows: list[dict[str, object]] = ROWS, **options: object) -> FileScore:
        file = tmp_path / "p.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return score_file(file, names, Options(**options), 0, human=True)

    return run


def f1(prediction: str, reference: str) -> float:
    return float(SCORER.score(reference, prediction)["rouge1"].fmeasure)


def means(score: FileScore, view: str) -> dict[str, float]:
    assert score.human is not None
    return {name: [*metric.intervals.values()][-1].mean for name, metric in score.human.views[view].items()}


def test_each_view_by_hand() -> None:
    row = Row("p", ("x", "y", "z"), "s")
    assert VIEWS["person"](row) == [Row("x", ("y", "z"), "s"), Row("y", ("x", "z"), "s"), Row("z", ("x", "y"), "s")]
    assert VIEWS["prediction"](row) == [Row("p", others, "s") for others in (("y", "z"), ("x", "z"), ("x", "y"))]
    assert VIEWS["one_reference"](row) == [Row(text, ("x", "y", "z"), "s") for text in ("x", "y", "z")]


def test_the_numbers_are_means_over_rows_with_several_references(scored: Callable[..., FileScore]) -> None:
    several = [row for row in ROWS if len(row["references"]) > 1]
    best, mean = scored(["rouge1"]), scored(["rouge1"], references="mean")
    assert best.human is not None
    assert (best.human.rows, len(best.predictions)) == (2, 3)
    for score, of in ((best, max), (mean, np.mean)):
        person = [
            np.mean(
                [
                    of([f1(text, other) for j, other in enumerate(row["references"]) if j != i])
                    for i, text in enumerate(row["references"])
                ]
            )
            for row in several
        ]
        assert means(score, "person")["rouge1"] == pytest.approx(np.mean(person))
        as_many = [
            np.mean(
                [
                    of([f1(row["prediction"], other) for j, other in enumerate(row["references"]) if j != i])
                    for i in range(len(row["references"]))
                ]
            )
            for row in several
        ]
        assert means(score, "prediction")["rouge1"] == pytest.approx(np.mean(as_many))
    # Against all, a reference finds itself: 1 where the best counts. In the mean it is one of m.
    assert means(best, "one_reference")["rouge1"] == 1
    expected = [
        (m + sum(f1(a, b) for a, b in permutations(row["references"], 2))) / m**2
        for row in several
        for m in [len(row["references"])]
    ]
    assert means(mean, "one_reference")["rouge1"] == pytest.approx(np.mean(expected))


def test_a_score_of_the_corpus_has_every_reference_as_a_row(scored: Callable[..., FileScore]) -> None:
    rows = [
        {"prediction": "x", "references": [f"the cat sat on mat {i}", f"a cat sat on the mat {i}", "the cat sat"]}
        for i in range(4)
    ]
    score = scored(["sacrebleu"], rows)
    pairs = [(text, [o for o in row["references"] if o != text]) for row in rows for text in row["references"]]
    columns = [[others[k] for _, others in pairs] for k in range(2)]
    expected = BLEU().corpus_score([text for text, _ in pairs], columns).score
    assert means(score, "person")["sacrebleu"] == pytest.approx(expected)
    assert score.human is not None
    assert score.human.views["person"]["sacrebleu"].signature.startswith("nrefs:2|")
    assert score.metrics["sacrebleu"].signature.startswith("nrefs:3|")


def test_every_metric_has_it(scored: Callable[..., FileScore]) -> None:
    names = sorted(METRICS.keys() - {*NEED_BACKBONE, *BY_MODEL})
    score = scored(names)
    for view in VIEWS:
        assert set(means(score, view)) == set(names)


def test_content_kept_is_not_held_against_other_references_of_the_same_document(
    scored: Callable[..., FileScore],
) -> None:
    references = [["a storm shut the bridge", "the bridge is closed"], ["the queen hears music", "music for a queen"]]
    with_sources = [
        {"prediction": "a storm", "references": texts, "source": f"{i} {texts}"} for i, texts in enumerate(references)
    ]
    without = [{name: row[name] for name in ("prediction", "references")} for row in with_sources]
    for view in VIEWS:
        found = means(scored(["kept_words"], without), view)
        assert found == means(scored(["kept_words"], with_sources), view)


def test_without_several_references_it_is_refused(scored: Callable[..., FileScore]) -> None:
    with pytest.raises(CorpusError, match=r"No row has two references or more.* Leave --human out"):
        scored(["rouge1"], ROWS[1:2])


def test_what_is_printed_and_written(scored: Callable[..., FileScore]) -> None:
    score = scored(["rouge1", "bleu1"])
    found = score.as_dict()["human"]
    assert list(found) == ["rows", "person", "prediction", "one_reference"]
    assert found["person"]["metrics"]["rouge1"]["f1"] == means(score, "person")["rouge1"]
    low, high = found["person"]["intervals"]["rouge1"]["f1"]
    assert low < means(score, "person")["rouge1"] < high
    out = io.StringIO()
    print_score(score, Console(file=out, width=80))
    text = out.getvalue()
    assert "People, in 2 rows with several references:" in text
    assert text.index("A person: each reference against the others") < text.index("The prediction against as many")
    assert f"{means(score, 'person')['rouge1']:.4f}" in text
    assert max(map(len, text.splitlines())) <= 80
