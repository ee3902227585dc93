"""The driver of a run: it starts or resumes the run, trains its policies, and takes it through its stages.

The driver is the only process that writes to its run. Stored rows are never computed again, so the same function starts
and resumes a run. A sharded run is created here, and driven by `nws.jobs.drive.sharded_run`.
"""

import functools
import itertools
import os
import socket
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace

import numpy as np
from rich.console import Console

from nws.core.article_id_sets import ArticleIds
from nws.core.errors import RecipeError
from nws.core.models import model_folder
from nws.core.stage import Stage
from nws.core.text.dataset import OpenDataset
from nws.core.text.word_kinds import INSTALL, find_kinds
from nws.jobs.drive.pools import MIXED, Engine, MakeWork, Pools, check_sources, open_pools, stage_work
from nws.jobs.drive.reuse import obstacles, reuse_keys
from nws.jobs.drive.run import Outcome, Run, take_run
from nws.jobs.drive.stages import articles_without_kept, check_outputs, require_complete, run_stage, score_kept
from nws.jobs.drive.trackers import Trackers, curve_scalars
from nws.jobs.installation import code_version
from nws.jobs.recipes.job import plan_again
from nws.jobs.recipes.plan import Plan, dataset_revisions, require_same_revisions, sha256_of
from nws.jobs.store import RunSpec, Store, new_run_id
from nws.jobs.store.runs import SILENT_SECONDS

MOST_SHARDS = 10_000
"""The most shards of a run: `nws ls` adds up the rows of all shards, and each takes seconds to start."""


def start(
    store: Store,
    plan: Plan,
    engine: Engine,
    console: Console,
    make_work: MakeWork = stage_work,
    run_id: str | None = None,
    reuse: bool = False,
    name: str | None = None,
    note: str | None = None,
    log_to: Sequence[str] = (),
) -> Outcome:
    """Create a run, with the id `run_id` or a new one, and drive it to its end.

    The run is created only when its models and machines are available. With `reuse`, summaries that other runs of the
    store have are copied, also whenever the run is resumed. `name` and `note` are for people. `log_to` names the
    trackers that the run is logged to (`nws.jobs.drive.trackers`).

    Raises:
        NwsError: a model or a machine is missing, or the store refuses. If the run exists by then, it can be resumed.
    """
    code_version()  # first: it tells which code was imported
    run_id = run_id or new_run_id(plan.job)
    fetch_models(plan.training_and_stages)
    with open_pools(plan.recipe, engine, console, make_work, plan.training_and_stages) as pools:
        store.create_run(plan.run_spec(None, reuse, name, note), run_id)
        return _drive(store, run_id, plan, pools, console, log_to)


def resume(
    store: Store,
    run_id: str,
    engine: Engine,
    accelerator: str | None,
    actors: int | None,
    console: Console,
    take_over: bool = False,
    make_work: MakeWork = stage_work,
    epoch: int | None = None,
    log_to: Sequence[str] = (),
) -> Outcome:
    """Resume a run: compute only articles without summaries, and failed ones again.

    `accelerator` and `actors` replace those of the recipe. The numbers stay the same, except that another kind of
    device may change their last digits and, through them, the draws of a training. `take_over` replaces a driver that
    seems to be alive. With `epoch` the caller has claimed the run already, see `Store.claim_run`. `log_to` names the
    trackers that the run is logged to.

    Raises:
        NwsError: another driver works on it, there is no such run, or its models, articles or segmentation have
            changed since it began.
    """
    run = store.require_free(run_id, socket.gethostname(), take_over or epoch is not None)
    where = {"accelerator": accelerator, "actors": actors}
    values = {**run.recipe, **{k: v for k, v in where.items() if v is not None}}
    plan = plan_again(run.job, values, *store.parent_decided(run_id))
    require_same_revisions(run.revisions, plan.revisions, run_id)
    if run.state == "done" and not run.failures and not articles_without_kept(store, run_id):  # only to be logged again
        no_pools = Pools(run.device, plan.recipe.stuck_after, make_work)
        return _drive(store, run_id, plan, no_pools, console, log_to, take_over, epoch)
    fetch_models(plan.training_and_stages)
    with open_pools(plan.recipe, engine, console, make_work, plan.training_and_stages) as pools:
        return _drive(store, run_id, plan, pools, console, log_to, take_over, epoch)


def drive_alone(store: Store, run_id: str, plan: Plan, pools: Pools, console: Console) -> None:
    """Create a run in a store that nobody else uses, and do all its work; show nothing but its progress.

    There is no heartbeat and no watchdog, and the caller gets every error and Ctrl-C.

    Raises:
        NwsError: whatever the work raises.
    """
    store.create_run(plan.run_spec(), run_id)
    epoch = store.claim_run(run_id, socket.gethostname(), os.getpid())
    run = Run(store, run_id, epoch, Console(quiet=True), progress_console=console)
    _run_tracked(run, plan, pools)
    for finding in check_outputs(store, run_id, plan):
        console.print(f"Warning: {finding}", markup=False, highlight=False)
    run.finish("done")


def fetch_models(stages: Iterable[Stage]) -> None:
    """Download the models that are not on this machine yet, once, before several actors would do so.

    Raises:
        NwsError: a model cannot be loaded, or is not the one that was recorded.
    """
    for ref in dict.fromkeys(ref for stage in stages for ref in stage.models):
        model_folder(ref)


def _drive(
    store: Store,
    run_id: str,
    plan: Plan,
    pools: Pools,
    console: Console,
    log_to: Sequence[str],
    take_over: bool = False,
    epoch: int | None = None,
) -> Outcome:

    def work(run: Run) -> None:
        _run_tracked(run, plan, pools, log_to)
        if findings := check_outputs(run.store, run_id, plan):
            run.add_findings([asdict(finding) for finding in findings])
        for finding in findings:
            run.say(f"Warning: {finding}")

    # A pool returns to its driver every few seconds, and a little later where actors die.
    stuck_after = max(plan.recipe.stuck_after, SILENT_SECONDS)
    return take_run(store, run_id, console, work, take_over, epoch, stuck_after)


def _run_tracked(run: Run, plan: Plan, pools: Pools, log_to: Sequence[str] = ()) -> None:
    """Do all the work of a run, and log its updates and, in the end, its curves to the trackers."""
    with Trackers(log_to, run.store.run_info(run.id), run.say) as trackers:
        _run_all(run, plan, pools, trackers)
        if log_to:
            trackers.log(curve_scalars(run.store.curve_means(run.id)))


def _run_all(run: Run, plan: Plan, pools: Pools, trackers: Trackers) -> None:
    """Train the policies, if there are any, then go through the stages."""
    run.say(f"Run {run.id} in {run.store.shown_url}")
    run.note(f"Driver {run.epoch}, pid {os.getpid()} on {socket.gethostname()}, code {code_version()}, {pools.device}")
    word_kinds = _agreed_kinds(run, plan, pools)
    plan = plan.with_panels(word_kinds)
    run.start(pools.device, code_version(), plan.systems, reuse_keys(plan))
    _log_reuse(run, plan)
    recorded = run.store.run_info(run.id).word_kinds
    run.set_panel(sha256_of(plan.panels or ()), word_kinds if recorded is None else recorded)
    if plan.articles is not None:
        run.set_total(plan.articles)
    run.stop_after_equal_failures = plan.recipe.stop_after_equal_failures
    trained = {info.name for info in run.store.policy_infos(run.id) if info.updates == info.total_updates}
    if plan.training and not trained.issuperset(config.name for config in plan.trainings):
        from nws.jobs.drive.training import train_policies  # and with it torch, which a sweep need not wait for

        train_policies(run, plan, pools, trackers)
    announced = array("Q")
    for stage in plan.stages:
        run_stage(run, plan, stage, pools, announced)
    if lacking := articles_without_kept(run.store, run.id, word_kinds):
        score_kept(run, plan, lacking, pools)
    articles = ArticleIds(np.unique(np.frombuffer(announced, np.uint64)))
    for stage in plan.stages:
        require_complete(run, stage, articles)
    if plan.articles != len(articles):  # a streamed dataset does not tell before
        run.set_total(len(articles))


def _agreed_kinds(run: Run, plan: Plan, pools: Pools) -> str:
    """Return the signature of the pipeline that finds kinds of words; "" unless all machines have the same one.

    The first driver decides for the whole run. A later driver that does not find the same pipeline uses none.
    """
    recorded = run.store.run_info(run.id).word_kinds
    if recorded == "" or plan.language != "en":
        return ""
    found = sorted(set(pools.ask_machines(functools.partial(find_kinds, plan.language))))
    if len(found) == 1 and recorded in (None, found[0]):
        if not found[0]:
            run.say(f"Content kept is not split by kind of word: {INSTALL}.")
        return found[0]
    has = ", ".join(signature or "no pipeline" for signature in found)
    wanted = f"the run began with {recorded}" if recorded else "machines differ"
    run.say(f"Warning: content kept is not split by kind of word: {wanted}, and this driver finds {has}.")
    return ""


def _log_reuse(run: Run, plan: Plan) -> None:
    """Mark the run as mixed if it began with other code or libraries, and say which systems are not copied."""
    info = run.store.run_info(run.id)
    libraries = info.revisions["libraries"], plan.revisions["libraries"]
    changed = changed_software(info.code_version, code_version(), *libraries)
    if changed:
        run.mix(list(changed))
        now = ", ".join(f"{new} (before: {old})" for new, old in changed.items())
        run.say(f"Warning: this run goes on with {now}. New numbers may differ from those stored before. {MIXED}.")
    check_sources(run)
    for obstacle, systems in obstacles(plan).items() if info.reuse else ():
        named = "" if len(systems) == len(plan.systems) else f" of {', '.join(systems)}"
        run.say(f"Nothing{named} is copied from other runs: {obstacle}.")


def changed_software(before: str, code: str, recorded: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Return the software that has changed since a run began: its old version, by its name and new version.

    Args:
        before: the versions of the code that have worked on the run.
        code: the version of the code now.
        recorded: the versions of the libraries when the run began.
        now: their versions now.
    """
    changed = [name for name in {**recorded, **now} if recorded.get(name) != now.get(name)]
    names = {f"{name} {now[name]}" if name in now else f"no {name}": recorded.get(name, "none") for name in changed}
    began_with = before.partition(", ")[0]
    is_same = began_with.partition("+")[2] == code.partition("+")[2]  # the hashes of the sources
    return names if is_same else names | {code: began_with}


def create_sharded_run(
    store: Store, run_id: str, plan: Plan, spec: RunSpec, drivers: int, shards: int | None, shard_articles: int | None
) -> list[str]:
    """Create a run for that many drivers, and its shards. Returns the ids of the shards.

    Raises:
        NwsError: a model is missing, the articles cannot be divided, or the store refuses. No run is created then.
    """
    if spec.address is None:
        fetch_models(plan.training_and_stages)  # once, before several drivers would
    divided = shards_of(plan, spec, shards, shard_articles)
    panels = plan.with_panels().panels or ()
    return store.create_sharded_run(spec, run_id, drivers, plan.language, panels, plan.systems, divided)


def shards_of(plan: Plan, spec: RunSpec, shards: int | None, articles: int | None) -> list[tuple[RunSpec, int]]:
    """Divide a run into that many shards, or into as many as it takes for each to have at most that many articles.

    The datasets are put one after the other, and each shard is a stretch of that sequence. So it has a part of one
    dataset or of several. No shard is empty: there are fewer shards if there are fewer bundles.

    Args:
        plan: the plan of the whole run.
        spec: the spec of the whole run; the specs of shards differ from it by their articles.
        shards: the number of shards.
        articles: the articles of each shard, rounded up to whole bundles; `shards` is None then.

    Raises:
        RecipeError: articles are streamed, or there would be too many shards.
    """
    streamed = [corpus.name for corpus in plan.corpora if corpus.ids is None]
    if streamed:
        raise RecipeError(f"A streamed dataset cannot be divided into shards. Download {', '.join(streamed)} first.")
    counts = [len(corpus.ids) for corpus in plan.corpora if corpus.ids is not None]
    size = plan.recipe.bundle_size
    bundles = sum(-(-count // size) for count in counts)
    if shards is None:
        assert articles is not None
        shards = -(-bundles // -(-articles // size))
    shards = min(shards, bundles)
    if shards > MOST_SHARDS:
        raise RecipeError(f"These would be {shards} shards, and a run has at most {MOST_SHARDS}.")
    return [_shard(plan, spec, parts) for parts in parts_of(counts, size, shards)]


def parts_of(counts: Sequence[int], size: int, shards: int) -> Iterator[list[tuple[int, int, int]]]:
    """Yield the parts of each shard: the index of a dataset, the index of the first article, and that after the last.

    Args:
        counts: the number of articles in each dataset.
        size: the number of articles in a bundle.
        shards: the number of shards, at most that of bundles. Their sizes differ by at most one bundle.
    """
    bundles = [(number, first) for number, count in enumerate(counts) for first in range(0, count, size)]
    bounds = [shard * len(bundles) // shards for shard in range(shards + 1)]
    for begin, end in itertools.pairwise(bounds):
        parts = []
        for number, group in itertools.groupby(bundles[begin:end], key=lambda bundle: bundle[0]):
            firsts = [first for _, first in group]
            parts.append((number, firsts[0], min(firsts[-1] + size, counts[number])))
        yield parts


def _shard(plan: Plan, spec: RunSpec, parts: Sequence[tuple[int, int, int]]) -> tuple[RunSpec, int]:
    datasets, corpora = [], list[OpenDataset]()
    for number, begin, end in parts:
        dataset, corpus = plan.recipe.datasets[number], plan.corpora[number]
        datasets.append(replace(dataset, skip=dataset.skip + begin, limit=end - begin))
        corpora.append(replace(corpus, revision=corpus.part_revision(end)))
    recipe = plan.recipe.model_copy(update={"datasets": tuple(datasets)})
    revisions = {**spec.revisions, "datasets": dataset_revisions(corpora)}
    own = replace(spec, recipe=recipe.model_dump(mode="json"), recipe_hash=recipe.hash, revisions=revisions)
    return own, sum(end - begin for _, begin, end in parts)
