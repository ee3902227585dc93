"""docs/tutorial.md, followed to the letter: each of its blocks runs, in order, and prints what the page shows.

Words, and numbers without a decimal point, must be the same: counts, lengths, headings, sentences. Scores may differ
between kinds of CPU, and so may what is tested with them: numbers with a decimal point are compared to 0.005.
Dates and durations are not compared, and a run's id stands for the one that came in
its place. A line with nothing but `…` stands for any lines, and one that ends with `…` for any that begins like it.
"""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(?P<language>.*)\n(?P<text>(?:.*\n)*?)```$", re.MULTILINE)
RUN = re.compile(r"\b(?:phase1|baselines|phase2)-\d{8}-[0-9a-f]{6}\b")
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d|\b\d+:\d\d:\d\d\b|\b\d+ s\b")
NUMBER = re.compile(r"[-+±]?(?:\d*\.\d+|\d+)")
ANYTHING, INTERRUPT = "…", "^C"
# What a step says while it goes on: nothing on a fast machine, several lines on a slow one.
WAITING = re.compile(r".+ …( \d+ s)?")

# One Python for the whole page: a block a line, as JSON, and what it printed up to a NUL.
PYTHON = """
import json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    try:
        exec(compile(json.loads(line), "tutorial.md", "exec"), names)
    except Exception:
        traceback.print_exc()
    print(end="\\0", flush=True)
"""


@dataclass(frozen=True)
class Step:
    line: int
    language: str
    code: str
    shown: str | None
    """What the page shows of its output, if it does."""


def steps(page: str) -> Iterator[Step]:
    """The blocks that run, each with the block of output behind it."""
    blocks = list(BLOCK.finditer(page))
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        if block["language"] == "text":
            continue
        shown = after["text"] if after and after["language"] == "text" else None
        yield Step(page.count("\n", 0, block.start()) + 2, block["language"], block["text"], shown)


def with_ids(text: str, ids: Mapping[str, str]) -> str:
    return RUN.sub(lambda found: ids.get(found[0], found[0]), text)


def same(shown: str, printed: str) -> bool:
    """Whether a line is the one that the page shows, whatever run it names."""
    words, others = (TIME.sub("TIME", RUN.sub("RUN", line)).split() for line in (shown, printed))
    if words[-1:] == [ANYTHING]:
        words = words[:-1]
        others = others[: len(words)]
    one, other = " ".join(words), " ".join(others)
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(abs(float(a.strip("±")) - float(b.strip("±"))) <= tolerance(a) for a, b in pairs)


def tolerance(number: str) -> float:
    return 0.005 if "." in number else 0


def place(part: list[str], lines: list[str]) -> int | None:
    """Where these lines stand in those, one after another."""
    for start in range(len(lines) - len(part) + 1):
        if all(map(same, part, lines[start:])):
            return start
    return None


def compare(shown: list[str], printed: list[str], ids: dict[str, str]) -> None:
    """Find what the page shows in what was printed, and learn which run stands for which."""
    parts: list[list[str]] = [[]]
    for line in shown:
        parts.append([]) if line == ANYTHING else parts[-1].append(line)
    at = 0
    for number, part in enumerate(parts):
        rest = printed[at:]
        if part and number == len(parts) - 1 and number:
            rest = rest[-len(part) :]
        found = place(part, rest)
        assert found is not None, "not printed:\n" + "\n".join([*part, "but:", *rest])
        assert found == 0 or number, "something comes before:\n" + "\n".join([*rest[:found], "and then:", *part])
        for mine, theirs in zip(part, rest[found:], strict=False):
            ids.update(zip(RUN.findall(mine), RUN.findall(theirs), strict=True))
        at = len(printed) - len(rest) + found + len(part)
    assert not parts[-1] or at == len(printed), "the page does not show:\n" + "\n".join(printed[at:])


def shell(step: Step, folder: Path, environment: dict[str, str]) -> tuple[list[str], int]:
    """Run a block in bash, and press Ctrl-C where the page shows it; what was printed, and the exit code."""
    lines = []
    with subprocess.Popen(
        ["bash", "-e", "-o", "pipefail", "-c", step.code],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        shown = (step.shown or "").splitlines()
        wait_for = shown[shown.index(INTERRUPT) - 1] if INTERRUPT in shown else None
        for line in process.stdout:
            if WAITING.fullmatch(line.rstrip("\n")):
                continue
            lines.append(line.rstrip("\n"))
            if wait_for and same(wait_for, lines[-1]):
                os.killpg(process.pid, signal.SIGINT)
                lines.append(INTERRUPT)
                wait_for = None
    return lines, process.returncode


@pytest.fixture
def environment() -> dict[str, str]:
    """That of a new terminal, without a network for models and datasets."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NWS_", "RAY_", "PYTHONPATH"))}
    path = f"{Path(sys.executable).parent}:{kept['PATH']}"
    return {**kept, "PATH": path, "COLUMNS": "80", "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}


@pytest.fixture
def python(tmp_path: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", PYTHON],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        yield process
        process.kill()


def interpret(code: str, python: subprocess.Popen[str]) -> list[str]:
    """Run a block in the page's Python; what it printed."""
    assert python.stdin is not None
    assert python.stdout is not None
    python.stdin.write(json.dumps(code) + "\n")
    python.stdin.flush()
    printed = ""
    while not printed.endswith("\0"):
        character = python.stdout.read(1)
        assert character, f"Python has ended: {printed}"
        printed += character
    return printed.rstrip("\0").splitlines()


@pytest.mark.timeout(600)
def test_every_block_prints_what_the_page_shows(
    tmp_path: Path, environment: dict[str, str], python: subprocess.Popen[str]
) -> None:
    ids: dict[str, str] = {}  # from a run's id on the page to the one it has here
    for step in steps(PAGE.read_text(encoding="utf-8")):
        told = Step(step.line, step.language, with_ids(step.code, ids), step.shown)
        if step.language == "python":
            printed = interpret(told.code, python)
            assert not any(line.startswith("Traceback") for line in printed), f"line {step.line}: {printed}"
        else:
            printed, code = shell(told, tmp_path, environment)
            expected = 130 if INTERRUPT in printed else 0
            assert code == expected, f"line {step.line} ended with {code}:\n" + "\n".join(printed)
        if step.shown is None:
            continue
        try:
            compare(step.shown.splitlines(), printed, ids)
        except AssertionError as error:
            raise AssertionError(f"line {step.line} of {PAGE.name}: {error}") from None


def test_every_block_runs_or_is_the_output_of_one_that_does() -> None:
    found = [block["language"] for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]
    assert set(found) == {"bash", "python", "text"}
    assert found[0] != "text"
    assert ("text", "text") not in itertools.pairwise(found)
