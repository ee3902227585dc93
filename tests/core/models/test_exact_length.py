"""Every text of a model that is asked for n words has n words, whatever its tokens are and however badly it writes."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from nws.core.models import resolve_model
from nws.core.models.exact_length import _BYTE_SIGNS, ExactLength, WordTable, Written
from nws.core.models.generation import LoadedGenerator, load_generator
from nws.core.models.generators import PromptTemplate, parse_generator
from nws.core.text.length import count_words
from nws.core.text.rows import cleaned

WORDS = [b" the", b"of the", b" 2024", b"\n", b" .", b"...", b"  ", b" a", b"!\n\n", b" Korea", b"ing"]
HANGUL = [*(" 한", "국어", "에서", " 뉴스"), *("한".encode()[:2], "국".encode()[2:], b" \xed\x95", "다 ".encode()[1:])]
SIGNS = [b"\xe2\x80\x99s", b"\xe3\x80", b"\xc2\xa0"]
PIECES = [*WORDS, *SIGNS, *(piece if isinstance(piece, bytes) else piece.encode() for piece in HANGUL)]
END = 0


def fast(pieces: list[str], decoder: Any, unknown: str = "<unk>") -> PreTrainedTokenizerFast:
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(["</s>", unknown, *pieces]))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    tokenizer.decoder = decoder
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>", unk_token=unknown)


def byte_level() -> PreTrainedTokenizerFast:
    signs = {byte: sign for sign, byte in _BYTE_SIGNS.items()}
    pieces = [bytes([byte]) for byte in range(256)] + PIECES
    return fast(["".join(signs[byte] for byte in piece) for piece in pieces], decoders.ByteLevel())


def sentence_pieces() -> PreTrainedTokenizerFast:
    """As of Llama 2 and Gemma: bytes for what has no piece of its own."""
    texts = ["▁", "a", "▁a", ".", ",", "▁the", "of▁the", "▁2024", "'s", "▁—", "국", "▁뉴스", "!", '."', "?"]
    pieces = [*texts, *(f"<0x{byte:02X}>" for byte in range(256))]
    decoder = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    return fast(pieces, decoders.Sequence(decoder))


def word_pieces() -> PreTrainedTokenizerFast:
    pieces = ["a", "##a", "the", "##ing", ".", ",", "'", "##'", "한국", "##에서", "2024", "-", "n't", "?", "!"]
    return fast(pieces, decoders.WordPiece("##", cleanup=True))


KINDS = {"bytes": byte_level, "sentence pieces": sentence_pieces, "word pieces": word_pieces}


@cache
def tables(kind: str) -> tuple[Any, WordTable]:
    tokenizer = KINDS[kind]()
    return tokenizer, WordTable(tokenizer)


def decoded(tokenizer: Any, ids: list[int]) -> str:
    text = tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    return " ".join(cleaned(str(text)).split())


@pytest.mark.parametrize("kind", ["bytes", "word pieces"])
@settings(max_examples=300)
@given(data=st.data())
def test_words_are_counted_as_in_the_text(kind: str, data: st.DataObject) -> None:
    """Of any tokens, also where they are no UTF-8."""
    tokenizer, table = tables(kind)
    ids = data.draw(st.lists(st.integers(0, len(tokenizer) - 1), max_size=12))
    written = Written()
    for token in ids:
        written = table.after(written, token)
    assert written.words == count_words(decoded(tokenizer, ids))


def write(tokenizer: Any, table: WordTable, n: int, limit: int, seed: int) -> list[int]:
    """What a model writes that gives random scores, and likes the end."""
    rule = ExactLength(table, n, [END], limit)
    source = torch.Generator().manual_seed(seed)
    width = len(tokenizer) + 3  # more scores than tokens, as real checkpoints have
    ids = torch.zeros((1, 2), dtype=torch.long)
    for _ in range(limit):
        scores = torch.randn((1, width), generator=source) * 4
        scores[0, END] += 3
        token = rule(ids, scores).argmax(1, keepdim=True)
        ids = torch.cat([ids, token], 1)
        if int(token) == END:
            break
    return ids[0, 2:].tolist()


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=200)
@given(n=st.integers(1, 21), seed=st.integers(0, 2**32), spare=st.integers(0, 60))
def test_random_scores_make_exactly_n_words(kind: str, n: int, seed: int, spare: int) -> None:
    tokenizer, table = tables(kind)
    ids = write(tokenizer, table, n, 2 * n + 8 + spare, seed)
    text = decoded(tokenizer, ids[:-1])
    assert ids[-1] == END
    assert count_words(text) == n
    assert "\ufffd" not in text, "no character is left half"


@cache
def load(folder: Path) -> LoadedGenerator:
    generator = parse_generator(str(folder), PromptTemplate("{n}: {article}"))
    return load_generator(replace(generator, model=resolve_model(generator.model)), torch.device("cpu"), 0)


@pytest.mark.parametrize("name", ["llama", "t5", "pegasus", "bart", "gpt2-lm"])
def test_tiny_models_write_exactly_n_words_in_batches(tiny_models: dict[str, Path], name: str) -> None:
    loaded = load(tiny_models[name])
    asked = [1, 2, 3, 5, 8] * 3
    texts = [f"the cat said news {i}" for i in range(len(asked))]
    written = loaded(texts, range(len(asked)), asked)
    assert [count_words(output.text) for output in written] == asked
    assert written[4] == loaded(texts[4:5], [4], asked[4:5])[0], "whatever else is in the batch"
    assert len({output.text for output in written}) > 8


def test_a_window_that_is_too_small_is_seen(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    loaded = load(tiny_models["llama"])
    written = loaded(["the cat"], [0], [200])[0]  # 256 tokens, of which each word takes two
    assert 0 < count_words(written.text) < 200


@pytest.fixture(scope="module")
def vocabulary() -> dict[str, int]:
    return {str(name).replace("Ġ", " "): i for name, i in tables("bytes")[0].get_vocab().items()}


def first(vocabulary: dict[str, int], before: list[str], scores: dict[str, float]) -> str:
    """The next token of a text of two words."""
    rule = ExactLength(tables("bytes")[1], 2, [END], 40)
    ids = torch.tensor([[END, *(vocabulary[piece] for piece in before)]])
    given = torch.full((1, len(vocabulary)), -20.0)
    for piece, score in scores.items():
        given[0, vocabulary[piece]] = score
    names = {i: piece for piece, i in vocabulary.items()}
    allowed = [rule(ids[:, :length], given) for length in range(1, ids.shape[1] + 1)]
    return names[int(allowed[-1].argmax())]


def test_the_last_word_is_over_where_most_of_what_follows_says_so(vocabulary: dict[str, int]) -> None:
    two = [" the", " Korea"]
    # Another word cannot be written, and by itself neither the end nor a full stop is more probable than "ing".
    assert first(vocabulary, two, {" a": 5.0, "ing": 2.0, ".": 1.0, "</s>": 0.0}) == "."
    assert first(vocabulary, two, {" a": 5.0, "ing": 2.0, ".": 0.0, "</s>": 1.0}) == "</s>"
    assert first(vocabulary, two, {" a": 2.0, "ing": 5.0, ".": 1.0, "</s>": 0.0}) == "ing"
    assert first(vocabulary, [*two, "."], {" a": 5.0, ".": 2.0, "</s>": 0.0}) == "</s>"
    assert first(vocabulary, [" the"], {"</s>": 9.0, "Ċ": 8.0, " a": 1.0}) == " a", "neither end nor new line"
    assert first(vocabulary, [" the"], {"</s>": 9.0, "...": 8.0, " a": 1.0}) == "..."
    assert first(vocabulary, [" the"], {"of the": 9.0, "ing": 1.0}) == "of the", "one more word, not two"
    assert first(vocabulary, [" the", "of the"], {"of the": 9.0, "ing": 1.0}) == "ing"


def test_what_the_checkpoint_forbids_is_better_than_another_number_of_words(vocabulary: dict[str, int]) -> None:
    all_forbidden = dict.fromkeys(vocabulary, -torch.inf) | {"</s>": 0.0, "Ċ": 1.0}
    assert first(vocabulary, [" the"], all_forbidden) not in ("</s>", "Ċ")


def test_a_tokenizer_that_takes_spaces_out_does_not_take_words(tiny_models: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "spaces"
    folder.mkdir()
    for file in tiny_models["t5"].iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    stated = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(stated | {"clean_up_tokenization_spaces": True}))
    assert AutoTokenizer.from_pretrained(folder).clean_up_tokenization_spaces
    asked = [4] * 12
    written = load(folder)([f"the cat {i}" for i in range(12)], range(12), asked)
    assert [count_words(output.text) for output in written] == asked
