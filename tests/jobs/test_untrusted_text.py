"""What others wrote reaches the terminal as text, whatever command shows it."""

import re

import pytest
from made_scores import make_scores
from system_kinds import kind_of

from nws.core.article import Article
from nws.core.types import BundleResult, Failure, Score, Summary
from nws.jobs.store import LogLine, RunSpec, Store, open_store

# Clears the screen; a link (OSC 8); a title (with C1); overwrites the line; overrides and isolates.
EVIL = "a\x1b[2J\x1b]8;;https://x.example\x1b\\b\x1b]8;;\x1b\\\x9d0;title\x9c\rc\x08\u202ed\u2066e"
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SYSTEMS = (f"m|{EVIL}", "lead", "random")
FILE = f"{EVIL.replace('/', '')}.jsonl"


@pytest.fixture
def run_id(tmp_path) -> str:
    (tmp_path / FILE).write_text('{"article": "The town opened a bridge.", "summary": "Bridge."}')
    with open_store(f"sqlite:///{tmp_path / 'nws.db'}") as store:
        return fill(store)


def fill(store: Store) -> str:
    signatures = {name: f"{name} {EVIL}" for name in ("bertscore", "rouge", "efficiency", "density", "coverage")}
    revisions = {"segmentation": EVIL, "encoders": {"m": EVIL}, "bertscore": EVIL, "libraries": {"l": EVIL}}
    recipe = {"datasets": [{}]}
    spec = RunSpec("phase1", recipe, "cafe", 7, EVIL, revisions | {"datasets": {EVIL: EVIL}}, signatures, 3)
    run_id = store.create_run(spec)
    epoch = store.claim_run(run_id, EVIL, 1)
    store.writer(run_id, epoch).start(EVIL, EVIL, {system: kind_of(system) for system in SYSTEMS})
    of = [Article(EVIL, "test", f"{EVIL}{i}", f"News {EVIL} of {i}.", (f"News {EVIL} {i}.",)) for i in range(9)]
    score = Score(0.5, 0.5, 0.5)
    written = [
        Summary(article.id, system, 3, f"News {EVIL} of", 3, 0.1, make_scores(score, efficiency=0.1))
        for article in of[1:]
        for system in SYSTEMS
    ]
    lost = Failure(of[0].id, f"Error{EVIL}", f"no word: {EVIL}", 2, EVIL)
    store.writer(run_id, epoch).record([(of, BundleResult(tuple(written), (lost,)))])
    store.writer(run_id, epoch).heartbeat([LogLine(store.run_info(run_id).created_at, f"said {EVIL}")])
    store.writer(run_id, epoch).finish("failed", f"failed: {EVIL}")
    return run_id


@pytest.mark.parametrize(
    "command",
    [
        ("ls",),
        ("status",),
        ("report",),
        ("compare", "RUN", "--system", EVIL),
        ("logs", "RUN"),
        ("show",),
        ("show", "of 0"),
        ("show", EVIL),
        ("show", "--system", f"?{EVIL}", "of 1"),
        ("query", "select * from summaries, articles, failures, runs"),
        ("query", EVIL),
        ("status", EVIL),
        ("score", f"{EVIL}.csv"),
        ("submit", "phase1", "--dataset", f"{EVIL}.jsonl", "--dry-run"),
        ("submit", "phase1", "--dataset", FILE, "--n", "1", "--dry-run"),
        ("submit", "phase1", "--dataset", FILE, "--n", "1", "--engine", "inline"),
        ("cancel", EVIL),
    ],
    ids=lambda command: " ".join(command).replace(EVIL, "EVIL").replace(FILE, "FILE").partition(" from")[0],
)
def test_no_control_character_reaches_the_terminal(nws, run_id: str, command: tuple[str, ...]) -> None:
    result = nws(*(run_id if word == "RUN" else word for word in command))
    shown = result.out + result.err
    assert shown.strip()
    assert CONTROL.findall(shown) == []
    result = nws(*(run_id if word == "RUN" else word for word in command), "--json")
    assert CONTROL.findall(result.out + result.err) == []
