"""A sweep's curves as rows, the same in `curves.csv` and in frames."""

from collections.abc import Iterator

from jobs.report.csv_file import Value
from jobs.report.run_facts import kind_flags
from jobs.report.sweep.numbers import Numbers
from jobs.terminal.metrics import metric_signature

CURVE_COLUMNS = (
    *(
        "run",
        "metric",
        "signature",
        "dataset",
        "system",
        "is_control",
        "is_upper_bound",
        "n",
        "articles",
        "of_articles",
        "comparable",
        "words",
    ),
    *("mean", "low", "high", "gain_mean", "gain_low", "gain_high"),
)


def curve_rows(numbers: Numbers) -> Iterator[list[Value]]:
    """One row per dataset, system and n; the gain columns are empty where there is no `random` to compare with."""
    signature = metric_signature(numbers.run, numbers.metric)
    gains = {(m.dataset, m.system, gain.n): gain.gain for m in numbers.magic_numbers for gain in m.gains}
    for curve in numbers.curves:
        for at in curve.lengths:
            gain = gains.get((curve.dataset, curve.system, at.n))
            yield [
                *(numbers.run.id, numbers.metric, signature, curve.dataset, curve.system),
                *map(int, kind_flags(curve.kind).values()),
                *(at.n, at.articles, at.of_articles, int(at.comparable), at.words, at.mean, at.low, at.high),
                *((gain.mean, gain.low, gain.high) if gain else (None, None, None)),
            ]
