"""The answer in the terminal."""

import io

from made_scores import kept_points
from rich.console import Console

from core.analysis.answer import Answer, answer_of
from jobs.report.printed_report import print_kept, print_kept_notes
from jobs.report.sweep.kept_answer import headline, sentences

SHARES = {name: {3: 0.3 + i / 10, 21: 0.4 + i / 10} for i, name in enumerate(("[a]", "b", "c", "d", "random"))}


def shown(show, *args):
    console = Console(file=io.StringIO(), width=1_000)
    show(*args[:-1], console, *args[-1:]) if args[-1:] == ("",) else show(*args, console)
    return console.file.getvalue()


def test_each_dataset_has_a_heading_and_at_most_six_lines(run):
    numbers = answer_of([*kept_points(SHARES), *kept_points(SHARES, dataset="talks")])
    text = shown(print_kept, numbers, numbers.datasets, run, "")
    parts = text.strip().split("\n\n")
    assert [part.splitlines()[0] for part in parts] == [
        f"{dataset}: how many words keep how much? (60 articles, 2 lengths from 3 to 21 words)"
        for dataset in ("news", "talks")
    ]
    assert all(2 <= len(part.splitlines()) - 1 <= 6 for part in parts)
    told = [f"{name}: {said}" for name, said in sentences(numbers, "news")]
    how_many = "Articles needed for narrower intervals: nws plan p1-0421"
    assert parts[0].splitlines()[1:] == [headline(numbers, "news"), *told[:-1], f"{told[-1]} {how_many}"]


def test_the_notes_say_what_it_does_not_see():
    text = shown(print_kept_notes, answer_of(kept_points(SHARES)))
    assert "the reference has 99 % with “not” put in, and 98 % with changed numbers" in text
    assert shown(print_kept_notes, Answer()) == ""
