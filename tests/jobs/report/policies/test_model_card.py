from dataclasses import replace
from pathlib import Path

import yaml
from huggingface_hub import ModelCard
from policy_results import METHODS, OTHERS, make_results
from prepared_articles import parameters_of
from run_infos import run_info

from core.analysis.points import Points
from core.learning.checkpoint import Checkpoint, Reading
from core.learning.policies import make_policies
from core.learning.policy_system import PolicySystem, policy_system
from core.learning.training_config import Decoding, PolicyConfig
from core.metrics.config import BertScoreConfig
from core.models import ModelRef
from jobs.report.model_card import write_model_card
from jobs.report.policy_numbers import analyse_policies

GREEDY = Decoding("greedy")
HUB_MODEL = ModelRef("encoder", "org/encoder", "c" * 40)
TRAINED_ON = {"name": "org/news", "split": "train", "revision": "a" * 40, "skip": 0, "limit": 45}
SIGNATURES = {
    "bertscore": "bertscore|model:org/b@d|layer:2",
    "rouge": "rouge|stem:no",
    "reward": "bertscore|model:org/b@d|layer:2",
}
RECIPE = {
    "datasets": [{"name": "/home/ann/data/news.jsonl", "skip": 2, "limit": 40}],
    "train_datasets": [{"name": "org/news@" + "a" * 40, "limit": 45}],
    "encoder": "/home/ann/models/tiny",
    "n": [7, 9, 11, 13],
}
REVISIONS = {
    "datasets": {"news": "all@sha256:0"},
    "segmentation": "spacy.blank(en)",
    "libraries": {"torch": "2.13.0", "spacy": "3.8"},
}
RUN = run_info(job="phase2", recipe=RECIPE, revisions=REVISIONS, signatures=SIGNATURES)


def policies(
    encoder: ModelRef = HUB_MODEL, decoding: Decoding = GREEDY, trained_on: dict[str, object] = TRAINED_ON
) -> PolicySystem:
    reading = Reading("en", "blank", encoder, BertScoreConfig(HUB_MODEL, 2))
    made_by = {"run": RUN.id, "updates": 150, "total_updates": 150, "reward": SIGNATURES["reward"]}
    made_by |= {"train_datasets": [trained_on], "train_articles": 45, "training": {"seed": 0}}
    parameters = parameters_of(make_policies(PolicyConfig(), 384, seed=0))
    lengths = (7, 9, 11, 13)
    checkpoint = Checkpoint("reinforce|seed=0", PolicyConfig(), lengths, reading, parameters, 0, made_by)
    return policy_system([checkpoint], decoding)


def text_of(folder: Path) -> str:
    return ModelCard.load(folder / "README.md").text


def test_it_is_about_these_policies_alone(tmp_path: Path) -> None:
    """The scores of a run with other seeds and methods are those of a run without, and the other seeds are told."""
    alone, among = tmp_path / "alone", tmp_path / "among"
    both = make_results({**METHODS, "other": 5}, others=OTHERS)
    for folder, results in ((alone, make_results(seeds=(0,))), (among, both)):
        folder.mkdir()
        write_model_card(RUN, results, policies(), folder)
    data = ModelCard.load(alone / "README.md").data
    assert (data.language, data.library_name, data.pipeline_tag) == ("en", "nws", "summarization")
    assert (data.datasets, data.license, data.metrics) == (["org/news"], None, ["bertscore"])
    of_alone, of_among = text_of(alone), text_of(among)
    own = [[line for line in text.splitlines() if line.startswith("| reinforce")] for text in (of_alone, of_among)]
    assert len(own[0]) == 1
    assert own[0] == own[1]
    seeds = {
        score.n: score.seeds[1] for score in analyse_policies(RUN, both).scores if score.system == "policy|reinforce"
    }
    assert f"- n = 9: {seeds[9]:.3f}\n".replace("0.", ".") in of_among
    assert "Trained alike with other seeds" not in of_alone


def test_it_says_how_they_were_trained_and_how_to_use_and_remake_them(tmp_path: Path) -> None:
    decoding = Decoding("rerank", k=6)
    system = policies(decoding=decoding)
    renamed = {f"policy|reinforce|seed={seed}": system.signature.replace("seed=0", f"seed={seed}") for seed in (0, 1)}
    results = make_results()
    points = replace(results.points, systems=tuple(renamed.get(name, name) for name in results.points.systems))
    write_model_card(RUN, make_results(points=points), system, tmp_path)
    card = text_of(tmp_path)
    for said in (
        "`org/news train@" + "a" * 40 + ", articles 1 to 45`",
        "training articles: 45",
        "updates: 150 of 150",
        f"reward: `{SIGNATURES['reward']}`",
        f"code: `{RUN.code_version}`",
        "run: `p1-0421`",
        "of 6 summaries drawn",
        "- `news all@sha256:0, articles 3 to 42`",
        "nws submit phase2 --recipe recipe.yaml\nnws export RUN --policy my-policy --system "
        "'reinforce|rerank-6-lead3-adjacent0.05|seed=0'",
        'nws.summarize(open("article.txt").read(), n=7, policy="my-policy")',
        "At equal n, in BERTScore F1: shown to be better than",
        "They do not include the variation between training seeds",
        "| vs. lead2+chunks (Δ) |",
        "may say what\n  the article does not",
    ):
        assert said in card, said
    assert "from a folder" not in card


def test_no_path_of_this_machine_is_shared(tmp_path: Path) -> None:
    folder = ModelRef("tiny", "/home/ann/models/tiny", "sha256:1")
    local = TRAINED_ON | {"name": "train.jsonl", "split": "all"}
    write_model_card(RUN, make_results(), policies(encoder=folder, trained_on=local), tmp_path)
    written = (tmp_path / "README.md").read_text("utf-8") + (tmp_path / "recipe.yaml").read_text("utf-8")
    assert "/home" not in written
    assert ModelCard.load(tmp_path / "README.md").data.datasets is None
    assert "The model `tiny` was read from a folder" in written
    recipe = yaml.safe_load((tmp_path / "recipe.yaml").read_text("utf-8"))
    assert recipe == {
        **RECIPE,
        "encoder": "tiny",
        "datasets": [{"name": "news.jsonl", "skip": 2, "limit": 40}],
    }


def test_policies_that_have_not_been_judged_say_so(tmp_path: Path) -> None:
    write_model_card(RUN, make_results(points=Points.none()), policies(), tmp_path)
    data = ModelCard.load(tmp_path / "README.md").data
    assert data.metrics is None
    assert "It has not been evaluated on test articles." in text_of(tmp_path)
