"""What was asked for and given, as the store tells it and as the SQL of docs/generators.md does."""

import re
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from nws.core.article import Article
from nws.core.types import BundleResult, Summary
from nws.jobs.store import EndpointUse, Store

PAGE = Path(__file__).parents[3] / "docs" / "generators.md"
# By article and n.
WRITTEN = {(0, 3): 3, (0, 5): 9, (1, 3): 3, (1, 5): 4, (2, 3): 5, (2, 5): 5}


@pytest.fixture
def run_id(store: Store, run: tuple[str, int], articles: list[Article], summary: Callable[..., Summary]) -> str:
    """Three articles by an endpoint that is asked for n words, by one that writes once, and by `lead`."""
    found = []
    for i, article in enumerate(articles[:3]):
        for n in (3, 5):
            extra = {"words_asked": n, "words_written": WRITTEN[i, n], "prompt_tokens": 100 + n, "completion_tokens": 7}
            extra |= {"requests": 2, "drafts": 4, "words_first": 6, "cached_tokens": 50} if n == 5 else {"requests": 1}
            extra |= {"answered_by": f"model-{i % 2}"} if n == 5 else {}
            found.append(replace(summary(article, "asked", n), extra=extra))
        for n in (0, 3, 5):
            found.append(replace(summary(article, "once", n), extra={"prompt_tokens": 90, "requests": 1}))
            found.append(summary(article, "lead", n))
    store.writer(*run).record([(articles[:3], BundleResult(tuple(found), ()))])
    return run[0]


def test_how_well_n_is_kept(store: Store, run_id: str) -> None:
    assert [astuple(of) for of in store.obedience(run_id, ["asked", "once"])] == [
        ("asked", 3, 3, *map(pytest.approx, (11 / 3, 2 / 3, 2 / 3, 2 / 3)), None, None, 3, 0),
        ("asked", 5, 3, *map(pytest.approx, (6, 1 / 3, 2 / 3, 5 / 3, 0, 1)), 6, 12),
    ]
    assert store.obedience(run_id, ["once", "lead"]) == []
    # An answer that is cut to every n is counted once.
    used = [EndpointUse("asked", 3, 9, 3 * (103 + 105), 3 * 14, 150, 2), EndpointUse("once", 3, 3, 270, 0, 0, 0)]
    assert store.endpoint_use(run_id, ["asked", "once", "lead"]) == used


def test_the_sql_of_the_page_says_the_same(store: Store, run_id: str) -> None:
    (sql,) = re.findall(r"```sql\n(.*?)\n```", PAGE.read_text("utf-8"), re.DOTALL)
    newest = "(SELECT id FROM runs WHERE job = 'baselines' AND summaries > 0 ORDER BY created_at DESC LIMIT 1)"
    with store.query(sql.replace(newest, f"'{run_id}'")) as answer:
        rows = [(system, n, count, *map(float, means)) for system, n, count, *means in answer.rows]
    found = store.obedience(run_id, ["asked"])
    assert rows == [
        (
            one.system,
            one.n,
            one.summaries,
            *map(pytest.approx, (one.mean_length, one.exactly, 1 - one.within, one.absolute_miss)),
        )
        for one in found
    ]
