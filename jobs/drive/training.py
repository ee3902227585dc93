"""Training the policies of a run: each round of updates is stored before the next one begins."""

import functools
from collections.abc import Mapping, Sequence

from cluster.episode_pool import EpisodePool
from core.errors import NwsError
from core.learning.checkpoint import from_bytes, to_bytes
from core.learning.exchange import Decoded
from core.learning.learner import Learner, Updated, train
from core.learning.policies import make_policies
from core.learning.training_config import TrainingConfig
from core.models.encoders import embedding_width
from core.stage import Stage
from core.types import Article, BundleResult
from jobs.drive.pool_watch import PoolWatch, look_at_sources
from jobs.drive.pools import Pools
from jobs.drive.run import Run
from jobs.drive.stages import EqualFailures
from jobs.drive.stored_policies import describe_training
from jobs.drive.trackers import Trackers, update_scalars
from jobs.recipes.plan import Plan
from jobs.store import PolicyCheckpoint, RoundResult

CHECKPOINT_BYTES = 64 * 1024
"""Checkpoints take at most this many bytes for each update of a pair, on average."""
_TOLD = 10
"""How often a training reports its progress."""


def train_policies(
    run: Run,
    plan: Plan,
    pools: Pools,
    equal_failures: EqualFailures,
    trackers: Trackers,
) -> None:
    """Give all policies the updates they lack, from their newest checkpoints on.

    Updates after these that are in the store are computed again, and stay as they are.

    Raises:
        NwsError: no article can be trained on, a gradient is not finite, or workers cannot go on.
    """
    assert plan.training is not None
    assert plan.training.reward is not None
    known = {checkpoint.name: checkpoint for checkpoint in run.store.checkpoints(run.id)}
    run.say("Stage training:")
    if not plan.training.reward.reads_references:
        run.say("The reward reads no reference of the training articles.")
    run.say("Loading models and preparing the training articles.")
    with pools.open_episodes(plan.training) as pool:
        articles = _prepared(run, plan, plan.training, pool, bool(known), equal_failures)
        watch = PoolWatch(run, pools.device)
        watch.look(pool.actors)
        learners = [_learner(config, plan.training, known.get(config.name), articles) for config in plan.trainings]
        total = sum(learner.training.updates(len(articles)) for learner in learners)
        done = sum(learner.update for learner in learners)
        learn = functools.partial(pool.learn, look_around=run.check)
        with run.progress("training", total, done, unit="updates") as advance:
            for updated in train(learners, learn, articles):
                watch.look(pool.actors)
                finished = [result.learner for result in updated if _is_done(result.learner, articles)]
                decoded = _decoded(run, pool, finished, articles)
                results = [_result(result, plan, articles, decoded) for result in updated]
                run.record_round(results)
                trackers.log(update_scalars(updated))
                advance(len(updated), 0)
                _tell(run, updated, articles)
    look_at_sources(run)


def _prepared(
    run: Run,
    plan: Plan,
    stage: Stage,
    pool: EpisodePool,
    has_begun: bool,
    equal_failures: EqualFailures,
) -> list[Article]:
    """The training articles, in corpus order: those that can be prepared.

    What an update is made of depends on which these are, so once a training has begun they stay the same.
    """
    articles = [article for corpus in plan.train_corpora for article in corpus]
    known = run.store.failures(run.id)
    failed = {failure.article_id for failure in known if failure.stage == stage.name} if has_begun else set()
    wanted = [article for article in articles if article.id not in failed]
    with run.progress(stage.name, len(wanted)) as advance:
        for prepared in pool.prepare(wanted, run.check):
            lost = [failure for _, failure in prepared if failure]
            if has_begun and lost:
                # Not recorded: it would be left out from then on.
                raise NwsError(
                    f"Article {lost[0].article_id} could be trained on before, and now cannot: {lost[0].message}. "
                    "Without it the policies would become others. Resume the run where it can be, or submit a new one."
                )
            landed = [((article,), BundleResult((), (failure,) if failure else ())) for article, failure in prepared]
            if landed:
                run.record(landed, stage.name)
            for failure in lost:
                run.note(f"Article {failure.article_id} failed: {failure.error_class}: {failure.message}")
            failed |= {failure.article_id for failure in lost}
            advance(len(prepared) - len(lost), len(lost))
            equal_failures.look(landed)
    usable = [article for article in wanted if article.id not in failed]
    if not usable:
        raise NwsError(f"None of the {len(articles)} training articles can be used. See: nws status {run.id}")
    return usable


def _learner(
    config: TrainingConfig, stage: Stage, stored: PolicyCheckpoint | None, articles: Sequence[Article]
) -> Learner:
    if stored is not None:
        if stored.total_updates != config.updates(len(articles)):
            raise NwsError(
                f"Policy {config.name!r} was to have {stored.total_updates} updates, and with {len(articles)} articles "
                f"it would have {config.updates(len(articles))}: they are not those it began with. Submit a new run."
            )
        return Learner.from_state(config, from_bytes(stored.state))
    # Features are of one width whatever the encoder.
    width = embedding_width(stage.encoders[0]) if config.policies.inputs == "embeddings" else 0
    return Learner(config, make_policies(config.policies, width, config.seed).state_dict())


def _is_done(learner: Learner, articles: Sequence[Article]) -> bool:
    return learner.update == learner.training.updates(len(articles))


def _decoded(
    run: Run, pool: EpisodePool, finished: Sequence[Learner], articles: Sequence[Article]
) -> dict[str, list[Decoded]]:
    """What finished policies write greedily for their training articles, by name."""
    if not finished:
        return {}
    asked = [
        (learner.broadcast(), [(article, n) for article in articles for n in learner.training.lengths])
        for learner in finished
    ]
    decoded = pool.decode(asked, run.check)
    return {learner.training.name: texts for learner, texts in zip(finished, decoded, strict=True)}


def _result(
    updated: Updated,
    plan: Plan,
    articles: Sequence[Article],
    decoded: Mapping[str, Sequence[Decoded]],
) -> RoundResult:
    learner, training = updated.learner, updated.learner.training
    checkpoint = _checkpoint(learner, plan, len(articles)) if is_kept(learner, len(articles)) else None
    return RoundResult(
        policy=training.name,
        statistics=updated.statistics,
        gradients=updated.gradients,
        decoded=decoded.get(training.name, ()),
        checkpoint=checkpoint,
    )


def _checkpoint(learner: Learner, plan: Plan, articles: int) -> PolicyCheckpoint:
    training = learner.training
    return PolicyCheckpoint(
        name=training.name,
        seed=training.seed,
        lengths=training.lengths,
        updates=learner.update,
        total_updates=training.updates(articles),
        config=describe_training(training, plan, articles),
        state=to_bytes(learner.state()),
    )


def is_kept(learner: Learner, articles: int) -> bool:
    """Whether the checkpoint after a learner's newest update is stored.

    Those of a small pair are all stored. A large one's are after the first update, after the last, and so often in
    between that `CHECKPOINT_BYTES` an update are written. What is drawn follows from the seed and the update, so the
    updates after a checkpoint can be computed again, the same to the last bit.
    """
    every = -(-learner.state_bytes // CHECKPOINT_BYTES)
    return learner.update in (1, learner.training.updates(articles)) or learner.update % every == 0


def _tell(run: Run, updated: Sequence[Updated], articles: Sequence[Article]) -> None:
    """Report the rewards of the policies now and then."""
    for result in updated:
        training, numbers = result.learner.training, result.statistics
        total = training.updates(len(articles))
        if result.learner.update * _TOLD // total > numbers.update * _TOLD // total:
            run.say(
                f"{training.name}: update {result.learner.update}/{total}, reward {numbers.reward:.3f}, "
                f"entropy {numbers.entropy:.2f}, gradient norm {numbers.grad_norm:.2f}"
            )
