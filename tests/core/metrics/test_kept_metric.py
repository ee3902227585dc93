"""Content kept of any rows: against its formula, and over which documents its floor is drawn."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch

from core.errors import CorpusError
from core.metrics.bertscore import BertScorer
from core.metrics.config import BertScoreConfig, Options
from core.metrics.kept import OTHERS, others, with_others
from core.metrics.metric import Row
from core.metrics.registry import make_metric
from core.metrics.specs import KEPT, KEPT_WORDS
from core.models import parse_model, resolve_model


def kept(name: str, rows: list[Row], **options: object) -> list[float]:
    statistics = make_metric(name, Options(**options)).statistics(rows)
    assert (statistics.shape, statistics.dtype) == ((len(rows), 1), np.float64)
    return statistics[:, 0].tolist()


@pytest.fixture
def rows(sample_rows: list[dict[str, str]]) -> list[Row]:
    """Two systems on nine documents."""
    return [
        Row(" ".join(row["article"].split()[first : first + 12]), (row["highlights"],))
        for first in (0, 12)
        for row in sample_rows[:9]
    ]


def test_the_floor_is_the_mean_recall_of_references_of_the_other_documents(rows: list[Row]) -> None:
    scorer = BertScorer(BertScoreConfig(resolve_model(parse_model("all-MiniLM-L6-v2")), 6), torch.device("cpu"))
    for i in (0, 13):
        strange = {row.references[0] for row in rows} - {rows[i].references[0]}
        assert len(strange) == 8
        own, *floor = (
            s.recall for s in scorer.score([(rows[i].prediction, (r,)) for r in (*rows[i].references, *strange)])
        )
        expected = (own - sum(floor) / 8) / (1 - sum(floor) / 8)
        assert kept("kept", rows)[i] == pytest.approx(expected, abs=1e-5)


def test_words_need_no_model(rows: list[Row]) -> None:
    tokenizer = ("bridge", "closed", "storm", "queen", "hears", "music")
    three = [
        Row("storm", ("bridge closed storm",)),
        Row("music", ("queen hears music",)),
        Row("bridge queen", ("closed hears",)),
    ]
    weight = {word: math.log(4 / (1 + sum(word in row.references[0].split() for row in three))) for word in tokenizer}

    def recall(text: str, reference: str) -> float:
        words = reference.split()
        return sum(weight[w] for w in words if w in text.split()) / sum(weight[w] for w in words)

    for i, row in enumerate(three):
        floor = sum(recall(row.prediction, other.references[0]) for other in three if other != row) / 2
        expected = (recall(row.prediction, row.references[0]) - floor) / (1 - floor)
        assert kept("kept_words", three)[i] == pytest.approx(expected)
    make = "from core.metrics.registry import make_metric; make_metric('kept_words')"
    code = f"import sys; {make}; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("name", [KEPT.name, KEPT_WORDS.name])
def test_the_order_of_rows_does_not_matter_and_a_reference_keeps_all(name: str, rows: list[Row]) -> None:
    assert kept(name, rows[::-1])[::-1] == pytest.approx(kept(name, rows), abs=1e-6)
    own = [Row(row.references[0], row.references) for row in rows[:9]]
    assert kept(name, own) == pytest.approx([1] * 9, abs=1e-5)


def test_other_options_of_bertscore_change_nothing(rows: list[Row]) -> None:
    plain = make_metric("kept")
    assert make_metric("kept", Options(references="mean")).signature == plain.signature
    assert "|layer:6|" in plain.signature
    assert make_metric("kept_words", Options(stemmer=True)).signature != make_metric("kept_words").signature
    assert kept("kept", rows, references="mean") == kept("kept", rows)


def test_rows_of_one_document_are_none_of_its_others() -> None:
    """As those of several systems are, and those of the views of `nws score --human`: by the source."""
    texts = [f"The council of town {i} met on day {i * 7} and spoke about matter {i * 13}." for i in range(OTHERS + 5)]
    rows = [Row("x", (f"{person} of {i}.",), text) for i, text in enumerate(texts) for person in ("One", "Another")]
    articles, panel = with_others(rows)
    assert with_others(rows[::-1])[1] == panel
    assert [len(panel.articles), len(articles)] == [len(texts), len(rows)]
    for article in articles:
        drawn = {other.text for other in others(article, panel)}
        assert len(drawn) == OTHERS
        assert article.text not in drawn


@pytest.mark.parametrize("name", [KEPT.name, KEPT_WORDS.name])
def test_a_document_without_others_is_named(name: str) -> None:
    with pytest.raises(CorpusError, match=r"'The council met\.' has none beside it: score rows of two documents"):
        make_metric(name).statistics([Row("a", ("The council met.",)), Row("b", ("The council met.",))])
