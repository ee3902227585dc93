import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nws.core.errors import ModelError, RecipeError
from nws.core.models import parse_model, resolve_model
from nws.core.models.generators import (
    DEFAULT_PROMPT,
    DEFAULT_PROMPTS,
    KNOWN_GENERATORS,
    PromptTemplate,
    Settings,
    default_prompt,
    parse_generator,
)
from nws.core.text.length import LengthUnit
from nws.core.types import LengthRule


def test_known_names_hub_ids_and_revisions_are_the_same_generator() -> None:
    names = ["bart-large-xsum", "bart-large-cnn", "t5-large", "pegasus-cnn_dailymail", "gpt2-xl", "smollm2"]
    assert list(KNOWN_GENERATORS) == names
    for name, known in KNOWN_GENERATORS.items():
        assert name == known.signature.partition("|")[0]
        assert parse_generator(name) == parse_generator(known.model.source) == known
        pinned = parse_generator(f"{name}@{'a' * 40}")
        assert pinned == replace(known, model=replace(known.model, revision="a" * 40))


def test_options_name_everything_that_changes_a_summary() -> None:
    assert KNOWN_GENERATORS["gpt2-xl"].options == (
        r"gpt2|prefix=''|suffix='\nTL;DR:'|num_beams=1, max_new_tokens=100, top_k=2|first 3 sentences|"
        "draws seeded by content|float16 where the device has it"
    )
    known = KNOWN_GENERATORS["pegasus-cnn_dailymail"]
    changes = [
        *({"architecture": "bart"}, {"prefix": "x"}, {"suffix": "x"}, {"settings": Settings(num_beams=2)}),
        *({"checkpoint_first": False}, {"sentences": 1}, {"line_mark": ""}, {"half": "float16"}),
    ]
    assert len({known.options, *(replace(known, **change).options for change in changes)}) == len(changes) + 1


def test_a_folder_with_something_else(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"tiny-bert is not a generator: its config.json names BertModel, but models"):
        parse_generator(str(tiny_models["bert"]))
    with pytest.raises(ModelError, match=r"tiny-gpt2 is not a generator: its config.json names GPT2Model"):
        parse_generator(str(tiny_models["gpt2"]), DEFAULT_PROMPT)
    with pytest.raises(ModelError, match="states no model_type"):
        parse_generator(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps(["bart"]))
    with pytest.raises(ModelError, match=f"{tmp_path} has no generator"):
        parse_generator(str(tmp_path))


def test_a_checkpoint_of_another_architecture_is_asked_with_a_prompt(tiny_models: dict[str, Path]) -> None:
    folder = str(tiny_models["llama"])
    generator = parse_generator(folder)
    assert (generator.architecture, generator.prompt, generator.chat) == ("llama", DEFAULT_PROMPT, True)
    assert not generator.has_uncut
    assert generator.signature == f"tiny-llama|prompt={DEFAULT_PROMPT.short_sha256}|exact"
    assert generator.options == (
        f"llama|chat template of the checkpoint|prompt={DEFAULT_PROMPT.text!r}|num_beams=1, max_new_tokens=8n+32|"
        "exactly n words, rule 1|bfloat16 where the device has it"
    )
    free = parse_generator(folder, length="free")
    assert (free.signature, free.is_exact) == (f"tiny-llama|prompt={DEFAULT_PROMPT.short_sha256}", False)
    assert "exactly n words" not in free.options
    uncut = parse_generator(folder, PromptTemplate("Sum up: {article}"))
    assert uncut.has_uncut
    assert uncut.signature != generator.signature
    assert not uncut.is_exact
    assert "max_new_tokens=256" in uncut.options


def test_a_prompt_is_for_every_checkpoint_but_those_with_a_known_name(tiny_models: dict[str, Path]) -> None:
    prompt = PromptTemplate("Sum up in {n} words: {article}")
    assert parse_generator("t5-large", prompt) == KNOWN_GENERATORS["t5-large"]
    asked = parse_generator(str(tiny_models["t5"]), prompt)
    assert (asked.prompt, asked.prefix, asked.chat, asked.architecture) == (prompt, "", False, "t5")
    assert parse_generator("org/model", prompt).signature == f"model|prompt={prompt.short_sha256}|exact"


def test_a_chat_template_is_found_in_either_of_its_files(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "older"
    shutil.copytree(tiny_models["llama"], folder)
    pinned = resolve_model(parse_model(str(folder)))
    template = (folder / "chat_template.jinja").read_text()
    (folder / "chat_template.jinja").write_text(template + " ")
    assert resolve_model(parse_model(str(folder))) != pinned, "another template is another model"
    (folder / "chat_template.jinja").unlink()
    assert not parse_generator(str(folder)).chat
    stated = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(stated | {"chat_template": template}))
    assert parse_generator(str(folder)).chat


def test_what_is_asked_for_characters_has_no_rule_of_words(tiny_models: dict[str, Path]) -> None:
    prompt = DEFAULT_PROMPTS["characters"]
    generator = parse_generator(str(tiny_models["llama"]), unit="characters")
    assert (generator.prompt, generator.is_exact, generator.has_uncut) == (prompt, False, False)
    assert "in at most 50 characters" in prompt.about("Snow fell.", 50)
    assert generator.signature == f"tiny-llama|prompt={prompt.short_sha256}"
    assert "max_new_tokens=2n+32, n in characters|" in generator.options
    assert parse_generator("smollm2", unit="characters").prompt == prompt
    own = PromptTemplate("A title of {n} characters: {article}", "characters")
    assert not parse_generator(str(tiny_models["llama"]), own, unit="characters").is_exact


@pytest.mark.parametrize("unit", ["words", "characters"])
@pytest.mark.parametrize("length", ["exactly", "at_most"])
@pytest.mark.parametrize("name", ["org/model", "smollm2"])
def test_prompts_of_one_article_begin_alike_up_to_the_number(name: str, unit: LengthUnit, length: LengthRule) -> None:
    prompt = parse_generator(name, length=length, unit=unit).prompt or default_prompt(unit, length)
    before, _, behind = prompt.about("Snow fell.", 17).rpartition("17")
    assert (before + "5" + behind) == prompt.about("Snow fell.", 5)
    assert "Snow fell." in before
    assert unit in behind


@given(article=st.text(max_size=30), n=st.integers(0, 100))
def test_an_article_stands_in_the_prompt_as_it_is(article: str, n: int) -> None:
    """Braces of an article are no places."""
    prompt = PromptTemplate("In {n} words, as {{json}}: {article}!")
    assert prompt.about(article, n) == f"In {n} words, as {{json}}: {article.strip()}!"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Sum up in {n} words.", "must have {article} once"),
        ("{article} {article}", "must have {article} once"),
        ("{article} in {words}", "an unknown placeholder {words}. Only {n} and {article} are known"),
        ("{article.text}", "has an unknown placeholder {article.text}"),
        ("{article} {n:>3}", "has an unknown placeholder {n}"),
        ("{article} {", "cannot be read: .* Write {{ and }} for braces"),
        ("{article} {}", "has an unknown placeholder {}"),
        ("caf\udce9 {article}", "has a NUL, or bytes that are not UTF-8"),
    ],
)
def test_other_places_are_refused(text: str, told: str) -> None:
    with pytest.raises(RecipeError, match=told):
        PromptTemplate(text)
