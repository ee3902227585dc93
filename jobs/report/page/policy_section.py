"""The page's section on policies: how they learned, and what they write for articles they were not trained on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.analysis import SystemScore
from core.text.length import LengthUnit
from jobs.report.looks import At, Series, coloured
from jobs.report.page.charts import PAIR_WIDTH, Chart, Lines, line_chart
from jobs.report.policies.learning_curves import Band, LearningLine, learning_lines
from jobs.report.policies.policy_numbers import PolicyNumbers
from jobs.store import ArticleTexts, CurveRow
from jobs.terminal.numerals import decimals, of_length
from jobs.terminal.system_names import names_of

EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class Example:
    """The summaries of one test article at n words: (system, text, BERTScore F1), the best first."""

    key: str
    n: int
    reference: str
    summaries: tuple[tuple[str, str, float], ...]


@dataclass(frozen=True, slots=True)
class PolicySection:
    """A training: a chart of the reward and one of the entropy for each n, the test scores, and examples."""

    id: str
    numbers: PolicyNumbers
    learning: tuple[Chart, ...]
    scores: tuple[SystemScore, ...]
    examples: tuple[Example, ...]


@dataclass(frozen=True, slots=True)
class _SeedLine:
    """How one seed of a method learned to write n words, under the name and in the look it has in all charts."""

    name: str
    look: str
    line: LearningLine


def policy_section(
    section: str, numbers: PolicyNumbers, curve: Sequence[CurveRow], texts: Sequence[ArticleTexts]
) -> PolicySection:
    """The section of one run.

    Args:
        section: the prefix of ids in this section.
        numbers: of the run.
        curve: its learning curves, from which each seed gets a line.
        texts: test articles to show.
    """
    lines = _seed_lines(numbers, curve)
    charts = [
        _learning_chart(
            f"{section}-{quantity}-{n}",
            quantity,
            n,
            numbers.run.length_unit,
            [seed_line for seed_line in lines if seed_line.line.n == n],
        )
        for n in sorted({seed_line.line.n for seed_line in lines})
        for quantity in ("reward", "entropy")
    ]
    return PolicySection(section, numbers, tuple(charts), numbers.scores, tuple(_examples(numbers, texts)))


def _seed_lines(numbers: PolicyNumbers, curve: Sequence[CurveRow]) -> list[_SeedLine]:
    """Methods by colour, seeds by dashes."""
    seeds = sorted({row.seed for row in curve})
    lines = {seed: learning_lines([row for row in curve if row.seed == seed]) for seed in seeds}
    systems = sorted({line.system for seed_lines in lines.values() for line in seed_lines})
    return [
        _SeedLine(
            numbers.learned(line.system) + (f", seed {seed}" if len(seeds) > 1 else ""),
            coloured(systems.index(line.system), turn),
            line,
        )
        for turn, (seed, seed_lines) in enumerate(lines.items())
        for line in seed_lines
    ]


def _learning_chart(chart_id: str, quantity: str, n: int, unit: LengthUnit, lines: Sequence[_SeedLine]) -> Chart:
    name = "reward" if quantity == "reward" else "entropy (nats)"
    rewards = "; ".join(
        f"{seed_line.name}: {decimals(seed_line.line.first_reward)} in the first tenth of the updates, "
        f"{decimals(seed_line.line.last_reward)} in the last"
        for seed_line in lines
    )
    return line_chart(
        chart_id,
        f"Mean {name} at n = {n}",
        f"Mean {name} of sampled summaries of {of_length(n, unit)}, by update. Reward: {rewards}.",
        [Series(seed_line.name, _points(seed_line, quantity, name)) for seed_line in lines],
        Lines(
            {seed_line.name: seed_line.look for seed_line in lines},
            {},
        ),
        "update",
        f"mean {name}",
        width=PAIR_WIDTH,
    )


def _points(seed_line: _SeedLine, quantity: str, name: str) -> tuple[At, ...]:
    band: Band = getattr(seed_line.line, quantity)
    return tuple(
        At(x, mean, tooltip=f"{seed_line.name}, update {x:g}: {name} {decimals(mean)}")
        for x, mean in zip(seed_line.line.x, band.mean, strict=True)
    )


def _examples(numbers: PolicyNumbers, texts: Sequence[ArticleTexts]) -> Iterable[Example]:
    """Examples at the middle of the lengths that the policies write."""
    lengths = sorted({score.n for score in numbers.scores if score.is_policy})
    if not lengths:
        return
    n = lengths[len(lengths) // 2]
    names = names_of([numbers.run], {row["system"] for article in texts for row in article.summaries})
    for article in texts[:EXAMPLES]:
        summaries = [
            (names[row["system"]], row["text"], row["bertscore_f1"]) for row in article.summaries if row["n"] == n
        ]
        summaries.sort(key=lambda summary: (-summary[2], summary[0]))
        if summaries:
            yield Example(article.key, n, article.references[0], tuple(summaries))
