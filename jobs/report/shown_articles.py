"""Articles of a run, the summaries of each at one n, and where the words of these stand in it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from core.analysis import system_order
from core.errors import RecipeError, StoreError
from core.text.alignment import align, bare_words
from core.text.length import count_characters
from core.text.words import count_words
from core.types import Article, Summary, SystemKind
from jobs.report.sweep.kept_answer import named_length
from jobs.store import FailureInfo, RunInfo, Store
from jobs.terminal.system_names import SystemNames, names_of

_MOST_NAMED = 5
"""How many articles an error lists if a name fits several."""


@dataclass(frozen=True, slots=True)
class Extreme:
    """The articles where a system's BERTScore F1 is lowest (or highest)."""

    count: int
    highest: bool


@dataclass(frozen=True, slots=True)
class Different:
    """The articles where the BERTScore F1 of two systems differs most."""

    a: str
    b: str
    count: int


# Or a key, an id or its beginning, or a part of a text.
Wanted: TypeAlias = str | Extreme | Different


@dataclass(frozen=True, slots=True)
class Length:
    """A number of words (0: uncut), and why it is this one."""

    n: int
    why: str


@dataclass(frozen=True, slots=True)
class ShownSummary:
    """A summary, what its system is, and the position in the article of each of its words (see `align`)."""

    summary: Summary
    kind: SystemKind
    positions: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class ShownArticle:
    """An article with its summaries at the n that was chosen, its uncut ones, and what failed."""

    article: Article
    at_n: tuple[ShownSummary, ...]
    uncut: tuple[ShownSummary, ...]
    failures: tuple[FailureInfo, ...]

    def by(self, system: str) -> ShownSummary | None:
        """What a system wrote at the n that was chosen."""
        return next((written for written in self.at_n if written.summary.system == system), None)


@dataclass(frozen=True, slots=True)
class Shown:
    """What `nws show` shows; `system` is the one whose words are marked, and `names` is what systems are called."""

    run: RunInfo
    wanted: Wanted
    system: str
    length: Length
    articles: tuple[ShownArticle, ...]
    names: SystemNames

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values; a position counts the words of the article from 0."""
        run = self.run
        return {
            "run": {name: getattr(run, name) for name in ("id", "job", "state", "seed", "code_version", "signatures")},
            "wanted": self.wanted if isinstance(self.wanted, str) else asdict(self.wanted),
            "system": self.system,
            "n": self.length.n,
            "unit": run.length_unit,
            "why_n": self.length.why or None,
            "articles": [_article_json(shown) for shown in self.articles],
        }


def show(
    store: Store,
    run: RunInfo,
    wanted: Wanted,
    system: str | None = None,
    n: int | None = None,
    labels: Mapping[str, str] | None = None,
) -> Shown:
    """The wanted articles with their summaries.

    Args:
        store: where `run` is.
        run: which run.
        wanted: one article, or a rule that selects several.
        system: whose words are marked, and whose F1 is lowest or highest: a name, or a part of it that no other system
            has. Default: the first one that is neither a control nor an upper bound.
        n: the length of the summaries; default: see `default_length`.
        labels: of systems, over those of the recipe.

    Raises:
        StoreError: the run has no summaries.
        RecipeError: there is no such system, no article that is wanted, or more than one where one is meant.
    """
    kinds = store.systems(run.id)
    if not kinds:
        raise StoreError(
            f"Run {run.id!r} ({run.state}) has no summaries to show: {run.articles_done} articles finished, "
            f"{run.failures} failed. See `nws status {run.id}`."
        )
    names, where = names_of([run], kinds, labels), f"run {run.id}"
    if isinstance(wanted, Different):
        a, b = (names.find(name, sorted(kinds), where) for name in (wanted.a, wanted.b))
        wanted = Different(a, b, wanted.count)
        system = system or wanted.a
    first = min(kinds, key=lambda name: system_order(name, kinds[name]))
    chosen = names.find(system, sorted(kinds), where) if system else first
    named = [_named(store, run, wanted)] if isinstance(wanted, str) else []
    dataset = named[0].dataset if named else None
    length = default_length(store, run, chosen, dataset, names[chosen]) if n is None else Length(n, "")
    articles = named if isinstance(wanted, str) else _found(store, run, wanted, chosen, length.n)
    shown = tuple(_shown(store, run, article, length.n, kinds) for article in articles)
    return Shown(run, wanted, chosen, length, shown, names)


def _named(store: Store, run: RunInfo, name: str) -> Article:
    articles = store.find_articles(run.id, name, _MOST_NAMED + 1)
    if len(articles) == 1:
        return articles[0]
    if not articles:
        raise RecipeError(
            f"Run {run.id} has no article with the key or id {name!r}, nor one with that in its text. See some of its "
            f"articles with: nws show {run.id} --worst 5"
        )
    listed = "; ".join(f"{article.id} ({article.dataset}, {article.key})" for article in articles[:_MOST_NAMED])
    rest = "; and more" if len(articles) > _MOST_NAMED else ""
    raise RecipeError(f"Run {run.id} has more than one article for {name!r}: {listed}{rest}. Name one by its id.")


def _found(store: Store, run: RunInfo, wanted: Extreme | Different, system: str, n: int) -> list[Article]:
    if isinstance(wanted, Different):
        ids = store.most_different(run.id, wanted.a, wanted.b, n, wanted.count)
        systems = [wanted.a, wanted.b]
    else:
        ids = store.extremes(run.id, system, n, wanted.count, highest=wanted.highest)
        systems = [system]
    if not ids:
        lengths = set.intersection(*(set(store.lengths(run.id, name)) for name in systems))
        raise RecipeError(
            f"Run {run.id} has no article with a summary by {' and '.join(systems)} at n = {n}. There are some at n = "
            f"{', '.join(map(str, sorted(lengths))) or 'none'}. (0: uncut)"
        )
    return [store.article(article_id) for article_id in ids]


def default_length(store: Store, run: RunInfo, system: str, dataset: str | None, name: str) -> Length:
    """The n to show a system's summaries at: the one that its answer names, or else the middle one.

    Args:
        store: where `run` is.
        run: which has summaries by `system`.
        system: a full name.
        dataset: of the articles; None for the one with the most articles by the system.
        name: what the system is called.
    """
    lengths = [n for n in store.lengths(run.id, system) if n]
    if not lengths:
        return Length(0, f"{name} has written no summaries of n {run.length_unit}.")
    answer = store.answer(run.id)
    of_datasets = {kept.dataset: kept.articles for kept in answer.of_systems if kept.system == system}
    if not of_datasets:
        return Length(lengths[len(lengths) // 2], f"The middle one of the n of {name}: content kept is not known.")
    of = dataset if dataset in of_datasets else max(of_datasets, key=lambda one: of_datasets[one])
    where = f"{of}: " if len(of_datasets) > 1 else ""
    return Length(named_length(answer, of, system), f"{where}The n that the answer names for {name}.")


def _shown(store: Store, run: RunInfo, article: Article, n: int, kinds: Mapping[str, SystemKind]) -> ShownArticle:
    words = bare_words(article.text)
    summaries = store.summaries(run.id, article.id)
    written = [
        ShownSummary(summary, kinds[summary.system], tuple(align(bare_words(summary.text), words)))
        for summary in sorted(summaries, key=lambda summary: system_order(summary.system, kinds[summary.system]))
        if summary.n in (n, 0)
    ]
    return ShownArticle(
        article,
        tuple(summary for summary in written if summary.summary.n),
        tuple(summary for summary in written if not summary.summary.n),
        tuple(store.failures(run.id, article.id)),
    )


def _article_json(shown: ShownArticle) -> dict[str, Any]:
    article = shown.article
    failures = [
        {"stage": failure.stage, "error_class": failure.error_class, "message": failure.message}
        | {"attempts": failure.attempts, "node": failure.node, "failed_at": failure.failed_at.isoformat()}
        for failure in shown.failures
    ]
    return {
        **{
            "dataset": article.dataset,
            "split": article.split,
            "key": article.key,
            "id": article.id,
            "words": count_words(article.text),
        },
        **{"text": article.text, "references": list(article.references)},
        "summaries": [_written_json(written) for written in (*shown.at_n, *shown.uncut)],
        "failures": failures,
    }


def _written_json(written: ShownSummary) -> dict[str, Any]:
    summary = written.summary
    return {
        **{
            "system": summary.system,
            "kind": written.kind,
            "n": summary.n,
            "words": summary.words,
            "characters": count_characters(summary.text),
            "text": summary.text,
        },
        "scores": {**summary.scores, **summary.chosen_scores},
        "extra": dict(summary.extra),
        "positions": list(written.positions),
    }
