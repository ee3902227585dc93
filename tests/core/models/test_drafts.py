"""Texts of at most n words: which of a model's drafts is taken, and that reading their prompt once changes nothing."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models
from transformers import LogitsProcessor, PreTrainedTokenizerFast

from nws.core.models import resolve_model
from nws.core.models.drafts import Drafting
from nws.core.models.generation import load_generator
from nws.core.models.generators import HEADLINE_PROMPTS, PromptTemplate, parse_generator
from nws.core.text.length import LengthUnit, count_words, length_of

WORDS = ["</s>", "Trams", "▁run", "▁all", "▁night", "s", "\n", ".", "▁—", ",", "▁to"]
END = 0


class Scripted(LogitsProcessor):
    """In place of chance: the tokens that each row is to draw."""

    def __init__(self, rows: list[list[int]]) -> None:
        self._rows = [iter(row) for row in rows]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        drawn = [next(row, END) for row in self._rows]
        return torch.nn.functional.one_hot(torch.tensor(drawn), scores.shape[1]).float()


def tokenizer() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="."))
    made.decoder = decoders.Replace("▁", " ")
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>")


def written(rows: list[list[int]], likes_all: int, n: int, unit: LengthUnit = "words") -> tuple[list[Any], list[Any]]:
    """The tokens that are written of these draws, and what is taken. The model likes the word "all", or not."""
    drafting = Drafting(tokenizer(), Scripted(rows), [END], len(rows), n, unit)
    ids = torch.zeros(len(rows), 1, dtype=torch.long)
    scores = torch.zeros(len(rows), len(WORDS))
    scores[:, 3] = likes_all
    for _ in range(max(map(len, rows)) + 1):
        ids = torch.cat([ids, drafting(ids, scores).argmax(1, keepdim=True)], 1)
    return ids[:, 1:].tolist(), drafting.best(len(rows))


@pytest.mark.parametrize(
    ("rows", "likes_all", "n", "unit", "taken"),
    [
        ([[1, 2, 3, END], [1, 2, END]], 3, 3, "words", ("Trams run all", 2)),  # likelier a word
        ([[1, 2, 3, END], [1, 2, END]], -3, 3, "words", ("Trams run", 2)),
        ([[1, 2, 3, END], [1, 2, END]], -3, 5, "words", ("Trams run all", 2)),  # half of n at least
        ([[1, 2, 9, END], [1, 2, END]], -3, 5, "words", ("Trams run", 1)),  # the other ends with a comma
        ([[1, 2, 10, END], [1, 2, END]], -3, 5, "words", ("Trams run", 1)),
        ([[1, 2, 6, 4], [1, 2, 3, 4]], 3, 3, "words", ("Trams run", 1)),  # a new line is an end, word 4 none
        ([[1, 2, 3, 5, 7, END]], 0, 3, "words", ("Trams run alls.", 1)),  # signs are no words
        ([[END], [6, 1, END]], 0, 3, "words", ("Trams", 1)),  # no word; a new line before the text
        ([[1, 2, 3, 4], [1, 2, 3, 4]], 9, 3, "words", ("Trams run all", 0)),
        ([[1, 2, 3, 4, END]], 0, 9, "characters", ("Trams run", 0)),
        ([[1, 2, END]], 0, 9, "characters", ("Trams run", 1)),
        ([[END], [END]], 0, 3, "words", ("", 0)),
    ],
)
def test_the_likeliest_draft_that_ended_by_itself_is_taken(
    rows: list[list[int]], likes_all: int, n: int, unit: LengthUnit, taken: tuple[str, int]
) -> None:
    assert written(rows, likes_all, n, unit)[1] == [taken]


@given(rows=st.lists(st.lists(st.integers(0, len(WORDS) - 1), max_size=9), min_size=1, max_size=4), n=st.integers(1, 4))
def test_no_draft_has_more_than_n_words(rows: list[list[int]], n: int) -> None:
    for row in written(rows, 0, n)[0]:
        assert row[-1] == END
        assert count_words(tokenizer().decode(row, skip_special_tokens=True)) <= n


@pytest.mark.parametrize("unit", ["words", "characters"])
@pytest.mark.parametrize("name", ["llama", "gpt2-lm", "t5"])
def test_tiny_models_write_at_most_n(
    tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch, name: str, unit: LengthUnit
) -> None:
    prompt = PromptTemplate(f"In at most {{n}} {unit}: {{article}}", unit)
    generator = parse_generator(str(tiny_models[name]), prompt, "at_most", unit)
    loaded = load_generator(replace(generator, model=resolve_model(generator.model)), torch.device("cpu"), 0)
    texts, asked = ["the cat said news", "a cat", "of the city", "two", "news of 5 cats"], [3, 8, 8, 8, 13]
    together = loaded(texts, range(5), asked)
    assert all(length_of(output.text, unit) <= n for output, n in zip(together, asked, strict=True))
    assert len({output.text for output in together}) > 3
    if name != "t5":  # which has an encoder; of the others, what was read once is now read anew for each draft
        monkeypatch.setattr(loaded, "_reads_on", False)
        monkeypatch.setattr(loaded, "_copies", False)
        loaded._reader.cache_clear()
    assert together == [loaded([text], [i], [n])[0] for i, (text, n) in enumerate(zip(texts, asked, strict=True))]


def test_others_are_drawn_where_none_ended(tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    generator = parse_generator(str(tiny_models["llama"]), length="at_most")
    loaded = load_generator(replace(generator, model=resolve_model(generator.model)), torch.device("cpu"), 0)
    drawn: list[list[str]] = []
    told = iter([("first", 0), ("second", 0), ("third", 2), ("first", 0), ("second", 0), ("third", 0), ("fourth", 0)])

    def best(drafting: Drafting, count: int) -> list[tuple[str, int]]:
        drawn.append([row.text for row in drafting._rows])
        return [next(told)]

    monkeypatch.setattr(Drafting, "best", best)
    outputs = [loaded(["the cat said news"], [1], [3])[0] for _ in range(2)]
    assert [(output.text, output.extra["drafts_ended"]) for output in outputs] == [("third", 2), ("fourth", 0)]
    assert len(drawn) == 7
    assert drawn[0] == drawn[3] != drawn[1] != drawn[2]


def test_what_decides_the_drafts_is_recorded(tiny_models: dict[str, Path]) -> None:
    generator, prompt = parse_generator(str(tiny_models["llama"]), length="at_most"), HEADLINE_PROMPTS["words"]
    assert (generator.signature, generator.prompt) == (f"tiny-llama|prompt={prompt.short_sha256}|at_most", prompt)
    assert "top_k=50, temperature=0.3" in generator.options
    assert (
        "|at most n, rule 1, the likeliest a word of 8 drafts, of n/2 or more if one is; 3 times more if none ends|"
        in generator.options
    )
    known = parse_generator("smollm2", length="at_most")
    assert (known.chat, known.signature.endswith("|at_most")) == (False, True)
    assert parse_generator("smollm2", prompt, "at_most").chat
    assert not parse_generator("smollm2", PromptTemplate("{article}"), "at_most").drafts, "it has one text for all n"
