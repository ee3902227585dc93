"""Checks of what every system and metric promises, for authors of plugins: see docs/your-own.md."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from core.plugins.adapters import Judged, PluginMetric, PluginSystem, plugin_metrics, plugin_systems, require_drafts
from core.plugins.load import PluginSpec, read_plugin
from core.systems.importance import unit_rows
from core.systems.system import Document, Draft, Embeddings, System
from core.text.dataset import BUNDLED
from core.text.length import UNCUT, LengthUnit
from core.text.segmentation import Segmenter
from core.text.words import count_words
from core.types import Article, Segment, SegmentedArticle

LENGTHS = (1, 3, 7, 13)
ENCODER = "all-MiniLM-L6-v2"
"""The name under which documents have vectors. They are drawn at random from each text: no model is loaded."""
_DIMENSIONS = 16
_REFERENCES = (
    ("Snow closed the schools of Dover.",),
    ("Snow has closed all schools.", "Schools in Dover stay closed after heavy snow.", "Snow"),
)
_ARTICLES = 3


def check_plugin(plugin: str) -> tuple[PluginSystem | PluginMetric, ...]:
    """Check every system and metric that a Python file or an installed entry point has.

    Raises:
        PluginError: it cannot be found or imported, or a system or metric gave what none may.
        AssertionError: names the system or metric and what does not hold for it.
    """
    read = read_plugin(PluginSpec(plugin), Path(plugin))
    systems, metrics = plugin_systems(read, [ENCODER]), plugin_metrics(read)
    for system in systems:
        check_system(system)
    for metric in metrics:
        check_metric(metric)
    return (*systems, *metrics)


def check_metric(metric: PluginMetric) -> None:
    """Check what every metric from outside promises, on summaries of the bundled articles.

    Its values are finite numbers, even for a single word or a whole article. They are the same the second time,
    whatever was scored in between, and for any order of the references. Otherwise the values would differ in a run that
    is resumed, or that copies from another run.

    Raises:
        PluginError: it raised, or returned no finite number.
        AssertionError: says what else does not hold.
    """
    article = _sample()[0]
    pairs = [(text, references) for references in _REFERENCES for text in (*_sample(), *references, "Snow")]
    all_judged = [
        Judged(text, references, repr(text[:40]), article, count_words(text), "en", "a") for text, references in pairs
    ]
    values = [metric.judge(judged) for judged in all_judged]
    for judged, value in reversed(list(zip(all_judged, values, strict=True))):
        again = metric.judge(judged)
        assert again == value, f"{metric.name} is {value!r}, and {again!r} the second time, for {judged.subject}"
        turned = metric.judge(replace(judged, references=judged.references[::-1]))
        assert math.isclose(turned, value, rel_tol=1e-9, abs_tol=1e-12), (
            f"{metric.name} is {value!r}, and {turned!r} with its references in another order, for {judged.subject}"
        )


def check_system(system: System, articles: Sequence[str] = ()) -> None:
    """Check what every system promises, at several n.

    It gives one draft of each length in order, the uncut one first if it `has_uncut`. None is empty or has more than n
    words. It writes the same texts again, and the same text at n whatever other lengths are asked for. Otherwise rows
    would differ in a run that is resumed, or that copies from another run. Only an upper bound asks for scores against
    references.

    Args:
        system: see `core.systems.system.System`.
        articles: English texts; three of the bundled sample and one of four words unless given.

    Raises:
        PluginError: it wrote what no system may.
        AssertionError: says what else does not hold.
    """
    segment = Segmenter("blank")
    for text in articles or _sample():
        article = Article("contract", "all", "a", text, ("A reference.", "Another one."))
        document = trial_document(segment(article), [ENCODER], sees_references=system.kind == "upper bound")
        drafts = system.summarize(document, LENGTHS)
        require_drafts(drafts, LENGTHS, system.has_uncut)
        assert system.summarize(document, LENGTHS) == drafts, f"{system.signature} writes other texts the second time"
        for n in LENGTHS:
            assert _at(n, system.summarize(document, [n])) == _at(n, drafts), (
                f"{system.signature} writes another text at n = {n} where no other length is asked for"
            )


def _at(n: int, drafts: Sequence[Draft]) -> list[Draft]:
    return [draft for draft in drafts if draft.n in (n, UNCUT)]


def _sample() -> list[str]:
    lines = BUNDLED["sample"].read_text(encoding="utf-8").splitlines()[:_ARTICLES]
    return [*(json.loads(line)["article"] for line in lines), "Four words of news."]


def trial_document(
    segmented: SegmentedArticle,
    encoders: Sequence[str],
    length_unit: LengthUnit = "words",
    sees_references: bool = True,
) -> Document:
    """A document whose vectors and scores follow from its texts alone: no model is loaded."""
    vectors = Embeddings(_vectors(segmented.sentences), _vectors(segmented.chunks))
    f1 = _shares if sees_references else _refused
    return Document(segmented, dict.fromkeys(encoders, vectors), f1, _anchored, _other, _shares, length_unit)


def _vectors(segments: Sequence[Segment]) -> Any:
    """Float32 unit vectors, (segments, 16), which follow from the text alone."""
    rows = [np.random.default_rng(_number(segment.text)).normal(size=_DIMENSIONS) for segment in segments]
    return unit_rows(np.array(rows, dtype=np.float32).reshape(len(rows), _DIMENSIONS))


def _shares(texts: Sequence[str]) -> list[float]:
    """In place of F1: a number in [0, 1) that follows from the text alone."""
    return [_number(text) / 2**64 for text in texts]


def _anchored(anchor: str, texts: Sequence[str]) -> list[float]:
    return _shares([f"{anchor} {text}" for text in texts])


def _other() -> str:
    return "The reference of another article."


def _refused(texts: Sequence[str]) -> NoReturn:
    raise AssertionError("only a system of the kind 'upper bound' may ask for scores against the references")


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
