"""A large sharded run on Postgres that is killed again and again must store, and report, what one undisturbed run does.

    PYTHONPATH=tests/support python -m chaos.large_sharded_run --articles 200000 --shards 8 --kills 12 --seed 1

Its work is stub work: what is looked at is that nothing is lost, doubled or different. Both are compared in SQL, since
millions of rows would not fit into a dictionary, and by their reports.
"""

import argparse
import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from chaos.sharded_run import begin, end_drivers, kill_driver, wait_for_rows
from chaos.surroundings import Surroundings
from nws_process import NWS, STUB, end, start

from bench import stub_work
from bench.machine import cpu_model
from jobs.drive.sharded_run import create_sharded_run
from jobs.plan import sweep
from jobs.plan.pinned import Pinned
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep import Phase1Recipe
from jobs.store import ShardDrivers, Store, new_run_id, open_store
from jobs.store.tables import SummaryRow

DRIVERS = 2
VICTIMS = ("parent process", "driver", "both", "postgres")
WORDS, BUNDLE_SIZE = 30, 64
_STUB = {"NWS_STUB_SECONDS": "0"}
_OUTAGE_SECONDS = (0.5, 3.0)
_COMPARED = [c.name for c in SummaryRow.__table__.columns if c.name not in ("run_id", "seconds", "reused_from")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=200_000)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print(f"{cpu_model()}; {asked.articles:,} articles, {asked.shards} shards, seed {asked.seed}", flush=True)
    with (
        tempfile.TemporaryDirectory(prefix="nws-chaos-", ignore_cleanup_errors=True) as folder,
        Surroundings(Path(folder)) as around,
        open_store(around.server.url) as store,
    ):
        pinned = _pinned(Path(folder) / "news.jsonl", asked.articles)
        sharded = _disturbed(store, around, pinned, asked.shards, asked.kills, random.Random(asked.seed))
        one = _undisturbed(store, around, pinned)
        _compare_rows(store, sharded, one)
        _compare_reports(around, sharded, one)
    return 0


def _pinned(path: Path, articles: int) -> Pinned:
    stub_work.write_articles(path, articles, WORDS)
    chosen = {"datasets": [{"name": str(path)}], "n": [1, 7], "bundle_size": BUNDLE_SIZE, "accelerator": "cpu"}
    return sweep.pin(load_recipe(Phase1Recipe, "sample", chosen))


def _disturbed(store: Store, around: Surroundings, pinned: Pinned, shards: int, kills: int, draw: random.Random) -> str:
    """A sharded run of the articles after all its kills; its id."""
    began, sharded, url = time.monotonic(), new_run_id("phase1"), around.server.url
    total = (pinned.articles or 0) * pinned.stages[0].plan.summaries_per_article
    with contextlib.ExitStack() as stack:
        create_sharded_run(store, sharded, pinned, ShardDrivers(DRIVERS, "inline"), shards, None)
        stack.callback(end_drivers, store, sharded)
        parent = begin(around, stack, sharded, url, _STUB)
        for number, part in enumerate(sorted(draw.uniform(0.02, 0.95) for _ in range(kills)), start=1):
            victim = draw.choice(VICTIMS)
            at = wait_for_rows(store, sharded, parent, round(part * total))
            if victim in ("driver", "both"):
                kill_driver(store, sharded, parent, draw)
            if victim in ("parent process", "both"):
                end(parent)
                parent = begin(around, stack, sharded, url, _STUB)
            if victim == "postgres":
                around.server.kill()
                time.sleep(draw.uniform(*_OUTAGE_SECONDS))
                around.server.start_again()
            print(f"{number:4}  {victim} killed at {at:,} of {total:,} rows", flush=True)
        while parent.wait() != 0:  # drivers that were killed too often are left to a person
            assert store.run_info(sharded).state != "done", parent.communicate()
            print("      resumed by hand", flush=True)
            parent = begin(around, stack, sharded, url, _STUB)
    info = store.run_info(sharded)
    assert (info.state, info.articles_done, info.failures) == ("done", pinned.articles, 0), info
    print(
        f"shards: {info.summaries:,} rows with {info.driver_epoch} parent processes, {time.monotonic() - began:.0f} s",
        flush=True,
    )
    return sharded


def _undisturbed(store: Store, around: Surroundings, pinned: Pinned) -> str:
    """One run of the same articles; its id."""
    began, run = time.monotonic(), new_run_id("phase1")
    store.create_run(pinned.run_spec(), run)
    driver = start(
        around.folder, "resume", run, "--local", "--engine", "inline", "--store", around.server.url, program=STUB,
        **_STUB,
    )  # fmt: skip
    _, said = driver.communicate()
    assert driver.returncode == 0, said
    print(f"one run: {store.run_info(run).summaries:,} rows, {time.monotonic() - began:.0f} s", flush=True)
    return run


def _compare_rows(store: Store, sharded: str, one: str) -> None:
    names = ", ".join(f"CAST({name} AS TEXT)" if name == "extra" else name for name in _COMPARED)
    shards = ", ".join(f"'{shard.id}'" for shard in store.shards(sharded))
    of_shards = f"SELECT {names} FROM summaries WHERE run_id IN ({shards})"
    of_one = f"SELECT {names} FROM summaries WHERE run_id = '{one}'"
    with store.reading() as connection:
        for here, there in ((of_shards, of_one), (of_one, of_shards)):
            query = f"SELECT COUNT(*) FROM ({here} EXCEPT ALL {there}) AS different"
            different = connection.execute(sa.text(query)).scalar_one()
            assert different == 0, f"{different} rows differ"
    print("rows: equal, each once", flush=True)


def _compare_reports(around: Surroundings, sharded: str, one: str) -> None:
    found = []
    for run in (sharded, one):
        began, out = time.monotonic(), around.folder / run
        command = [*NWS, "report", run, "--out", str(out), "--store", around.server.url]
        subprocess.run(command, check=True, capture_output=True, cwd=around.folder)
        print(f"nws report {'SHARDED' if run == sharded else 'RUN'}: {time.monotonic() - began:.1f} s", flush=True)
        found.append(_numbers(json.loads((out / "report.json").read_text(encoding="utf-8"))))
    assert found[0].keys() == found[1].keys()
    different = [name for name in found[0] if found[0][name] != found[1][name]]
    assert not different, f"the reports differ in {different}"
    print(f"reports: equal in {', '.join(found[0])}", flush=True)


def _numbers(report: dict[str, Any]) -> dict[str, Any]:
    """What a report says, without which run it is of."""
    return {name: part for name, part in report.items() if isinstance(part, list) and name != "runs"}


if __name__ == "__main__":
    sys.exit(main())
