"""Token ids are those that the tokenizer gives, whether words are looked up or not; and which texts they cover."""

from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from nws.core.models import KNOWN_MODELS, model_folder, parse_model, resolve_model
from nws.core.models.loading import load_tokenizer
from nws.core.models.tokens import MOST_UNREAD, tokenized, unread_share
from nws.core.text.dataset import Dataset, open_dataset

MINILM = load_tokenizer(model_folder(KNOWN_MODELS["all-MiniLM-L6-v2"]))
# What a tokenizer of BERT's kind drops, cuts at, joins, or takes for a special token, beside letters.
ODD = st.sampled_from(
    [" ", "  ", "\t", "\n", "\u00a0", "\u3000", "\u2028", "\x1c", "\x00", "\u200b", "\ufffd", "x" * 120]
)
SPECIAL = st.sampled_from(["[SEP]", "[MASK]", " [CLS]", "[UNK] ", "[PAD]", "[sep]"])
LETTERS = st.sampled_from(["\u0301", "\u0345", "中", "한국", "é", "İ", "ß", "Σ", "ﬁ", "don't"])
TEXTS = st.lists(
    st.lists(ODD | SPECIAL | LETTERS | st.text(max_size=6), max_size=12).map("".join), min_size=1, max_size=5
)


def by_the_tokenizer(tokenizer: Any, texts: list[str], max_length: int) -> dict[str, list[list[int]]]:
    encoded = tokenizer(texts, truncation=True, max_length=max_length, return_attention_mask=False)
    return {name: list(rows) for name, rows in encoded.items()}


def rows(tokenizer: Any, texts: list[str], max_length: int) -> dict[str, list[list[int]]]:
    tokens = tokenized(tokenizer, texts, max_length)
    ends = tokens.lengths.cumsum().tolist()
    starts = [0, *ends[:-1]]
    return {
        name: [values[start:end].tolist() for start, end in zip(starts, ends, strict=True)]
        for name, values in tokens.inputs.items()
    }


@settings(deadline=None, max_examples=300)
@given(TEXTS, st.integers(2, 40))
@example(["a b\x1cc", "[MASK]b c", "", " ", "a\u0301 \u0301b"], 512)
def test_words_looked_up_give_the_ids_of_the_whole_text(texts: list[str], max_length: int) -> None:
    assert rows(MINILM, texts, max_length) == by_the_tokenizer(MINILM, texts, max_length)


@pytest.mark.parametrize("architecture", ["bert", "electra", "xlnet", "roberta", "gpt2", "multilingual", "t5", "bart"])
def test_every_tokenizer_gives_its_own_ids(tiny_models: dict[str, Path], architecture: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(tiny_models[architecture])
    texts = ["the cat  said", "a", "", "in the city of the cat there is news, and more of it", "the cat  said"]
    for max_length in (5, 64):
        assert rows(tokenizer, texts, max_length) == by_the_tokenizer(tokenizer, texts, max_length)


def test_words_are_not_looked_up_where_a_token_may_reach_over_a_space(tiny_models: dict[str, Path]) -> None:
    tokenizer = load_tokenizer(tiny_models["bert"])
    tokenizer.add_tokens(["the cat"])
    assert rows(tokenizer, ["so the cat said"], 9) == by_the_tokenizer(tokenizer, ["so the cat said"], 9)


KOREAN, ENGLISH = ([article.text for article in open_dataset(Dataset(name))] for name in ("sample-ko", "sample"))


def test_an_english_vocabulary_covers_english_and_no_korean() -> None:
    assert unread_share(KNOWN_MODELS["all-MiniLM-L6-v2"], ENGLISH) < 0.01
    for text in KOREAN:
        assert unread_share(KNOWN_MODELS["all-MiniLM-L6-v2"], [text]) > 0.95
        assert unread_share(KNOWN_MODELS["all-MiniLM-L6-v2"], [normalize("NFD", text)]) > 0.95


# Unknown tokens, and bytes: three a syllable.
@pytest.mark.parametrize("name", ["bert", "electra", "xlnet", "t5", "pegasus", "roberta", "gpt2", "bart"])
def test_no_english_architecture_passes_for_a_korean_one(tiny_models: dict[str, Path], name: str) -> None:
    assert unread_share(resolve_model(parse_model(str(tiny_models[name]))), KOREAN) > 0.9


def test_a_korean_vocabulary_covers_korean(tiny_models: dict[str, Path]) -> None:
    model = resolve_model(parse_model(str(tiny_models["multilingual"])))
    assert unread_share(model, KOREAN) < MOST_UNREAD / 2
    assert unread_share(model, [normalize("NFD", text) for text in KOREAN]) == unread_share(model, KOREAN)
