"""Texts of at most n words: which of a model's drafts is taken, and that reading their prompt once changes nothing."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_checkpoints import make_llama
from tokenizers import Tokenizer, decoders, models
from transformers import LogitsProcessor, PreTrainedTokenizerFast

from core.models import resolve_model
from core.models.drafts import Drafting, shared
from core.models.generation import LoadedGenerator, load_generator
from core.models.generators import HEADLINE_PROMPTS, PromptTemplate, parse_generator
from core.text.length import LengthUnit, length_of

WORDS = ["</s>", "Trams", "▁run", "▁all", "▁night", "s", "\n", ".", "▁—"]
END = 0


class Scripted(LogitsProcessor):
    """In place of chance: the tokens that each row is to draw."""

    def __init__(self, rows: list[list[int]]) -> None:
        self._rows = [iter(row) for row in rows]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        drawn = [next(row, END) for row in self._rows]
        return torch.nn.functional.one_hot(torch.tensor(drawn), scores.shape[1]).float()


def tokenizer() -> PreTrainedTokenizerFast:
    vocabulary = {word: i for i, word in enumerate(WORDS)}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="."))
    made.decoder = decoders.Replace("▁", " ")
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>")


def written(rows: list[list[int]], scores: Any, n: int = 3, unit: LengthUnit = "words") -> tuple[list[Any], list[Any]]:
    """What is written of these draws, and what is taken; `scores` by token, of every step."""
    drafting = Drafting(tokenizer(), Scripted(rows), [END], len(rows), n, unit)
    ids = torch.zeros(len(rows), 1, dtype=torch.long)
    given_scores = torch.tensor([[float(scores.get(word, 0.0)) for word in WORDS]]).expand(len(rows), -1)
    for _ in range(max(map(len, rows)) + 1):
        ids = torch.cat([ids, drafting(ids, given_scores).argmax(1, keepdim=True)], 1)
    return ids[:, 1:].tolist(), drafting.best(len(rows))


@pytest.mark.parametrize(
    ("rows", "scores", "n", "unit", "taken"),
    [
        ([[1, 2, 3, END], [1, 2, END]], {"▁all": 3}, 3, "words", ("Trams run all", 2)),  # likelier a word
        ([[1, 2, 3, END], [1, 2, END]], {"▁all": -3}, 3, "words", ("Trams run", 2)),
        (
            [[1, 2, 6, 4], [1, 2, 3, 4]],
            {"▁all": 3},
            3,
            "words",
            ("Trams run", 1),
        ),  # a new line ends it, word 4 does not
        ([[1, 2, 3, 5, 7, END]], {}, 3, "words", ("Trams run alls.", 1)),  # signs are no words
        ([[END], [6, 1, END]], {}, 3, "words", ("Trams", 1)),  # one has no word, and the other begins with a new line
        ([[1, 2, 3, 4], [1, 2, 3, 4]], {}, 3, "words", ("Trams run all", 0)),  # none ended
        ([[1, 2, 3, 4, END]], {}, 9, "characters", ("Trams run", 0)),
        ([[1, 2, END]], {}, 9, "characters", ("Trams run", 1)),
        ([[END], [END]], {}, 3, "words", ("", 0)),
    ],
)
def test_the_likeliest_draft_that_ended_by_itself_is_taken(
    rows: list[list[int]], scores: dict[str, float], n: int, unit: LengthUnit, taken: tuple[str, int]
) -> None:
    ids, best = written(rows, scores, n, unit)
    assert best == [taken]
    assert all(row[-1] == END for row in ids)


@given(rows=st.lists(st.lists(st.integers(0, len(WORDS) - 1), max_size=9), min_size=1, max_size=4), n=st.integers(1, 4))
def test_no_draft_has_more_than_n_words(rows: list[list[int]], n: int) -> None:
    for row in written(rows, {}, n)[0]:
        assert length_of(tokenizer().decode(row, skip_special_tokens=True), "words") <= n


def load(folder: Path, prompt: str = "", unit: LengthUnit = "words") -> LoadedGenerator:
    generator = parse_generator(str(folder), PromptTemplate(prompt, unit) if prompt else None, "at_most", unit)
    return load_generator(replace(generator, model=resolve_model(generator.model)), torch.device("cpu"), 0)


@pytest.mark.parametrize("name", ["llama", "gpt2-lm", "t5"])
@pytest.mark.parametrize("unit", ["words", "characters"])
def test_tiny_models_write_at_most_n(
    tiny_models: dict[str, Path], monkeypatch: pytest.MonkeyPatch, name: str, unit: LengthUnit
) -> None:
    loaded = load(tiny_models[name], f"In at most {{n}} {unit}: {{article}}", unit)
    texts, asked = ["the cat said news", "a cat", "of the city", "two", "news of 5 cats"], [3, 8, 8, 8, 13]
    written = loaded(texts, range(5), asked)
    assert all(length_of(output.text, unit) <= n for output, n in zip(written, asked, strict=True))
    assert len({output.text for output in written}) > 3
    assert written == [loaded([text], [i], [n])[0] for i, (text, n) in enumerate(zip(texts, asked, strict=True))]
    if name != "t5":  # it has no encoder: its prompts are read once, and by `generate` itself all anew

        def unread(n: int) -> Any:
            def repeated(rows: Any, copies: int) -> dict[str, torch.Tensor]:
                return {"input_ids": torch.tensor(rows).repeat_interleave(copies, 0)}

            return repeated

        monkeypatch.setattr(loaded, "_reader", unread)
        assert written == [loaded([text], [i], [n])[0] for i, (text, n) in enumerate(zip(texts, asked, strict=True))]


def test_what_decides_the_drafts_is_recorded(tiny_models: dict[str, Path]) -> None:
    generator = load(tiny_models["llama"]).generator
    prompt = HEADLINE_PROMPTS["words"]
    assert (generator.signature, generator.prompt) == (f"tiny-llama|prompt={prompt.short_sha256}|at_most", prompt)
    assert "top_k=50, temperature=" in generator.revision
    assert "|at most n, rule 1, the likeliest a word of 8 drafts|" in generator.revision
    known = parse_generator("smollm2", length="at_most")
    assert (known.chat, known.signature.endswith("|at_most")) == (False, True)
    assert parse_generator("smollm2", prompt, "at_most").chat
    assert not parse_generator("smollm2", PromptTemplate("{article}"), "at_most").drafts, "it has one text for all n"


def test_what_prompts_begin_with_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load(
        make_llama(tmp_path / "plain", chat_template=None), "A long beginning of all prompts: {article} in {n}:"
    )
    read: list[int] = []
    forward = loaded._model.forward
    monkeypatch.setattr(
        loaded._model, "forward", lambda ids=None, **named: read.append(named["input_ids"].shape[1]) or forward(**named)
    )
    loaded(["the cat", "news"], [0, 1], [3, 3])
    assert shared([1, 2, 3], [1, 2, 4, 5]) == 2
    assert read[0] > 20 > read[1]
