import base64
import gzip
import json
from typing import Any

import numpy as np
import pytest
from stored_rows import rows

from nws.core.analysis import kinds_of
from nws.jobs.report.page import archive as module
from nws.jobs.report.page.archive import COLUMNS, Archive, build_archive, scale, viewed_systems
from nws.jobs.report.system_names import FULL_NAMES
from nws.jobs.store import Store

LENGTHS = (3, 9, 21)


def unpacked(text: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(text)))


def embedded(column: str, value: float) -> int:
    return round(scale(column) * value)


def archive_of(store: Store, run: str, **more: Any) -> Archive:
    points = store.points(run)
    sources = {run: {system: system for system in points.systems}}
    systems = viewed_systems(sources, kinds_of(points), FULL_NAMES)
    return build_archive(store, sources, systems, [article for _, article in points.articles], LENGTHS, **more)


def ranks_of(archive: Archive) -> Any:
    index = unpacked(archive.index)
    ranks = np.frombuffer(gzip.decompress(base64.b64decode(archive.ranks)), dtype="<i2")
    return ranks.reshape(archive.articles, len(index["systems"]), len(index["lengths"]))


@pytest.mark.slow
def test_it_holds_every_summary_with_all_of_its_scores(store: Store, swept: str) -> None:
    archive = archive_of(store, swept)
    index, parts = unpacked(archive.index), [unpacked(part) for part in archive.parts]
    found = {}
    for entry in index["articles"]:
        body = parts[entry["part"]][entry["at"]]
        for k, (s, n) in enumerate(body["at"]):
            scores = tuple(column[k] for column in body["scores"])
            found[entry["id"], index["systems"][s]["name"], index["lengths"][n]] = (body["texts"][k], *scores)
    names = ", ".join(COLUMNS)
    read = rows(store, f"select article_id, system, n, text, {names} from summaries where run_id = '{swept}'")
    assert found == {row[:3]: (row[3], *map(embedded, COLUMNS, row[4:])) for row in read}
    assert len(found) == 6 * 7 * 3


@pytest.mark.parametrize(("optional", "column"), [((), "bertscore_f1"), (("kept", "kept_words"), "kept")])
def test_the_score_that_articles_are_sorted_by(
    store: Store, swept: str, optional: tuple[str, ...], column: str
) -> None:
    archive = archive_of(store, swept, optional=optional)
    index, ranks = unpacked(archive.index), ranks_of(archive)
    assert index["ranked"]["column"] == column
    ids, systems = ([entry[name] for entry in index[of]] for of, name in (("articles", "id"), ("systems", "name")))
    read = rows(store, f"select article_id, system, n, {column} from summaries where run_id = '{swept}'")
    for article, system, n, value in read:
        rank = ranks[ids.index(article), systems.index(system), LENGTHS.index(n)]
        assert rank == round(10_000 * value)


def test_a_score_that_a_summary_lacks(store: Store, run_of_points) -> None:
    run = run_of_points(("a", "lead"), LENGTHS, kept={"lead": 0.2})
    archive = archive_of(store, run, optional=("kept",))
    index, body = unpacked(archive.index), unpacked(archive.parts[0])[0]
    systems = [system["name"] for system in index["systems"]]
    assert (ranks_of(archive)[:, systems.index("a")] == -32768).all()
    assert (ranks_of(archive)[:, systems.index("lead")] > 0).all()
    kept = body["scores"][index["columns"].index("kept")]
    assert [value is None for value in kept] == [s == systems.index("a") for s, _ in body["at"]]


def test_it_stays_below_its_size(store: Store, swept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ARTICLES_OF_A_PART", 2)
    whole = archive_of(store, swept)
    assert len(whole.parts) == 3
    monkeypatch.setattr(module, "MOST_BYTES", len(whole.parts[0]) + len(whole.parts[1]))
    archive = archive_of(store, swept)
    assert archive.parts == whole.parts[:2]
    assert (archive.articles, archive.total_articles) == (4, 6)
    ids = sorted(article for _, article in store.points(swept).articles)
    assert [entry["id"] for entry in unpacked(archive.index)["articles"]] == ids[:4]


def test_what_is_shown_first(store: Store, swept: str) -> None:
    def opens(opening: tuple[str, int] | None) -> tuple[str, str | None, int]:
        index = unpacked(archive_of(store, swept, opening=opening).index)
        names = [system["name"] for system in index["systems"]]
        found = index["opens"]
        other = names[found["other"]] if found["other"] >= 0 else None
        return names[found["system"]], other, index["lengths"][found["n"]]

    assert opens(("random", 21)) == ("random", "lead", 21)
    assert opens(("lead", 3)) == ("lead", None, 3)
    first, beside, n = opens(None)
    assert (beside, n) == ("lead", 9)
    assert first not in ("lead", "random")
    assert opens(("gone", 5)) == (first, "lead", 9)
