"""What a checkout makes of the bundled articles: runs with their rows, reports and exports, and the output of tools."""

import itertools
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa
from goldens.compared import Made, read_file, read_rows

MOVED: dict[str, str] = {}
"""Flags of BEFORE that have another name in AFTER."""

PLUGIN = '''
def tail(text, n):
    """The last n words."""
    return " ".join(text.split()[-n:])


def word_recall(prediction, references):
    """The references' words that the prediction has, of the reference that has most of them."""
    words = set(prediction.split())
    return max(len(words & set(reference.split())) / len(set(reference.split())) for reference in references)


SYSTEMS = {"tail": tail}
METRICS = {"word_recall": word_recall}
'''


@dataclass(frozen=True)
class Case:
    """Jobs that share a store, in turn: the name of a run, and what `nws submit` is told."""

    name: str
    postgres: bool
    runs: dict[str, str]


INLINE = {
    "phase1": "phase1 --engine inline --limit 6 --n 3,9,21",
    "baselines": "baselines --engine inline --limit 5 --n 3,9 --system lead --system lead3 --system textrank "
    "--system oracle --predictions mine.jsonl --plugin mine.py",
    "phase2": "phase2 --engine inline --limit 4 --test-limit 4 --passes 2 --seed 0 --n 7,9 --system lead",
}
CASES = [
    Case("sqlite", False, {"demo": "phase1", **INLINE}),  # phase1 copies rows of demo
    Case(
        "postgres",
        True,
        {**INLINE, "sharded": "phase1 --engine inline --limit 8 --n 3,9 --shard-articles 4 --no-reuse"},
    ),
    Case("tools", False, {}),
]


@dataclass(frozen=True)
class Checkout:
    """A checkout at `root`, which works in `folder`."""

    root: Path
    folder: Path
    names: dict[str, str] = field(default_factory=dict)
    """What is called otherwise in each checkout, as a run's id: by that, the name it has in what is compared."""

    def nws(self, *command: str, allowed: Sequence[int] = (0,)) -> str:
        """What `nws` prints."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("NWS_", "PYTHON"))}
        environment |= {"HF_HUB_OFFLINE": "1", "COLUMNS": "5000", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONSAFEPATH": "1"}
        words = [MOVED.get(word, word) if self.folder.parent.name == "after" else word for word in command]
        ended = subprocess.run(
            [self.root / ".venv/bin/nws", *words], cwd=self.folder, env=environment, capture_output=True, text=True
        )
        if ended.returncode not in allowed:
            raise SystemExit(f"{self.root}: nws {' '.join(words)} ended with {ended.returncode}:\n{ended.stderr}")
        return ended.stdout

    def same(self, text: str) -> str:
        """The text with what is called otherwise in each checkout under one name."""
        for name, shared in self.names.items():
            text = text.replace(name, shared)
        return re.sub(r"\b[0-9a-f]{12}\+[0-9a-f]{12}\b", "CODE", text)


def make(root: Path, folder: Path, cases: list[Case], server: str) -> Made:
    """All that a checkout makes, by place. A case that has been made in this folder is read."""
    made: Made = {}
    for case in cases:
        kept = folder / f"{case.name}.pickle"
        if not kept.exists():
            seconds, of_cpu = time.monotonic(), sum(os.times()[2:4])
            checkout = Checkout(root, folder / case.name)
            shutil.rmtree(checkout.folder, ignore_errors=True)
            checkout.folder.mkdir(parents=True)
            checkout.names[str(checkout.folder)] = "FOLDER"
            _write_files(checkout)
            kept.write_bytes(pickle.dumps(dict(_runs(checkout, case, server) if case.runs else _tools(checkout))))
            seconds, of_cpu = time.monotonic() - seconds, sum(os.times()[2:4]) - of_cpu
            print(f"{root}: {case.name}, {seconds:.0f} s, {of_cpu:.0f} s of CPU", file=sys.stderr)
        made.update(pickle.loads(kept.read_bytes()))
    return made


def _runs(checkout: Checkout, case: Case, server: str) -> Iterator[tuple[str, object]]:
    """What the runs of a case print, store, report and export."""
    store = _database(server, checkout) if case.postgres else f"sqlite:///{case.name}.db"
    checkout.names.update({store: "STORE", sa.make_url(store).render_as_string(hide_password=True): "STORE"})
    at_store = ("--store", store)
    if case.postgres:
        checkout.nws("db", "upgrade", *at_store)
    for name, told in case.runs.items():
        place = f"{case.name} {name}"
        # A prediction is missing: the run of them ends with 1.
        printed = checkout.nws("submit", *told.split(), *at_store, "--json", allowed=(0, int(name == "baselines")))
        told_at_end = json.loads(printed.splitlines()[-1])
        run = told_at_end.get("run_id") or told_at_end["run"]
        checkout.names[run] = f"RUN-{name}"
        yield f"{place} submit --json", json.loads(checkout.same(json.dumps(told_at_end)))
        reported = checkout.same(checkout.nws("report", run, *at_store, "--out", place))
        yield f"{place} report, printed", reported.splitlines()
        for file in sorted((checkout.folder / place).rglob("*")):
            if file.suffix in (".json", ".csv", ".tex"):
                yield f"{place} {file.name}", read_file(file, checkout.same)
        for suffix in ("jsonl", *(("csv", "parquet") if name in ("demo", "baselines") else ())):
            file = checkout.folder / f"{place}.{suffix}"
            checkout.nws("export", run, *at_store, "--rows", file.name, "--with-articles")
            yield f"{place} export .{suffix}", read_file(file, checkout.same)
        if name == "phase2":
            checkout.nws("export", run, *at_store, "--policy", f"{place} policy")
            for file in sorted((checkout.folder / f"{place} policy").iterdir()):
                yield f"{place} export {file.name}", read_file(file, checkout.same)
    url = f"sqlite:///{checkout.folder / case.name}.db" if not case.postgres else store
    for table, rows in read_rows(url, checkout.same):
        yield f"{case.name} {table}", rows


def _database(server: str, checkout: Checkout) -> str:
    """A new database on the server."""
    url = sa.make_url(server).set(drivername="postgresql+psycopg")
    name = f"goldens_{checkout.folder.parent.name[0]}"
    with sa.create_engine(url, isolation_level="AUTOCOMMIT").connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    return url.set(database=name, drivername="postgresql").render_as_string(hide_password=False)


def _write_files(checkout: Checkout) -> None:
    """The files that jobs and tools read: predictions, human scores, Korean comments, a plugin."""
    sample = Path(__file__).parents[3] / "core/sample"
    articles = [json.loads(line) for line in (sample / "english.jsonl").read_text().splitlines()]
    first = [" ".join(article["article"].split()[:12]) for article in articles]

    def write(name: str, rows: list[dict[str, object]]) -> None:
        (checkout.folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))

    pairs = list(zip(articles, first, strict=True))
    # The second article has no prediction.
    write("mine.jsonl", [{"id": a["id"], "prediction": p} for a, p in pairs[:1] + pairs[2:]])
    write(
        "pairs.jsonl",
        [{"id": a["id"], "prediction": p, "reference": a["highlights"], "source": a["article"]} for a, p in pairs[:8]],
    )
    write(
        "human.jsonl",
        [
            {"system": f"s{s}", "document": d, "human": (d * 7 + s * 5) % 11, "a": (d * 3 + s * 4) % 13, "b": d * s % 5}
            for s in range(5)
            for d in range(8)
        ],
    )
    (checkout.folder / "mine.py").write_text(PLUGIN)
    korean = [json.loads(line)["article"] for line in (sample / "korean.jsonl").read_text().splitlines()]
    sentences = [s.strip() for text in korean for s in text.replace("\n", " ").split(". ") if s.strip()]
    (checkout.folder / "korean.txt").write_text("\n".join(sentences * 2) + "\n")
    write("korean-pairs.jsonl", [{"prediction": a, "reference": b} for a, b in itertools.pairwise(sentences[:8])])


def _tools(checkout: Checkout) -> Iterator[tuple[str, object]]:
    """What the tools print that read files."""
    metrics = (
        "rouge1,rouge2,rougeL,rougeLsum,rougeSU4,bleu,sacrebleu,chrf,meteor,bertscore,kept,efficiency,density,coverage"
    )
    for command in (
        f"score pairs.jsonl -m {metrics} --plugin mine.py --per-row rows.jsonl",
        "score pairs.jsonl -m rouge1,bleu --references mean --json",
        "score korean-pairs.jsonl -m rouge1,rougeL --lang ko --json",
        "correlate human.jsonl -m a,b --human human",
        "correlate human.jsonl -m a,b --human human --json",
        "keysentences korean.txt --top 10",
        "keysentences korean.txt --top 10 --json",
    ):
        printed = checkout.same(checkout.nws(*command.split()))
        yield f"nws {command}", json.loads(printed) if "--json" in command else printed.splitlines()
    yield "nws score --per-row", read_file(checkout.folder / "rows.jsonl", checkout.same)
