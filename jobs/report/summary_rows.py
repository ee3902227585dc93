"""Every summary of a run as a row of a file, for pandas, polars, datasets and spreadsheets.

Articles are read some at a time, so that memory does not grow with the run.
"""

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nws.core.errors import RecipeError
from nws.core.whole_files import check_target, replacing
from nws.jobs.report.run_report import run_json
from nws.jobs.report.table import plain, put_csv
from nws.jobs.store import SUMMARY_COLUMNS, ArticleTexts, RunInfo, Store
from nws.jobs.store.runs import chosen_metrics_of

SUFFIXES = (".parquet", ".csv", ".jsonl")
STDOUT = Path("-")
MADE_BY = "nws"
"""Key of the metadata of a Parquet file under which stands, as JSON, what made its numbers."""

_OF_ARTICLE: Mapping[str, type] = dict.fromkeys(("dataset", "split", "key", "kind"), str)
_TEXTS: Mapping[str, type] = {"article": str, "references": list}
_ARTICLES_AT_ONCE = 200

Row = dict[str, Any]


def row_columns(run: RunInfo, with_articles: bool) -> dict[str, type]:
    """Return the columns of a row, in order, with the type of their values; `extra` is an object.

    They are those of the table `summaries`, then the metrics of plugins, where the article is from, what the system is,
    and, if wanted, the article's text and its references.
    """
    chosen_columns = dict.fromkeys(chosen_metrics_of(run), float)
    return {**SUMMARY_COLUMNS, **chosen_columns, **_OF_ARTICLE, **(_TEXTS if with_articles else {})}


def check_rows_target(target: Path) -> None:
    """Refuse, before anything is read, a file that cannot be written.

    Raises:
        RecipeError: no such folder, or no such kind of file.
    """
    if target == STDOUT:
        return
    if target.suffix.lower() not in SUFFIXES:
        raise RecipeError(f"--rows {target}: name a file that ends in {', '.join(SUFFIXES)}, or - for JSON lines here.")
    check_target("--rows", target)


def write_summary_rows(store: Store, run: RunInfo, target: Path, with_articles: bool) -> tuple[int, tuple[Path, ...]]:
    """Write every summary of a run to a file, new or replaced, all of them or none; or to stdout, as JSON lines.

    What made the numbers is in the metadata of a Parquet file (`MADE_BY`), and in `TARGET.run.json` beside another one.

    Returns:
        How many rows there are, and the files that were written.

    Raises:
        RecipeError: it cannot be written; an older one is as it was.
    """
    check_rows_target(target)
    counts: list[int] = []
    pieces = _pieces(store, run, with_articles, counts)
    if target == STDOUT:
        for rows in pieces:
            sys.stdout.write("".join(json.dumps(row) + "\n" for row in rows))
        return sum(counts), ()
    made_by = json.dumps(run_json(run), ensure_ascii=False)
    beside = None if target.suffix.lower() == ".parquet" else target.with_name(f"{target.name}.run.json")
    try:
        with contextlib.ExitStack() as both:
            unfinished = both.enter_context(replacing(target))
            _WRITERS[target.suffix.lower()](unfinished, pieces, row_columns(run, with_articles), made_by)
            if beside:
                both.enter_context(replacing(beside)).write_text(made_by + "\n", encoding="utf-8")
    except OSError as error:
        raise RecipeError(f"--rows {target} cannot be written ({error.strerror or error}).") from error
    return sum(counts), (target, beside) if beside else (target,)


def _pieces(store: Store, run: RunInfo, with_articles: bool, counts: list[int]) -> Iterator[list[Row]]:
    """Yield the rows of some articles at a time: by article id, system and n, the same in every store.

    The number of each piece's rows is appended to `counts`.
    """
    kinds = store.systems(run.id)
    ids = list(store.finished_article_ids(run.id))
    for start in range(0, len(ids), _ARTICLES_AT_ONCE):
        articles = store.article_texts(run.id, ids[start : start + _ARTICLES_AT_ONCE])
        rows = [row for article in articles for row in _rows(article, kinds, with_articles)]
        counts.append(len(rows))
        yield rows


def _rows(article: ArticleTexts, kinds: Mapping[str, str], with_articles: bool) -> Iterator[Row]:
    texts = {"article": article.text, "references": list(article.references)} if with_articles else {}
    for summary in sorted(article.summaries, key=lambda summary: (summary["system"], summary["n"])):
        yield {
            **summary,
            **{"dataset": article.dataset, "split": article.split, "key": article.key},
            **{"kind": kinds.get(summary["system"], "system"), **texts},
        }


def _write_jsonl(path: Path, pieces: Iterator[list[Row]], columns: Mapping[str, type], made_by: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        for rows in pieces:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _write_csv(path: Path, pieces: Iterator[list[Row]], columns: Mapping[str, type], made_by: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        put_csv(file, tuple(columns), ([row[name] for name in columns] for rows in pieces for row in rows))


def _write_parquet(path: Path, pieces: Iterator[list[Row]], columns: Mapping[str, type], made_by: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), dict: pa.string(), list: pa.list_(pa.string())}
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()], metadata={MADE_BY: made_by})
    # Arrow would not take a name that is no UTF-8.
    with path.open("wb") as raw, pyarrow.parquet.ParquetWriter(raw, schema, compression="zstd") as file:
        for rows in pieces:
            file.write_table(pa.Table.from_pylist([row | {"extra": plain(row["extra"])} for row in rows], schema))


_WRITERS = {".jsonl": _write_jsonl, ".csv": _write_csv, ".parquet": _write_parquet}
