"""Which number of words a model is asked for, so that it writes about n."""

import pytest

from core.summarizers.adjustment import SAMPLE_LENGTHS, Adjustment, fit_adjustment


@pytest.mark.parametrize(
    ("written", "line", "asked"),
    [
        (lambda a: [a, a, a], (0, 1), {1: 1, 5: 5, 21: 21}),
        (lambda a: [a + 3, a + 3, 400], (3, 1), {1: 1, 5: 2, 21: 18}),
        (lambda a: [2 * a - 1, 0, 100], (-1, 2), {1: 1, 5: 3, 21: 11}),
        (lambda a: [a - 2], (-2, 1), {1: 3, 21: 23}),
        (lambda a: [30, 31, 32], (18, 1), {5: 1, 21: 3}),
    ],
    ids=["exact", "too much, once far too much", "twice as much", "too little", "always about as much"],
)
def test_the_line_is_that_of_what_is_written(written, line, asked) -> None:  # type: ignore[no-untyped-def]
    found = fit_adjustment({a: written(a) for a in SAMPLE_LENGTHS})
    assert (found.intercept, found.slope) == pytest.approx(line)
    assert {n: found.asked_for(n) for n in asked} == asked


def test_it_says_what_it_does() -> None:
    assert str(Adjustment(1.5, 0.8)) == "asked for (n - 1.5) / 0.8 words"
