"""`nws compare` on small stores: which systems meet, what is refused, and what is printed."""

import dataclasses
import io
import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from made_scores import make_scores
from rich.console import Console
from system_kinds import kind_of

from nws.core.analysis.sign_flip import holm
from nws.core.article import Article
from nws.core.errors import RecipeError, StoreError
from nws.core.types import BundleResult, Score, Summary
from nws.jobs.report.numerals import p_text
from nws.jobs.store import RunSpec, Store
from nws.jobs.tools.comparison import compare_runs, print_comparison

BERTSCORE, ROUGE = "bertscore|model:org/m@1|layer:6", "rouge|stem:no"
SYSTEMS = {"good|chunks": 0.05, "even|chunks": 0.0, "oracle": 0.3, "lead": 0.0, "random": -0.02}
POLICIES = {"policy|mine|seed=0": 0.04, "policy|mine|seed=1": 0.06, "policy|other|seed=0": 0.02}


def article(i: int, dataset: str = "news") -> Article:
    return Article(dataset, "test", f"a{i}", f"The council approved plan {i}.", (f"Plan {i} approved.",))


def summary(of: Article, system: str, n: int, f1: float, words: int | None = None) -> Summary:
    """Its recalls are half of its F1, its precisions twice that."""
    parts = (Score(2 * f1 / k, f1 / 2 / k, f1 / k) for k in (1, 2, 3, 4))
    scores = make_scores(*parts, efficiency=f1 / (n or 25))
    return Summary(of.id, system, n, f"{system} {n}", n if words is None else words, 0.1, scores)


@pytest.fixture
def add_run(store: Store) -> Callable[..., str]:
    """Stores a run in which F1 rises with n and systems differ by what `SYSTEMS` says, and returns its id."""

    def add(
        systems=tuple(SYSTEMS),
        lengths=(7, 9),
        articles=range(40),
        dataset="news",
        seed=7,
        better=0.0,
        words=lambda system, n: n,
        **signatures,
    ):
        spec = RunSpec(
            job="phase1",
            recipe={},
            recipe_hash="cafe",
            seed=seed,
            code_version="0.1.0",
            revisions={},
            signatures={"bertscore": BERTSCORE, "rouge": ROUGE, "efficiency": "f1/words"} | signatures,
            systems=len(systems),
        )
        run_id = store.create_run(spec)
        epoch = store.claim_run(run_id, "host", 1)
        store.writer(run_id, epoch).start(None, "0.1.0", {system: kind_of(system) for system in systems})
        texts = [article(i, dataset) for i in articles]
        gains = SYSTEMS | POLICIES
        noise = np.random.default_rng(1).normal(0, 0.03, (len(gains), 100))
        names = list(gains)

        def f1(system: str, n: int, i: int) -> float:
            return float(0.3 + n / 100 + gains[system] + better + noise[names.index(system), i])

        found = [
            summary(text, system, n, f1(system, n, i), words(system, n))
            for i, text in zip(articles, texts, strict=True)
            for system in systems
            for n in lengths
        ]
        store.writer(run_id, epoch).record([(texts, BundleResult(tuple(found), ()))])
        store.writer(run_id, epoch).finish("done")
        return run_id

    return add


def compare(store: Store, run: str, other: str | None = None, *systems: str, n=None, metric="bertscore_f1"):
    return compare_runs(store, run, other, systems, n, metric)


def pairs(found) -> list[tuple[str, str]]:
    return [(comparison.a, comparison.b) for comparison in found.comparisons]


def shown(found, color: bool = False, width: int = 80) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=color, color_system="standard" if color else None)
    print_comparison(found, console)
    return out.getvalue()


def test_the_systems_of_one_run(store, add_run):
    run = add_run()
    assert pairs(compare(store, run, None, "random", "lead")) == [("random", "lead")]
    assert pairs(compare(store, run, None, "lead")) == [
        ("lead", other) for other in ("even|chunks", "good|chunks", "oracle", "random")
    ]
    assert pairs(compare(store, run)) == [
        (other, "lead") for other in ("even|chunks", "good|chunks", "oracle", "random")
    ]


def test_the_systems_of_two_runs(store, add_run):
    first, second = add_run(), add_run(("random", "lead", "good|chunks"), seed=8, better=0.01)
    assert pairs(compare(store, first, second)) == [(name, name) for name in ("good|chunks", "lead", "random")]
    assert pairs(compare(store, first, second, "lead")) == [("lead", "lead")]
    found = compare(store, first, second, "oracle", "lead")
    assert pairs(found) == [("oracle", "lead")]
    assert found.two_runs
    at = compare(store, first, second, "lead").comparisons[0].lengths[0]
    assert at.difference.mean == pytest.approx(-0.01)
    assert (at.wins, at.ties, at.losses) == (0, 0, 40)


def test_a_method_is_the_mean_of_its_seeds(store, add_run):
    run = add_run(("lead", *POLICIES))
    found = compare(store, run, None, "policy|mine", "lead")
    assert pairs(found) == [("policy|mine", "lead")]
    apart = [compare(store, run, None, f"mine|seed={seed}", "lead") for seed in (0, 1)]
    assert pairs(apart[0]) == [("policy|mine|seed=0", "lead")]
    for i, at in enumerate(found.comparisons[0].lengths):
        seeds = [one.comparisons[0].lengths[i].difference.mean for one in apart]
        assert at.difference.mean == pytest.approx(sum(seeds) / 2)
    assert pairs(compare(store, run, None, "mine", "other")) == [("policy|mine", "policy|other")]
    assert ("policy|mine", "lead") not in pairs(compare(store, run))
    with pytest.raises(RecipeError, match=r"'policy' fits 3 systems of run .*: mine\|seed=0 \(policy\|mine\|seed=0\)"):
        compare(store, run, None, "policy", "lead")


def test_articles_that_one_run_lacks_are_counted(store, add_run):
    first, second = add_run(articles=range(0, 35)), add_run(articles=range(5, 40))
    at = compare(store, first, second, "lead").comparisons[0].lengths[0]
    assert (at.articles, at.only_a, at.only_b, at.ties, at.p) == (30, 5, 5, 30, 1)
    text = shown(compare(store, first, second, "lead"))
    assert "Left out: at most 5 articles that only A has, and 5 that only B has." in text
    assert f"A  lead (control), run {first}" in text


def test_a_pair_without_a_common_article_is_named(store, add_run):
    first = add_run(("lead", "random"), articles=range(5))
    second_epoch = store.claim_run(first, "host", 2)
    late = article(90)
    store.writer(first, second_epoch).record([([late], BundleResult((summary(late, "good|chunks", 7, 0.4),), ()))])
    found = compare(store, first)
    assert list(found.not_compared) == [("good|chunks", "lead")]
    why = "at least n words): good|chunks has 1 article of news at n = 7, lead has 5 articles of news at n = 7, 9"
    said = " ".join(shown(found).split())
    assert said.count("Not compared: good|chunks and lead: the systems have no article in common") == 1
    assert f"{why}." in said
    assert found.as_dict()["not_compared"][0]["why"].endswith(why)


def test_the_table_fits_and_marks_what_is_significant(store, add_run):
    run = add_run()
    good, even, oracle = (compare(store, run, None, name, "lead") for name in ("good|chunks", "even|chunks", "oracle"))
    text = shown(good)
    assert "\x1b" not in text
    assert max(len(line) for line in text.splitlines()) <= 80
    at = good.comparisons[0].lengths[0]
    row = next(line for line in text.splitlines() if line.strip().startswith("7 "))
    assert row.split()[:3] == ["7", "40", f"{at.mean_a:.4f}"[1:]]
    assert row.split()[-3:] == [p_text(at.p), f"{p_text(at.p_holm)}*", f"{at.wins}/0/{at.losses}"]
    assert not any(at.significant for at in even.comparisons[0].lengths)
    assert "*" not in shown(even).replace("* significant", "")
    told = " ".join(shown(oracle).split())
    assert "An oracle saw the reference, so it cannot be used in practice." in told
    assert "(oracle)" not in text
    assert "\x1b[1m" in shown(good, color=True)
    assert "Holm p: corrected over all n of one pair on one dataset" in text


def test_without_a_system_each_meets_lead_once_at_the_longest_n(store, add_run):
    run = add_run()
    found = compare(store, run)
    assert found.is_of_all
    of_pairs = {name: compare(store, run, None, name, "lead").comparisons[0].lengths[-1] for name, _ in pairs(found)}
    corrected = holm([of_pairs[name].p for name, _ in pairs(found)])
    for comparison, p_holm in zip(found.comparisons, corrected, strict=True):
        (at,) = comparison.lengths
        assert at == dataclasses.replace(of_pairs[comparison.a], p_holm=p_holm)
        assert at.n == 9
    lines = shown(found, width=120).splitlines()
    title = lines.index("news: BERTScore F1 at n = 9, each system − lead")
    names = [line.split()[0] for line in lines[title + 2 : title + 6]]
    assert names == ["oracle", "good", "even", "random"]
    assert f"Compare two systems at every n: nws compare {run} --system A --system B" in lines
    every = compare(store, run, n=[7, 9])
    assert not every.is_of_all
    assert [at.n for at in every.comparisons[0].lengths] == [7, 9]


@pytest.mark.parametrize(
    ("articles", "told"),
    [
        (8, "With 8 articles, no interval is printed and nothing is called significant: take at least 20."),
        (19, "the intervals understate the uncertainty and nothing is called significant: take at least 20."),
    ],
)
def test_few_articles_are_said(store, add_run, articles, told):
    found = compare(store, add_run(articles=range(articles)), None, "oracle", "lead")
    text = " ".join(shown(found).split())
    assert told in text
    assert all(at.exact and at.p_holm < 0.05 and not at.significant for at in found.comparisons[0].lengths)
    assert "*" not in text.replace("* significant", "")
    assert ("no interval " in text) == (articles < 10)


def test_a_metric_without_values_is_named(store, add_run, monkeypatch):
    """Of a single article no content kept is known."""
    monkeypatch.setitem(globals(), "make_scores", partial(make_scores, kept=float("nan")))
    run = add_run(articles=range(1), kept="kept|ref:first")
    with pytest.raises(StoreError, match=f"{run} has no value of content kept, which needs several articles"):
        compare(store, run, metric="kept")
    assert compare(store, run, metric="rouge1_f1").comparisons


def test_two_runs_of_other_metrics_are_refused(store, add_run):
    first, second = add_run(), add_run(bertscore="bertscore|model:org/other@2|layer:9")
    for metric in ("bertscore_f1", "efficiency"):
        with pytest.raises(RecipeError, match=r"org/m@1.*org/other@2") as refused:
            compare(store, first, second, metric=metric)
        assert first in str(refused.value)
    assert compare(store, first, second, metric="rouge1_f1").signature == ROUGE


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        (("absent",), {}, r"no system 'absent' in run .*\. Its systems are even, good, oracle, lead, random"),
        (("lead", "absent"), {}, "no system 'absent' in run"),
        (("lead", "random", "oracle"), {}, "not 3 times"),
        ((), {"metric": "bleu"}, "no metric 'bleu' to compare by. The metrics are bertscore_f1, rouge1_f1"),
        ((), {"n": [7, 8, 11]}, r"at n = 8, 11. Both have summaries at n = 7, 9\."),
        ((), {"n": [0]}, r"at n = 0 \(uncut\)"),
    ],
)
def test_what_is_not_there_is_named(store, add_run, systems, options, message):
    run = add_run()
    with pytest.raises(RecipeError, match=message):
        compare(store, run, None, *systems, **options)


def test_runs_that_cannot_be_compared(store, add_run):
    no_lead = add_run(("good|chunks", "random"))
    with pytest.raises(RecipeError, match=r"no 'lead' to compare every system with. Name one or two with --system"):
        compare(store, no_lead)
    alone = add_run(("lead",))
    with pytest.raises(RecipeError, match="no other system than 'lead'"):
        compare(store, alone)
    with pytest.raises(RecipeError, match="The runs share no system"):
        compare(store, alone, no_lead)
    strangers = add_run(articles=range(50, 55))
    why = f"Nothing to compare: the .* run {alone} has 40 articles of news at n = 7, 9, run {strangers} has 5 "
    with pytest.raises(RecipeError, match=why):
        compare(store, alone, strangers, "lead")
    with pytest.raises(RecipeError, match="Both have summaries at no n"):
        compare(store, alone, add_run(lengths=(11,)), n=[7])
    with pytest.raises(StoreError, match=f"no run 'absent'.*{alone}"):
        compare(store, alone, "absent")
    with pytest.raises(StoreError, match="no summaries of n words"):
        compare(store, add_run(lengths=(0,)))


def test_a_merged_file_is_compared_with_its_two_parts(store, add_run):
    parts = add_run(("good|chunks", "lead"), dataset="one", articles=range(20))
    epoch = store.claim_run(parts, "host", 2)
    others = [article(i, "two") for i in range(20, 40)]
    rows = [summary(text, system, 7, 0.4) for text in others for system in ("good|chunks", "lead")]
    store.writer(parts, epoch).record([(others, BundleResult(tuple(rows), ()))])
    merged = add_run(("good|chunks", "lead"), dataset="both", articles=range(40))
    found = {of.dataset: of.lengths[0].articles for of in compare(store, parts, merged, "good|chunks").comparisons}
    assert found == {"one": 20, "two": 20}


def test_who_does_not_write_n_words_is_told_beside_n(store, add_run):
    """A file of predictions of 6.6 words is no better or worse than `lead` at 13 words: it is shorter."""
    found = compare(
        store,
        add_run(lengths=(7, 13), words=lambda system, n: 6 if system == "even|chunks" else n),
        None,
        "even|chunks",
        "lead",
    )
    text = " ".join(shown(found, width=120).split())
    assert "words of A" in text
    assert "words of B" not in text, "lead writes n"
    assert "Where systems do not write n words, a longer summary may score higher" in text
    row = next(line.split() for line in shown(found, width=120).splitlines() if line.startswith("13 "))
    assert row[-1] == "6.0"
    told = found.as_dict()["comparisons"][0]["lengths"][1]
    assert (told["words_a"], told["words_b"], told["at_equal_length"]) == (6, 13, False)
    equal = shown(compare(store, add_run(), None, "even|chunks", "lead"), width=120)
    assert "words of" not in equal
    assert "equal length" not in equal


def test_uncut_texts_of_both_come_first_and_are_one_test(nws, store, add_run):
    gains = {"even|chunks": 12, "good|chunks": 15}
    run = add_run(("even|chunks", "good|chunks", "lead"), (0, 7), words=lambda system, n: n or gains.get(system, 40))
    cut = add_run(("lead", "random"))
    uncut, at_7 = compare(store, run, None, "good|chunks", "even|chunks").comparisons
    assert [at.n for at in (*uncut.lengths, *at_7.lengths)] == [0, 7]
    (at,) = uncut.lengths
    assert (at.articles, at.words_a, at.words_b, at.p_holm) == (40, 15, 12, at.p)
    assert at.difference.mean == pytest.approx(at_7.lengths[0].difference.mean)
    text = shown(compare(store, run, None, "good|chunks", "even|chunks"), width=120)
    first, _, second = text.partition("A − B\n")
    assert "news: BERTScore F1, A − B, uncut texts" in first
    assert [line.split()[-2:] for line in first.splitlines() if line.startswith("uncut")] == [["15.0", "12.0"]]
    assert "words of" not in second.partition("length-matched")[0]
    alone = nws("compare", run, "--system", "good", "--system", "even", "--n", "0", "--json").json["comparisons"]
    assert [length["n"] for pair in alone for length in pair["lengths"]] == [0]
    with pytest.raises(
        RecipeError, match=r"no summaries by both systems at n = 0 \(uncut\)\. Both have summaries at n = 7, 9\."
    ):
        compare(store, cut, None, "lead", "random", n=[0])


def test_a_system_of_its_own_length_is_compared_with_as_many_words(nws, store, add_run):
    run = add_run(("even|chunks", "lead", "random"), (0, 7, 9), words=lambda system, n: n or 9)
    found = compare(store, run, None, "lead", "even|chunks")
    assert pairs(found) == [("lead", "even|chunks")] * 2  # uncut, and at 7 and 9
    turned = [("lead", "even|chunks"), ("even|chunks", "lead")]
    assert [(pair.a, pair.b) for pair in found.length_matched] == turned
    at = found.length_matched[1].lengths[0]
    assert (at.n, at.articles, at.only_a, at.words_a, at.words_b) == (0, 40, 0, 9, 9)
    assert at.mean_b == pytest.approx(found.comparisons[1].lengths[1].mean_a)  # of lead at 9
    text = " ".join(shown(found).split())
    assert "news: BERTScore F1, A − B, length-matched A even|chunks B lead (control)" in text
    assert "matched 40 " in text
    assert "Holm p, length-matched: corrected over all such pairs on one dataset." in text
    assert "longer summary" not in text
    told = nws("compare", run, "--json").json["length_matched"]
    assert [(pair["a"]["system"], pair["lengths"][0]["n"]) for pair in told] == [("even|chunks", 0), ("random", 0)]
    assert nws("compare", run, "--n", "7", "--json").json["length_matched"] == []
    other = add_run(("even|chunks", "lead"), (0, 7, 9), better=0.1, words=lambda system, n: n or 20)
    assert [pair.a for pair in compare(store, run, other).length_matched] == ["even|chunks", "lead"]
    assert compare(store, other, run).length_matched == ()  # none of 20 words


def test_the_command_prints_a_table_or_every_number_as_json(nws, store, add_run):
    run, second = add_run(), add_run()
    printed = nws("compare", run, "--system", "good|chunks", "--system", "lead", "--n", "9,7")
    assert printed.code == 0
    assert "A − B" in printed.out
    assert max(len(line) for line in printed.out.splitlines()) <= 80
    told = nws("compare", run, second, "--system", "lead", "--metric", "rougel_f1", "--json").json
    assert (told["metric"], told["runs"]["b"]["id"], told["signatures"]["a"]) == ("rougel_f1", second, ROUGE)
    told = nws("compare", run, "--system", "oracle", "--system", "lead", "--metric", "bertscore_f1", "--json").json
    assert "seed" not in told, "nothing is drawn"
    (comparison,) = told["comparisons"]
    assert comparison["a"] == {"system": "oracle", "is_control": False, "is_oracle": True}
    at = compare(store, run, None, "oracle", "lead").comparisons[0].lengths[1]
    of_json = comparison["lengths"][1]
    assert of_json["difference"] == dataclasses.asdict(at.difference)
    assert [of_json[key] for key in ("n", "p", "p_holm", "significant", "wins")] == [9, at.p, at.p_holm, True, 40]


def test_the_words_that_two_systems_need_to_keep_as_much(store):
    shares = {"lead": {3: 0.1, 7: 0.29}, "m|a|chunks": {3: 0.3, 7: 0.5}}
    spec = RunSpec("phase1", {}, "cafe", 7, "0.1.0", {}, {"bertscore": BERTSCORE, "rouge": ROUGE, "kept": "made"}, 2)
    run_id = store.create_run(spec)
    writer = store.writer(run_id, store.claim_run(run_id, "host", 1))
    writer.start(None, "0.1.0", {system: kind_of(system) for system in shares})
    texts = [article(i) for i in range(40)]
    made = [
        dataclasses.replace(one, scores=one.scores | {"kept": share + i / 1000, "kept_words": 0.1})
        for i, text in enumerate(texts)
        for system, at in shares.items()
        for n, share in at.items()
        for one in [summary(text, system, n, 0.5)]
    ]
    writer.record([(texts, BundleResult(tuple(made), ()))])
    writer.finish("done")
    found = compare(store, run_id, None, "m|a|chunks", "lead", metric="kept")
    assert [(at.m, at.smallest.n, at.smallest.claimed) for at in found.words_saved] == [(3, 3, 3), (7, 3, 3)]
    assert [(of["m"], of["smallest"]["n"]) for of in found.as_dict()["words_saved"]] == [(3, 3), (7, 3)]
    told = shown(found, width=120)
    assert "news: how many words a needs in order to keep as much as lead" in told
    assert re.search(r"words of lead +words of a +with 95 % confidence\n +3 +3 +3\n +7 +3 +3\n", told)
    backwards = shown(compare(store, run_id, None, "lead", "m|a|chunks", metric="kept"), width=120)
    assert re.search(r"\n +7 +none of the n +none of the n", backwards)
    few = dataclasses.replace(found, words_saved=[dataclasses.replace(at, articles=19) for at in found.words_saved])
    unclaimed = [dataclasses.replace(at.smallest, claimed=None) for at in few.words_saved]
    pairs = zip(few.words_saved, unclaimed, strict=True)
    few = dataclasses.replace(few, words_saved=[dataclasses.replace(at, smallest=one) for at, one in pairs])
    assert re.search(r"\n +7 +3 +–\n", shown(few, width=120)), "nothing is claimed: a longer n would not help"
    assert compare(store, run_id, None, "lead", "m|a|chunks").words_saved == (), "of another metric"
    assert compare(store, run_id, None, metric="kept").words_saved != ()
