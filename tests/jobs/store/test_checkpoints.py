from dataclasses import astuple, fields, replace
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stored_rows import rows

from nws.core.errors import StoreError
from nws.core.learning.exchange import ArticleGradient, Decoded, Sample
from nws.core.learning.learner import UpdateStatistics
from nws.core.types import BundleResult
from nws.jobs.store import GreedyReward, PolicyCheckpoint, RoundResult
from nws.jobs.store.run_progress import greedy_rewards

NAMES = ("reinforce|seed=1", "reinforce|seed=0|n=7", "A", "가")
TOTAL = 3
UPDATE_COLUMNS = [field.name for field in fields(UpdateStatistics) if field.name != "update"]
SAMPLE_COLUMNS = [field.name for field in fields(Sample)]


def everything(store):
    return [
        rows(store, "SELECT * FROM updates ORDER BY run_id, policy, update_number"),
        rows(store, "SELECT * FROM episodes ORDER BY run_id, policy, update_number, article_id, n, sample"),
        rows(store, "SELECT run_id, name, updates, saved_at FROM policies ORDER BY run_id, name"),
    ]


finite = st.floats(allow_nan=False, allow_infinity=False)
storable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
samples = st.builds(Sample, storable, *[finite] * (len(SAMPLE_COLUMNS) - 1))
numbers = st.builds(UpdateStatistics, st.integers(0, 2**31 - 2), *[finite] * len(UPDATE_COLUMNS))
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | storable,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(storable, inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=storable,
    seed=st.integers(-(2**63), 2**63 - 1),
    lengths=st.lists(st.integers(1, 1000), min_size=1, max_size=4).map(tuple),
    config=st.dictionaries(storable, plain, max_size=3),
    state=st.binary(max_size=300),
    update=numbers,
    drawn=st.lists(samples, min_size=1, max_size=3).map(tuple),
    greedy=st.tuples(storable, finite),
)
def test_what_is_recorded_comes_back(store, spec, articles, name, seed, lengths, config, state, update, drawn, greedy):
    run_id = store.create_run(spec)
    epoch = store.claim_run(run_id, "host", 1)
    store.writer(run_id, epoch).record([(articles, BundleResult((), ()))])
    total = update.update + 1
    checkpoint = PolicyCheckpoint(name, seed, lengths, total, total, config, state)
    article_id, n = articles[0].id, lengths[0]
    gradient = ArticleGradient(article_id, n, {}, drawn, 0.0, 0.0)
    decoded = Decoded(article_id, n, *greedy)
    store.writer(run_id, epoch).record_round([RoundResult(name, update, [gradient], [decoded], checkpoint)])

    assert store.checkpoints(run_id) == [checkpoint]
    with store.reading() as connection:
        assert greedy_rewards(connection, run_id) == [GreedyReward(name, seed, article_id, n, greedy[1])]
    [(policy, *found)] = rows(
        store, f"SELECT policy, update_number, {', '.join(UPDATE_COLUMNS)} FROM updates WHERE run_id = '{run_id}'"
    )
    assert (policy, UpdateStatistics(*found)) == (name, update)
    [*sampled, last] = rows(
        store,
        f"SELECT policy, update_number, article_id, n, sample, decoding, {', '.join(SAMPLE_COLUMNS)} "
        f"FROM episodes WHERE run_id = '{run_id}' ORDER BY update_number, sample",
    )
    assert sampled == [
        (name, update.update, article_id, n, j, "sampled", *astuple(sample)) for j, sample in enumerate(drawn)
    ]
    assert last == (name, total, article_id, n, 0, "greedy", *greedy, None, None, None, None)


def test_recording_a_round_twice_changes_nothing(store, training, articles, make_round):
    store.writer(*training).record_round([make_round(articles, name, TOTAL - 1, greedy=True) for name in NAMES])
    before, checkpoints = everything(store), store.checkpoints(training[0])
    infos = store.policy_infos(training[0])
    assert [found.name for found in checkpoints] == [info.name for info in infos] == sorted(NAMES)
    assert [len(found) for found in before] == [4, 4 * 8 * (3 + 1), 4]
    for luck in (0, 1):
        again = [make_round(articles, name, TOTAL - 1, greedy=True, luck=luck) for name in NAMES]
        store.writer(*training).record_round(again)
        assert everything(store) == before
        assert store.checkpoints(training[0]) == checkpoints


def test_only_a_checkpoint_of_more_updates_replaces_one(store, training, articles, make_round):
    for update in (0, 1):
        latest = make_round(articles, NAMES[0], update=update)
        store.writer(*training).record_round([latest])
        assert store.checkpoints(training[0]) == [latest.checkpoint]
    saved = store.policy_infos(training[0])
    store.writer(*training).record_round([make_round(articles, NAMES[0], update=0, luck=1)])
    assert store.checkpoints(training[0]) == [latest.checkpoint]
    assert store.policy_infos(training[0]) == saved


def changed(result, part, **values):
    """The result with values in the update, the first sample or the first greedy summary of it replaced."""
    if part == "update":
        return replace(result, statistics=replace(result.statistics, **values))
    if part == "sampled":
        first, *others = result.gradients
        drawn = (replace(first.samples[0], **values), *first.samples[1:])
        return replace(result, gradients=[replace(first, samples=drawn), *others])
    first, *others = result.decoded
    return replace(result, decoded=[replace(first, **values), *others])


NUMBERS = [("update", name) for name in UPDATE_COLUMNS] + [("sampled", name) for name in SAMPLE_COLUMNS[1:]]
NUMBERS += [("greedy", "reward")]


def test_what_a_database_cannot_keep_is_refused_on_both(store, training, articles, make_round):
    good = make_round(articles, NAMES[0], update=2, greedy=True)
    for (part, column), value in product(NUMBERS, (float("nan"), float("inf"), float("-inf"), np.float64("nan"))):
        with pytest.raises(StoreError, match=rf"^update [23] of policy 'reinforce.*' has {column} = {value}, and only"):
            store.writer(*training).record_round([make_round(articles, "a"), changed(good, part, **{column: value})])
    for broken in ("a\0b", "a\ud800b"):
        named = replace(good, policy=broken, checkpoint=replace(good.checkpoint, name=broken))
        for bad in (changed(good, "sampled", text=broken), changed(good, "greedy", text=broken), named):
            with pytest.raises(StoreError, match=r"update [23] of policy .* has a NUL or"):
                store.writer(*training).record_round([bad])
    assert everything(store) == [[], [], []]
