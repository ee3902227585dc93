"""The runs that are disturbed: one of each job, small, and what it stores when nothing disturbs it."""

from dataclasses import dataclass
from pathlib import Path

from chaos.draw import Job
from nws_process import NWS, STUB
from stored_rows import Stored
from tiny_checkpoints import make_bart, make_bert, make_gpt2_lm
from training_run import small_training
from undisturbed import STUB_WORK, undisturbed

from bench import stub_work
from jobs.recipes.job import plan_job
from jobs.recipes.plan import Plan
from jobs.store import Store

ARTICLES = {"phase1": 240, "baselines": 100}
PASSES = 20  # 40 updates of each joint pair

# Two actors at once: 12 articles a second. A driver sees after 5 s that its GCS is dead: it must not be done by then.
_STUB_SECONDS = {"NWS_STUB_SECONDS": "0.16", "NWS_STUB_SEGMENT_SECONDS": "0.02"}
_COMMON = {"n": [1, 7], "bundle_size": 4, "accelerator": "cpu", "actors": 2}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that can be driven, by `program` with `environment`, and everything that it is to store."""

    plan: Plan
    program: tuple[str, ...]
    environment: dict[str, str]
    undisturbed: Stored


def prepare(job: Job, folder: Path) -> Prepared:
    """Make the articles and models of a run in `folder`, and drive it undisturbed, in this process.

    Sweeps do stub work, so that they are about bundles and rows; a training is a real one, with tiny models.
    """
    folder.mkdir()
    if job == "phase2":
        plan = small_training({"bert": make_bert(folder / "tiny-bert")}, folder, PASSES)
        return Prepared(plan, NWS, {}, undisturbed(plan, folder))
    stub_work.write_articles(folder / "news.jsonl", ARTICLES[job])
    common = _COMMON | {"datasets": [{"name": str(folder / "news.jsonl")}]}
    if job == "phase1":
        plan = plan_job("phase1", "sample", common)
    else:
        generators = [str(make_bart(folder / "tiny-bart")), str(make_gpt2_lm(folder / "tiny-gpt2"))]
        chosen = common | {"systems": ["lead", "textrank", "random", *generators]}
        plan = plan_job("baselines", "sample", chosen)
    return Prepared(plan, STUB, _STUB_SECONDS, undisturbed(plan, folder, STUB_WORK))


def stored_rows(store: Store, run_id: str) -> int:
    """How much a run has stored, as the parts of its kills are counted: updates and summaries."""
    return sum(policy.updates for policy in store.policy_infos(run_id)) + store.run_info(run_id).summaries
