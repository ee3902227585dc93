"""`nws compare`: systems of one run, or of two, against each other at equal n, paired by article."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from pydantic import TypeAdapter
from rich.console import Console

from nws.core.analysis import Points, compare_systems, kinds_of, mean_over_seeds
from nws.core.analysis.length_matched import compare_length_matched
from nws.core.analysis.paired import TIE, at_the_longest_n, compare_uncut
from nws.core.analysis.words_saved import saved_at_each_length
from nws.core.errors import RecipeError, StoreError
from nws.core.findings.comparisons import FEWEST_ARTICLES, TWO_SIDED_LEVEL, Comparison
from nws.core.findings.content import CONTENT_KEPT, WordsSaved
from nws.core.findings.policy_findings import split_seed
from nws.core.findings.scores import CONFIDENCE
from nws.core.metrics.specs import Metric
from nws.core.text.length import LengthUnit
from nws.core.types import LEAD, SystemKind
from nws.jobs.report.metric_names import default_metric, find_metric, metric_name
from nws.jobs.report.numerals import counted, decimals, listed
from nws.jobs.report.printed_lines import (
    ORACLE_NOTE,
    print_line,
    print_shortened,
    print_signature,
    print_title,
    print_unit,
    role,
)
from nws.jobs.report.result_tables import comparison_table, systems_table
from nws.jobs.report.system_names import SystemNames, names_of
from nws.jobs.report.table import MISSING, Cell, Table
from nws.jobs.report.wording import skewed_caution, small_sample_caution, unequal_lengths_caution
from nws.jobs.store import RunInfo, Store
from nws.jobs.store.runs import metric_signature

TEST = "sign-flip, two-sided, over all sign patterns"
_FAMILIES = {False: "all n of one pair on one dataset", True: "all systems of one dataset at its longest n"}
_JSON = TypeAdapter(Comparison)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Comparisons of systems of run `a` with systems of run `b`, which may be the same run.

    Attributes:
        signature: the signature of the metric in both runs.
        comparisons: pairs of systems with uncut texts (n = 0), then pairs at every n that both systems have; where
            `is_of_all`, pairs at one n of each dataset.
        is_of_all: whether every system was compared with `lead`: `p_holm` is corrected over the systems of a dataset.
        kinds: the kind of each system.
        length_matched: length-matched pairs: a system whose summaries are uncut or have at most n words, minus another.
            With two runs, the first run's systems minus the second run's.
        not_compared: pairs that share no article at any n, and why.
        names: the names of systems that people see.
    """

    a: RunInfo
    b: RunInfo
    metric: Metric
    signature: str
    comparisons: tuple[Comparison, ...]
    length_matched: tuple[Comparison, ...]
    kinds: Mapping[str, SystemKind]
    not_compared: Mapping[tuple[str, str], str]
    names: SystemNames
    is_of_all: bool = False
    words_saved: tuple[WordsSaved, ...] = ()

    @property
    def two_runs(self) -> bool:
        return self.a.id != self.b.id

    def as_dict(self) -> dict[str, Any]:
        """Return every number, and what made it, as plain JSON values."""
        return {
            "runs": {"a": _run_json(self.a), "b": _run_json(self.b)},
            "metric": self.metric,
            "signatures": dict.fromkeys("ab", self.signature),
            "confidence": CONFIDENCE,
            "test": TEST,
            "alpha": TWO_SIDED_LEVEL,
            "unit": self.a.length_unit,
            "tie": TIE,
            "holm_family": f"{_FAMILIES[self.is_of_all]}; length-matched, all pairs on one dataset",
            "comparisons": [*map(self._comparison_json, self.comparisons)],
            "length_matched": [*map(self._comparison_json, self.length_matched)],
            "words_saved": [asdict(saved) for saved in self.words_saved],
            "not_compared": [{"a": a, "b": b, "why": why} for (a, b), why in self.not_compared.items()],
        }

    def _comparison_json(self, comparison: Comparison) -> dict[str, Any]:
        kinds = {"a": self.kinds[comparison.a], "b": self.kinds[comparison.b]}
        values: dict[str, Any] = _JSON.dump_python(comparison, mode="json")
        return values | {
            side: {"system": values[side], "is_control": kind == "control", "is_oracle": kind == "oracle"}
            for side, kind in kinds.items()
        }


def compare_runs(
    store: Store,
    run: str,
    other_run: str | None,
    systems: Sequence[str],
    lengths: Sequence[int] | None,
    metric: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> RunComparison:
    """Compare systems of `run`, or of `run` and `other_run`, at every n they share or at `lengths`.

    Comparisons of uncut texts (n = 0) come first. A system that was told n has no uncut texts.

    In one run, two `systems` are compared with each other, and one with every other system. If none is named, every
    system is compared with `lead`: without `lengths` only at the longest n for which all have enough articles, and the
    p are corrected over the systems.

    In two runs, two `systems` are one of the first and one of the second run. A single one is compared with itself. If
    none is named, every system that both runs have is compared with itself.

    Trained policies may be named by their method alone (`policy|reinforce`): that is the mean over its seeds.

    Without a `metric` it is `default_metric`. `labels` of systems go over those of the recipes.

    Raises:
        RecipeError: the metric, a system or an n is not there, or the runs computed the metric differently, or one
            counts words and the other characters.
        StoreError: there is no such run, or it has no summaries.
    """
    a = store.run_info(run)
    b = store.run_info(other_run) if other_run else a
    if len(systems) > 2:
        raise RecipeError(f"A comparison has two sides: give --system once or twice, not {len(systems)} times.")
    if a.length_unit != b.length_unit:
        raise RecipeError(
            f"Run {a.id} has summaries of n {a.length_unit}, and run {b.id} of n {b.length_unit}: not comparable."
        )
    checked = find_metric(metric, "compare by", a, b) if metric else default_metric(a, b)
    signature = _signature(a, b, checked)
    points_a = points_b = _points(store, a, checked)
    if other_run:
        points_b = _align(points_a, store.content_hashes(a.id), _points(store, b, checked), store.content_hashes(b.id))
    called = {*points_a.systems, *points_b.systems}
    called |= {split_seed(system)[0] for system in called}
    names = names_of([a, b] if other_run else [a], called, labels)
    where = [(a, points_a)] + [(b, points_b)] * (len(systems) - 1)
    systems = [_full_name(name, names, *side) for name, side in zip(systems, where, strict=False)]
    points_a, points_b = (_with_methods(points, systems) for points in (points_a, points_b))
    has_a, has_b = list(kinds_of(points_a)), list(kinds_of(points_b))
    pairs = _pairs_of_two(has_a, has_b, systems) if other_run else _pairs_of_one(a, has_a, systems)
    is_of_all = not (other_run or systems or lengths)
    both_ways = pairs if other_run or is_of_all else [*pairs, *(pair[::-1] for pair in pairs)]
    length_matched = () if lengths else compare_length_matched(points_a, points_b, both_ways, checked)
    if lengths is not None:
        _require_lengths(lengths, points_a, points_b)
        points_a, points_b = (points.take(np.isin(points.n, lengths)) for points in (points_a, points_b))
    comparisons = compare_systems(points_a, points_b, pairs, checked)
    if is_of_all:
        comparisons = at_the_longest_n(comparisons)
    else:
        comparisons = (*compare_uncut(points_a, points_b, pairs, checked), *comparisons)
    compared = {(comparison.a, comparison.b) for comparison in comparisons}
    sides = [(f"run {run.id}" if other_run else None, points) for run, points in ((a, points_a), (b, points_b))]
    reasons = {pair: _why_not_compared(pair, sides, names) for pair in pairs if pair not in compared}
    if not comparisons:
        raise RecipeError(f"Nothing to compare: {next(iter(reasons.values()))}.")
    kinds = kinds_of(Points.together([points_a, points_b]))
    saved = (
        saved_at_each_length(points_a, *pairs[0])
        if checked == CONTENT_KEPT and len(pairs) == 1 and not other_run
        else ()
    )
    return RunComparison(a, b, checked, signature, comparisons, length_matched, kinds, reasons, names, is_of_all, saved)


def _align(points_a: Points, hashes_a: Mapping[str, str], points_b: Points, hashes_b: Mapping[str, str]) -> Points:
    """Put the points of run B under the datasets and ids of run A where A has the same content under other names.

    An id also hashes the names of dataset, split and row, so a renamed file has other ids.
    """
    places = {article: (dataset, article) for dataset, article in points_a.articles}
    unmatched = {hashes_a[article]: article for article in sorted(places.keys() - hashes_b.keys())}
    moved = []
    for dataset, article in points_b.articles:
        same = article if article in places else unmatched.pop(hashes_b[article], article)
        moved.append(places.get(same, (dataset, article)))
    return replace(points_b, articles=tuple(moved))


def _why_not_compared(pair: tuple[str, str], sides: Sequence[tuple[str | None, Points]], names: SystemNames) -> str:
    """Say why two systems were not compared, without a full stop: what either has summaries of."""
    of_sides = zip(pair, sides, strict=True)
    has = [f"{run or names[system]} has {_extent_text(points, system)}" for system, (run, points) in of_sides]
    why = "the systems have no article in common at any n compared (same text and references, at least n words)"
    return f"{why}: {', '.join(has)}"


def _extent_text(points: Points, system: str) -> str:
    """Describe the articles of a system: their number, datasets and n."""
    own = points.take(np.array([name == system for name in points.systems], dtype=np.bool_)[points.system])
    datasets = ", ".join(sorted({dataset for dataset, _ in own.articles}))
    lengths = joined_lengths(np.unique(own.n).tolist())
    return f"{counted(len(own.articles), 'article')} of {datasets} at n = {lengths}" if lengths else "no such summary"


def _full_name(name: str, names: SystemNames, run: RunInfo, points: Points) -> str:
    systems = list(kinds_of(points))
    methods = {split_seed(system)[0] for system in systems} - set(systems)
    return names.find(name, systems, f"run {run.id}", sorted(methods))


def _with_methods(points: Points, systems: Sequence[str]) -> Points:
    """Add to `points` the means over seeds of the methods among `systems`, which a run does not store."""
    methods = dict.fromkeys(name for name in systems if name not in points.systems)
    return Points.together([points, *(mean_over_seeds(points, method) for method in methods)])


def _signature(a: RunInfo, b: RunInfo, metric: Metric) -> str:
    """Return the signature of the metric in both runs, which are refused if they have not computed it alike."""
    signature_a, signature_b = (metric_signature(run, metric) for run in (a, b))
    if signature_a != signature_b:
        raise RecipeError(
            f"{metric} of run {a.id} and of run {b.id} must not be compared: they are not the same metric. "
            f"The first is {signature_a}; the second is {signature_b}. Choose another --metric, or run one of "
            "them again with the other's options."
        )
    return signature_a


def _points(store: Store, run: RunInfo, metric: Metric) -> Points:
    points = store.points(run.id, [metric])
    if not (points.n > 0).any():
        raise StoreError(f"Run {run.id} ({run.state}) has no summaries of n {run.length_unit}: `nws status {run.id}`.")
    if np.isnan(points.scores[metric]).all():
        why = ", which needs several articles" * (metric == CONTENT_KEPT)
        raise StoreError(f"Run {run.id} has no value of {metric_name(metric)}{why}. Choose another --metric.")
    return points


def _pairs_of_one(run: RunInfo, systems_of_run: list[str], systems: Sequence[str]) -> list[tuple[str, str]]:
    if len(systems) == 2:
        return [(systems[0], systems[1])]
    first = systems[0] if systems else LEAD
    others = [name for name in systems_of_run if name != first]
    if not others:
        raise RecipeError(f"Run {run.id} has no other system than {first!r} to compare it with.")
    if first not in systems_of_run:
        raise RecipeError(
            f"Run {run.id} has no {LEAD!r} to compare every system with. Name one or two with --system; its systems "
            f"are {', '.join(systems_of_run)}."
        )
    return [(first, other) if systems else (other, first) for other in others]


def _pairs_of_two(known_a: list[str], known_b: list[str], systems: Sequence[str]) -> list[tuple[str, str]]:
    if systems:
        return [(systems[0], systems[-1])]
    shared = [name for name in known_a if name in known_b]
    if not shared:
        raise RecipeError(
            "The runs share no system. Name one of each with --system twice: the first has "
            f"{', '.join(known_a)}; the second has {', '.join(known_b)}."
        )
    return [(name, name) for name in shared]


def _require_lengths(lengths: Sequence[int], points_a: Points, points_b: Points) -> None:
    """Refuse an n at which only one side has summaries, or neither."""
    shared = {*points_a.n.tolist()} & {*points_b.n.tolist()}
    if missing := sorted(set(lengths) - shared):
        raise RecipeError(
            f"There are no summaries by both systems at n = {joined_lengths(missing)}. Both have summaries at "
            f"{f'n = {joined_lengths(sorted(shared))}' if shared else 'no n'}."
        )


def joined_lengths(lengths: Sequence[int]) -> str:
    """Join lengths by commas; 0 is said to be uncut."""
    return ", ".join(str(n) if n else "0 (uncut)" for n in lengths)


def _run_json(run: RunInfo) -> dict[str, Any]:
    return {"id": run.id, "job": run.job, "state": run.state, "seed": run.seed, "code_version": run.code_version}


_PLACES = 4
_LEAST_EQUAL_SHARE = 0.01
"""The least share of equal texts."""


def print_comparison(result: RunComparison, console: Console, where: str = "") -> None:
    """Print what was compared, a table for each dataset and pair, and how to read them.

    `where` is appended to the commands it names, so that they find the runs: such as ` --store URL`.
    """
    for run in (result.a, result.b) if result.two_runs else (result.a,):
        articles = counted(run.articles_done, "article")
        print_line(console, f"Run {run.id}: {run.state}, {articles}, {run.failures} failed")
    print_unit(result.a.length_unit, console)
    print_shortened(result.names, console)
    if result.is_of_all:
        for of in (result.comparisons, result.length_matched):
            _print_all(result, of, console)
        print_line(console, f"Compare two systems at every n: nws compare {result.a.id} --system A --system B{where}")
    else:
        for comparison in (*result.comparisons, *result.length_matched):
            _print_pair(result, comparison, console)
        for dataset in dict.fromkeys(saved.dataset for saved in result.words_saved):
            _words_table(result, dataset).print(console)
    _print_how_to_read(result, console)
    print_signature(result.metric, result.signature, result.a.id, console, where)


def _print_all(result: RunComparison, comparisons: Sequence[Comparison], console: Console) -> None:
    """Print a row for each system: its score minus that of `lead`. The highest comes first."""
    for dataset in dict.fromkeys(comparison.dataset for comparison in comparisons):
        shown = [comparison for comparison in comparisons if comparison.dataset == dataset]
        shown.sort(key=lambda comparison: -comparison.lengths[0].difference.mean)
        n = shown[0].lengths[0].n
        lead, length = result.names[LEAD], f" at n = {n}" if n else ", length-matched"
        title = f"{dataset}: {metric_name(result.metric)}{length}, each system − {lead}"
        called = [result.names[comparison.a] + role(result.kinds[comparison.a]) for comparison in shown]
        systems_table(shown, called, lead, title, _PLACES).print(console)
        tested = [comparison.lengths[0] for comparison in shown]
        if n and (result.a.length_unit != "words" or not all(at.at_equal_length for at in tested)):
            print_line(console, unequal_lengths_caution(result.a.length_unit), style="yellow")
        if caution := small_sample_caution(min(at.articles for at in tested)):
            print_line(console, caution, style="yellow")
        skewed = [name for name, at in zip(called, tested, strict=True) if at.significant and at.too_skewed]
        if skewed:
            print_line(console, skewed_caution(f"of {listed(skewed)} with {lead}"), style="yellow")


def _words_table(result: RunComparison, dataset: str) -> Table:
    """Make the table of the words that A needs to keep as much as B does with each of its numbers of words."""
    of_dataset = [saved for saved in result.words_saved if saved.dataset == dataset]
    a, b = result.names[of_dataset[0].a], result.names[of_dataset[0].b]
    rows = [(Cell(str(at.m)), _n_cell(at, at.smallest.n), _n_cell(at, at.smallest.claimed)) for at in of_dataset]
    title = f"{dataset}: how many words {a} needs in order to keep as much as {b}"
    notes = (
        "with 95 % confidence: corrected for all rows (Bonferroni) and for skewness.",
        "So a claim may be missing where the table above has a star.",
    )
    return Table((f"words of {b}", f"words of {a}", "with 95 % confidence"), rows, title, notes)


def _n_cell(saved: WordsSaved, n: int | None) -> Cell:
    is_too_few = saved.smallest.n is not None and saved.articles < FEWEST_ARTICLES
    return Cell(str(n)) if n is not None else MISSING if is_too_few else Cell("none of the n")


def _print_pair(result: RunComparison, comparison: Comparison, console: Console) -> None:
    which = ", length-matched" if comparison.is_length_matched else ", uncut texts" * comparison.is_uncut
    print_title(console, f"{comparison.dataset}: {metric_name(result.metric)}, A − B{which}")
    for side, system, run in (("A", comparison.a, result.a), ("B", comparison.b, result.b)):
        of_run = f", run {run.id}" if result.two_runs else ""
        print_line(console, f"{side}  {result.names[system]}{role(result.kinds[system])}{of_run}")
    # Titled above: A and B are said there.
    comparison_table(comparison, "A", "B", "", _PLACES).print(console)
    for note in _notes(comparison, result.kinds, result.a.length_unit):
        print_line(console, note, style="yellow")


def _notes(comparison: Comparison, kinds: Mapping[str, SystemKind], unit: LengthUnit) -> Iterator[str]:
    """Yield what limits a comparison, a line each."""
    if "oracle" in (kinds[comparison.a], kinds[comparison.b]):
        yield ORACLE_NOTE
    own = comparison.is_length_matched
    if comparison.is_uncut:
        yield "Uncut texts have different lengths: a longer one may score higher because of its length alone."
    elif not own and (unit != "words" or not all(length.at_equal_length for length in comparison.lengths)):
        yield unequal_lengths_caution(unit)
    only_a, only_b = (max(getattr(length, side) for length in comparison.lengths) for side in ("only_a", "only_b"))
    if own and only_a:
        yield f"Left out: {counted(only_a, 'article')} for which no summary by B is within 10 % of A's length."
    elif only_a or only_b:
        yield f"Left out: at most {counted(only_a, 'article')} that only A has, and {only_b} that only B has."
    if comparison.left_out:
        lengths = joined_lengths(comparison.left_out)
        yield f"Lengths left out because no article of at least n words has summaries by both: n = {lengths}."
    if comparison.short:
        counts = ", ".join(f"{many} at n = {n}" for n, many in comparison.short.items())
        why = "have fewer than n words" if unit == "words" else f"fit whole into n {unit}"
        yield f"Articles left out because they {why}: {counts}."
    same = [(length.same_text, length.articles) for length in comparison.lengths if length.same_text is not None]
    share = sum(equal for equal, _ in same) / max(1, sum(articles for _, articles in same))
    if share >= _LEAST_EQUAL_SHARE:
        yield f"A and B wrote the same text in {100 * share:.0f} % of the summaries."
    if caution := small_sample_caution(min(length.articles for length in comparison.lengths)):
        yield caution
    if skewed := [length.n for length in comparison.lengths if length.significant and length.too_skewed]:
        yield skewed_caution(f"at n = {joined_lengths(skewed)}")


def _print_how_to_read(result: RunComparison, console: Console) -> None:
    console.print()
    for pair, why in result.not_compared.items():
        systems = " and ".join(result.names[system] for system in pair)
        print_line(console, f"Not compared: {systems}: {why}.", style="yellow")
    lines = (
        f"* significant: Holm p below {decimals(TWO_SIDED_LEVEL, 2)}."
        + " Where A − B is above 0, A scores higher." * (not result.is_of_all),
        f"Holm p: corrected over {_FAMILIES[result.is_of_all]}. Intervals are not corrected.",
        *["Holm p, length-matched: corrected over all such pairs on one dataset."] * bool(result.length_matched),
        "p: two-sided sign-flip test on per-article differences. It needs no random numbers, and so no seed.",
        "Intervals: Student's t of the per-article differences.",
    )
    for line in lines:
        print_line(console, line, style="dim")
