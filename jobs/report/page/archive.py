"""The data of the page's viewer: articles with all their summaries and scores, embedded in compressed parts.

Each part is JSON, gzipped and in base64. A browser unpacks the part of the article that it shows
(`DecompressionStream`), so that opening the page takes no longer for 4,000 articles than for 24.
"""

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from textwrap import shorten
from typing import Any, TypeAlias

import numpy as np

from nws.core.findings.content import CONTENT_KEPT
from nws.core.metrics.specs import BY_COLUMN, OF_OTHERS, SPECS, Metric, MetricSpec
from nws.core.systems.rulers import OTHER_ARTICLE
from nws.core.text.length import count_words
from nws.core.types import LEAD, SystemKind
from nws.jobs.report.charts import system_looks
from nws.jobs.report.system_names import SystemNames
from nws.jobs.store import ArticleTexts, Store

MOST_BYTES = 22_000_000
"""The most bytes of all parts together, so that the file stays below 25 MB."""
_ARTICLES_OF_A_PART = 16
_TITLE = 90  # characters of an article in the list
_NO_SCORE = -32768
COLUMNS = tuple(column for spec in SPECS for column in (spec.column, *spec.parts))
"""The scores that every summary has, in the order in which a part has them."""


@dataclass(frozen=True, slots=True)
class ViewedSystem:
    """A system as the viewer offers it: `label` as in the page's tables, `name` in full, `look` its CSS classes.

    `is_searched` says whether its texts are about their article: `other-article` has those of other ones.
    """

    name: str
    label: str
    kind: SystemKind
    run: str
    look: str
    is_searched: bool = True


@dataclass(frozen=True, slots=True)
class Archive:
    """The embedded data, in base64: `index` and `parts` are gzipped JSON, `ranks` gzipped int16 (little-endian).

    `ranks` has the shape (articles, systems, lengths): the score that articles are ordered by, in ten-thousandths,
    -32768 where there is none.
    """

    index: str
    ranks: str
    parts: tuple[str, ...]
    articles: int
    total_articles: int


Sources: TypeAlias = Mapping[str, Mapping[str, str]]
"""By the id of each run whose summaries the viewer shows, the names of its systems on the page."""


def viewed_systems(sources: Sources, kinds: Mapping[str, SystemKind], names: SystemNames) -> tuple[ViewedSystem, ...]:
    """List the systems of all runs, in the order of `kinds`, which is by their names on the page."""
    run_ids = {name: run_id for run_id, own in [*sources.items()][::-1] for name in own.values()}  # the first counts
    of_others = {own[OTHER_ARTICLE] for own in sources.values() if OTHER_ARTICLE in own}
    looks = system_looks(kinds)
    return tuple(
        ViewedSystem(name, names[name], kind, run_ids[name], looks[name].css, name not in of_others)
        for name, kind in kinds.items()
    )


def build_archive(
    store: Store,
    sources: Sources,
    systems: Sequence[ViewedSystem],
    article_ids: Sequence[str],
    lengths: Sequence[int],
    opening: tuple[str, int] | None = None,
    optional: Sequence[Metric] = (),
) -> Archive:
    """Build the archive of the first articles by id, as many as `MOST_BYTES` hold.

    An id is a hash, so the first ones are a random sample of all.

    Args:
        store: the store of the runs.
        sources: the runs, and their systems.
        systems: as `viewed_systems` gives them.
        article_ids: the ids of all articles with summaries in these runs.
        lengths: every n, with 0 for uncut summaries.
        opening: the system, by its name on the page, and the n that are shown first; None for the first system at the
            middle n.
        optional: the scores beyond `COLUMNS` that the runs have; a summary may lack them. With content kept among them,
            articles are ordered by it, and else by BERTScore F1.
    """
    columns = (*COLUMNS, *optional)
    ranked = CONTENT_KEPT if CONTENT_KEPT in optional else "bertscore_f1"
    place = {system.name: i for i, system in enumerate(systems)}
    row = {n: i for i, n in enumerate(lengths)}
    chosen = sorted(article_ids)
    parts: list[str] = []
    listed: list[dict[str, Any]] = []
    scores: list[np.ndarray[Any, np.dtype[np.int16]]] = []
    size = 0
    for start in range(0, len(chosen), _ARTICLES_OF_A_PART):
        texts = _texts_of_runs(store, sources, chosen[start : start + _ARTICLES_OF_A_PART])
        part = _packed_json([_article(article, place, row, columns) for article in texts])
        size += len(part)
        if parts and size > MOST_BYTES:
            break
        listed += [_entry(article, len(parts), i) for i, article in enumerate(texts)]
        scores += [_ranks(article, place, row, ranked) for article in texts]
        parts.append(part)
    index = {
        "columns": columns,
        "scales": [scale(column) for column in columns],
        "ranked": _metric(BY_COLUMN[ranked]),
        "metrics": [_metric(spec) for spec in (*OF_OTHERS, *SPECS) if spec.column in columns],
        "systems": [asdict(system) for system in systems],
        "lengths": list(lengths),
        "articles": listed,
        "opens": _opens(opening, systems, lengths),
    }
    return Archive(
        index=_packed_json(index),
        ranks=_packed(np.array(scores, dtype="<i2").tobytes()),
        parts=tuple(parts),
        articles=len(listed),
        total_articles=len(article_ids),
    )


def _texts_of_runs(store: Store, sources: Sources, ids: Sequence[str]) -> list[ArticleTexts]:
    """Read the articles with the summaries of all runs, under the names that systems have on the page."""
    articles: dict[str, ArticleTexts] = {}
    for run_id, names in sources.items():
        for texts in store.article_texts(run_id, ids):
            own = (summary for summary in texts.summaries if summary["system"] in names)
            renamed = [{**summary, "system": names[summary["system"]]} for summary in own]
            earlier = articles[texts.id].summaries if texts.id in articles else ()
            had = {(summary["system"], summary["n"]) for summary in earlier}
            new = (summary for summary in renamed if (summary["system"], summary["n"]) not in had)
            articles[texts.id] = texts.with_summaries((*earlier, *new))
    return [articles[article_id] for article_id in ids if article_id in articles]


def _article(
    article: ArticleTexts, place: Mapping[str, int], row: Mapping[int, int], columns: Sequence[str]
) -> dict[str, Any]:
    """Put scores into columns: numbers of one kind beside each other compress better."""
    summaries = sorted(article.summaries, key=lambda summary: (place[summary["system"]], row[summary["n"]]))
    return {
        "text": article.text,
        "references": article.references,
        "at": [[place[summary["system"]], row[summary["n"]]] for summary in summaries],
        "texts": [summary["text"] for summary in summaries],
        "words": [summary["words"] for summary in summaries],
        "draws": [len(summary["extra"].get("draws", ())) for summary in summaries],
        "scores": [[_embedded(summary[column], column) for summary in summaries] for column in columns],
    }


def _embedded(score: float | None, column: str) -> int | None:
    return None if score is None else round(score * scale(column))


def scale(column: str) -> int:
    """Return the factor that makes a score a whole number to embed. More digits would make up most of the page.

    What is shown in percent has a digit more: of 0.285, which 0.2847 would be, nobody knows that it is 28 %.
    """
    return int(10 ** (BY_COLUMN[column].decimals + (column == CONTENT_KEPT)))


def _entry(article: ArticleTexts, part: int, at: int) -> dict[str, Any]:
    title = shorten(article.text[: 2 * _TITLE], _TITLE, placeholder="")
    names = {"id": article.id, "key": article.key, "dataset": article.dataset}
    return names | {"words": count_words(article.text), "title": title, "part": part, "at": at}


def _metric(spec: MetricSpec) -> dict[str, Any]:
    """Say how the viewer names and prints a score, and which columns have its precision and recall, if any."""
    label = spec.columns[spec.column] if spec.has_parts or spec in OF_OTHERS else spec.short or spec.label
    shown = {"label": label, "places": spec.decimals, "percent": spec.column == CONTENT_KEPT}
    return {"column": spec.column, "parts": spec.parts, **shown}


def _ranks(
    article: ArticleTexts, place: Mapping[str, int], row: Mapping[int, int], ranked: str
) -> np.ndarray[Any, np.dtype[np.int16]]:
    ranks = np.full((len(place), len(row)), _NO_SCORE, dtype=np.int16)
    for summary in article.summaries:
        if summary[ranked] is not None:
            ranks[place[summary["system"]], row[summary["n"]]] = round(summary[ranked] * 10_000)
    return ranks


def _opens(opening: tuple[str, int] | None, systems: Sequence[ViewedSystem], lengths: Sequence[int]) -> dict[str, int]:
    """Return the places of the system, of `lead` beside it (-1: nothing), and of n."""
    names = [system.name for system in systems]
    chosen = [i for i, system in enumerate(systems) if system.kind == "system"]
    first, opening_n = opening or ("", -1)
    system = names.index(first) if first in names else next(iter(chosen), 0)
    cut = [i for i, n in enumerate(lengths) if n > 0] or [0]
    n = lengths.index(opening_n) if opening_n in lengths else cut[len(cut) // 2]
    other = names.index(LEAD) if LEAD in names and names[system] != LEAD else -1
    return {"system": system, "other": other, "n": n}


def _packed_json(value: Any) -> str:
    return _packed(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, mtime=0)).decode("ascii")
