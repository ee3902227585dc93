"""What a person waits for: `nws --help`, `nws ls`, the first word and the first row of `nws submit`, and all rows.

Each command is a process of its own, as in a shell, and the smallest wall time of some repetitions counts. A sweep of
real articles runs inline and on Ray with two actors. How much faster two are is the rate at which the second half of
the articles is stored: before it, models are loaded, and one actor may be ready long before the other.
"""

import argparse
import contextlib
import dataclasses
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from bench.machine import cpu_model, keep
from bench.sweep import LONG
from jobs.recipes.load import load_recipe
from jobs.recipes.sweep_plan import STUDY_LENGTHS
from jobs.recipes.sweep_recipe import Phase1Recipe

NWS = (sys.executable, "-m", "jobs.cli")
ROOT = Path(__file__).parents[1]
LOOKS_A_SECOND = 50


@dataclass(frozen=True, slots=True)
class Command:
    """A command that only looks, in wall seconds."""

    what: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Submission:
    """`nws submit phase1`, in wall seconds from its start; `rate` is articles a second in the second half."""

    what: str
    first_word: float
    first_row: float
    end: float
    rate: float
    articles: int


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.waiting", description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=int, default=64, help="how many, at most")
    parser.add_argument("--reps", type=int, default=3)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="nws-bench-") as name:
        folder = Path(name)
        (folder / "recipe.yaml").write_text(_recipe(options.articles))
        engines = {"inline": ("--engine", "inline"), "Ray, 2 actors": ("--actors", "2")}
        runs = {
            what: [submit(folder / f"{rep}{i}.db", what, engine, folder) for rep in range(options.reps)]
            for i, (what, engine) in enumerate(engines.items())
        }
        store = ("--store", f"sqlite:///{folder}/00.db")
        commands = [
            Command(what, min(seconds(folder, arguments) for _ in range(options.reps)))
            for what, arguments in {"nws --help": ("--help",), "nws ls": ("ls", *store)}.items()
        ]
    submissions = [_best(of_one) for of_one in runs.values()]
    report = {
        "machine": cpu_model(),
        "dataset": _dataset(),
        "load before": round(load, 2),
        "commands": [dataclasses.asdict(command) for command in commands],
        "submissions": [dataclasses.asdict(submission) for submission in submissions],
    }
    keep("waiting", _as_text(commands, submissions, load), report)


def _dataset() -> str:
    return LONG.stem if LONG.is_file() else "sample"


def _recipe(articles: int) -> str:
    """The sample recipe on so many articles, or on all that there are."""
    dataset = {"name": str(LONG) if LONG.is_file() else "sample", "limit": articles}
    recipe = load_recipe(Phase1Recipe, "sample", {"datasets": [dataset], "n": STUDY_LENGTHS, "accelerator": "cpu"})
    return yaml.safe_dump(recipe.model_dump(mode="json"))


def seconds(folder: Path, arguments: Sequence[str]) -> float:
    """Wall time of a command."""
    started = time.perf_counter()
    subprocess.run([*NWS, *arguments], cwd=folder, env=_environment(), stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def submit(path: Path, what: str, engine: Sequence[str], folder: Path) -> Submission:
    """Sweep into a new store at `path`, and look into it all the time."""
    started = time.perf_counter()
    command = [*NWS, "submit", "phase1", "--recipe", "recipe.yaml", *engine, "--store", f"sqlite:///{path}"]
    process = subprocess.Popen(
        command, cwd=folder, env=_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    words: list[float] = []

    def listen() -> None:
        words.extend(time.perf_counter() - started for _ in process.stderr or ())

    listener = threading.Thread(target=listen)
    listener.start()
    stored: list[tuple[float, int]] = []  # when there were how many articles
    while process.poll() is None:
        found = _articles(path)
        if found and (not stored or found > stored[-1][1]):
            stored.append((time.perf_counter() - started, found))
        time.sleep(1 / LOOKS_A_SECOND)
    end = time.perf_counter() - started
    listener.join()
    assert process.returncode == 0, command
    (last, articles) = stored[-1]
    half, before = next(sample for sample in stored if sample[1] >= articles / 2)
    return Submission(what, words[0], stored[0][0], end, (articles - before) / (last - half), articles)


def _articles(path: Path) -> int:
    """How many a store has; 0 while it is being made."""
    if not path.is_file():
        return 0
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            (found,) = connection.execute("SELECT count(*) FROM articles").fetchone()
    except sqlite3.OperationalError:
        return 0
    return int(found)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}


def _best(of_one: Sequence[Submission]) -> Submission:
    times = {name: min(getattr(one, name) for one in of_one) for name in ("first_word", "first_row", "end")}
    return Submission(of_one[0].what, **times, rate=max(one.rate for one in of_one), articles=of_one[0].articles)


def _as_text(commands: Sequence[Command], submissions: Sequence[Submission], load: float) -> str:
    lines = [f"{cpu_model()}, {os.cpu_count()} CPUs, load before {load:.1f}. Wall seconds."]
    lines += [f"{command.what:16} {command.seconds:6.2f}" for command in commands]
    lines.append(f"nws submit phase1, {submissions[0].articles} articles of {_dataset()}, sample recipe:")
    lines.append(f"{'':16} {'first word':>10} {'first row':>10} {'all rows':>10} {'articles/s':>10}")
    lines += [f"{s.what:16} {s.first_word:10.2f} {s.first_row:10.1f} {s.end:10.1f} {s.rate:10.2f}" for s in submissions]
    inline, on_ray = submissions
    lines.append(f"Ray with 2 actors stores articles {on_ray.rate / inline.rate:.2f} times as fast as one process.")
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()
