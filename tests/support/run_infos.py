"""A run as the store tells it, for tests that need no store."""

from datetime import UTC, datetime
from typing import Any

from nws.jobs.store import RunInfo


def run_info(**changes: Any) -> RunInfo:
    """A finished sweep of 40 articles, but for `changes`."""
    at = datetime(2026, 11, 21, 12, tzinfo=UTC)
    values: dict[str, Any] = {
        **dict.fromkeys(("heartbeat_at", "created_at", "started_at", "finished_at", "claimed_at"), at),
        **dict.fromkeys(("error", "address", "name", "note", "cancel_requested_at")),
        "id": "p1-0421",
        "job": "phase1",
        "state": "done",
        "recipe": {},
        "recipe_hash": "0",
        "seed": 7,
        "code_version": "0.1.0+gabc1234",
        "revisions": {"encoders": {"m": "org/m@abc"}, "bertscore": "org/b@def", "datasets": {"news": "all@sha256:0"}},
        "signatures": {"bertscore": "bert-base-uncased_L9_no-idf", "rouge1": "rouge1|stem:yes"},
        "device": "2 x 1 CPU",
        "driver_epoch": 1,
        "driver_host": "here",
        "driver_pid": 1,
        "total_articles": 42,
        "systems": 4,
        "worked_seconds": 0.0,
        "arithmetic": [],
        "articles_done": 40,
        "mixed": False,
        "reuse": True,
        "summaries": 1760,
        "reused": 0,
        "failures": 2,
    }
    return RunInfo(**(values | changes))
