"""What is read of a study is what is read of one run that has the rows of its shards."""

import dataclasses
import json
from pathlib import Path

import pytest

from core.errors import CancelledError, FencedError, StoreError
from core.metrics.panel import Panel
from core.text.corpus import ReadBefore
from core.types import BundleResult
from jobs.report.summary_rows import write_summary_rows
from jobs.store import ShardSpec, Store, StudySettings, Whole
from jobs.store.tables import Base
from jobs.store.views import VIEWS

STUDY = "phase1-20261124-abcdef"
HOST = "elsewhere"
SYSTEMS = {"lead": "control", "mini|centroid": "system"}


@pytest.fixture
def study(store, spec, articles):
    """A study of the four articles in three shards, and its epoch."""
    spec = dataclasses.replace(spec, revisions=spec.revisions | {"datasets": {"news": "test@1"}})
    shards = [ShardSpec(spec, count, (ReadBefore("1", b"known"),)) for count in (2, 1, 1)]
    whole = Whole("en", (Panel("news", tuple(sorted(articles, key=lambda article: article.id))),))
    ids = store.create_study(spec, STUDY, StudySettings(2, "ray"), whole, SYSTEMS, shards)
    assert ids == [f"{STUDY}-{number:02}" for number in (1, 2, 3)]
    assert store.whole_of(ids[1]) == whole
    assert store.whole_of(STUDY) is None
    assert store.datasets_read(ids[0], spec.code_version) == (ReadBefore("1", b"known"),)
    return STUDY, store.claim_run(STUDY, "host-a", 11)


def do(store: Store, run_id: str, epoch: int, landed, state="done") -> None:
    writer = store.writer(run_id, epoch)
    writer.start("cpu", "v", SYSTEMS)
    writer.record(landed)
    writer.finish(state)


def do_shards(store, study, articles, sweep, failure) -> None:
    """The first three articles get summaries, of the third by one system alone, and the last fails."""
    parts = [articles[:2], articles[2:3], articles[3:]]
    for number, part in enumerate(parts, start=1):
        shard = f"{study[0]}-{number:02}"
        handed = store.hand_out(*study, shard, HOST, None)
        result = failure(part[0]) if number == 3 else _some(sweep(part), "lead" if number == 2 else None)
        do(store, shard, store.claim_run(shard, HOST, 12, epoch=handed), [(part, result)])


def _some(result: BundleResult, only: str | None) -> BundleResult:
    return BundleResult(tuple(one for one in result.summaries if only in (None, one.system)), ())


def one_run(store, spec, articles, sweep, failure) -> str:
    run_id = store.create_run(spec)
    landed = [
        (articles[:2], sweep(articles[:2])),
        (articles[2:3], _some(sweep(articles[2:3]), "lead")),
        (articles[3:], failure(articles[3])),
    ]
    do(store, run_id, store.claim_run(run_id, HOST, 13), landed)
    return run_id


def view(store, name: str, run_id: str) -> dict[tuple, dict]:
    with store.query(f"SELECT * FROM {name} WHERE run_id = '{run_id}'") as answer:
        rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    return {(row["dataset"], row["system"], row["n"]): row | {"run_id": "", "study": ""} for row in rows}


def test_the_views_have_the_means_of_one_run(store, spec, study, articles, sweep, failure):
    one = one_run(store, spec, articles, sweep, failure)
    do_shards(store, study, articles, sweep, failure)
    for state in ("running", "done"):
        if state == "done":
            store.writer(*study).finish("done")
        for name in ("sweep_curve", "leaderboard"):
            of_study, of_one = view(store, name, study[0]), view(store, name, one)
            assert of_study.keys() == of_one.keys()
            for place, row in of_one.items():
                assert of_study[place] == pytest.approx(row, abs=1e-12), (state, name, place)
    with store.query(f"SELECT COUNT(*) FROM best_n WHERE study = '{study[0]}'") as answer:
        assert next(iter(answer.rows))[0] == 5
    # A shard that is resumed takes the stored means of its study with it.
    store.claim_run(f"{study[0]}-01", HOST, 14)
    with store.query("SELECT COUNT(*) FROM run_means WHERE run_id = :run".replace(":run", f"'{study[0]}'")) as answer:
        assert next(iter(answer.rows))[0] == 0


def test_all_reads_of_a_run_read_a_study(store, spec, study, articles, sweep, failure, tmp_path: Path):
    one = one_run(store, spec, articles, sweep, failure)
    do_shards(store, study, articles, sweep, failure)
    store.writer(*study).finish("done")
    ids = (study[0], one)
    infos = [store.run_info(run_id) for run_id in ids]
    for count in ("articles_done", "summaries", "reused", "failures", "device", "code_version"):
        assert getattr(infos[0], count) == getattr(infos[1], count), count
    assert (infos[0].shards, infos[0].total_articles, infos[1].shards) == (3, 4, None)
    for read in (store.content_hashes, store.article_keys, lambda run_id: sorted(store.finished_article_ids(run_id))):
        assert read(ids[0]) == read(ids[1])
    of_study, of_one = ([dataclasses.replace(f, failed_at=None) for f in store.failures(run_id)] for run_id in ids)
    assert of_study == of_one
    assert [len(store.newest_failures(run_id, 5)) for run_id in ids] == [1, 1]
    found, alone = (store.articles(run_id) for run_id in ids)
    assert found.systems() == alone.systems()
    assert found.lengths("lead") == alone.lengths("lead") == [0, 3, 5]
    for wanted in ("a1", articles[3].id[:8], "the COUNCIL approved"):
        assert found.find(wanted, 5) == alone.find(wanted, 5)
    assert found.summaries(articles[1].id) == alone.summaries(articles[1].id)
    assert found.extremes("lead", 3, 2, highest=True) == alone.extremes("lead", 3, 2, highest=True)
    assert found.most_different("lead", "mini|centroid", 3, 2) == alone.most_different("lead", "mini|centroid", 3, 2)
    exported = []
    for run_id, info in zip(ids, infos, strict=True):
        write_summary_rows(store, info, tmp_path / f"{run_id}.jsonl", True)
        lines = (tmp_path / f"{run_id}.jsonl").read_text().splitlines()
        exported.append([json.loads(line) | {"run_id": ""} for line in lines])
    assert exported[0] == exported[1]


def test_a_study_is_one_line_and_its_shards_are_behind_it(store, spec, study):
    store.create_run(spec, "phase1-20261123-123456")
    assert [run.id for run in store.list_runs()] == [study[0], "phase1-20261123-123456"] or [
        run.id for run in store.list_runs()
    ] == ["phase1-20261123-123456", study[0]]
    shards = [f"{STUDY}-{number:02}" for number in (1, 2, 3)]
    with_shards = [run.id for run in store.list_runs(with_shards=True)]
    place = with_shards.index(STUDY)
    assert with_shards[place : place + 4] == [STUDY, *shards]
    assert [run.id for run in store.search_runs([], None, 0, 10)[0]].count(STUDY) == 1
    assert store.search_runs([], None, 0, 10)[1] == 2
    assert store.full_id("abc") == store.full_id("phase1-20261124") == STUDY
    assert store.full_id(f"{STUDY}-02") == shards[1]


def test_only_the_driver_of_a_study_hands_out_its_shards(store, study):
    shard = f"{STUDY}-01"
    first = store.hand_out(*study, shard, HOST, "http://head:8265")
    again = store.hand_out(*study, shard, HOST, None)  # whose process never came
    with pytest.raises(FencedError):
        store.claim_run(shard, HOST, 1, epoch=first)
    store.claim_run(shard, "another-host", 1, epoch=again)
    with pytest.raises(StoreError, match="is being driven"):
        store.hand_out(*study, shard, HOST, None)
    store.cancel_run(STUDY, HOST)
    with pytest.raises(CancelledError):
        store.hand_out(*study, f"{STUDY}-02", HOST, None)
    newer = store.claim_run(STUDY, "host-b", 12, take_over=True)
    with pytest.raises(FencedError):
        store.hand_out(*study, f"{STUDY}-02", HOST, None)
    assert store.hand_out(STUDY, newer, f"{STUDY}-02", HOST, None) == 1


def test_a_study_is_removed_with_all_that_is_its(store, study, articles, sweep, failure):
    do_shards(store, study, articles, sweep, failure)
    with pytest.raises(StoreError, match=f"is running. Stop it first: nws cancel {STUDY}"):
        store.remove_run(STUDY, HOST)
    store.writer(*study).finish("done")
    with pytest.raises(StoreError, match=f"is a shard of the study '{STUDY}'.*nws rm {STUDY}"):
        store.remove_run(f"{STUDY}-01", HOST)
    store.claim_run(f"{STUDY}-01", "another-host", 1)
    with pytest.raises(StoreError, match="is done, but a shard of it is still driven"):
        store.remove_run(STUDY, HOST)
    store.writer(f"{STUDY}-01", store.run_info(f"{STUDY}-01").driver_epoch).finish("done")
    assert store.remove_run(STUDY, HOST).articles == 4
    for table in (*Base.metadata.tables, *VIEWS):
        with store.query(f"SELECT COUNT(*) FROM {table}") as answer:
            assert next(iter(answer.rows))[0] == 0, table


def test_nothing_is_added_to_a_study_or_a_shard(store, study, spec, articles, sweep, failure):
    do_shards(store, study, articles, sweep, failure)
    store.writer(*study).finish("done")
    for run_id in (STUDY, f"{STUDY}-01"):
        with pytest.raises(StoreError, match="nothing can be added"):
            store.extend_run(run_id, HOST, spec)
