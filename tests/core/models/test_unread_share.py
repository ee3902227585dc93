from pathlib import Path
from unicodedata import normalize

import pytest

from core.models import KNOWN_MODELS, parse_model, resolve_model
from core.models.tokens import MOST_UNREAD, unread_share
from core.text.dataset import Dataset, open_dataset

KOREAN, ENGLISH = ([article.text for article in open_dataset(Dataset(name))] for name in ("sample-ko", "sample"))
MINILM = KNOWN_MODELS["all-MiniLM-L6-v2"]


def test_an_english_vocabulary_covers_english_and_no_korean() -> None:
    assert unread_share(MINILM, ENGLISH) < 0.01
    for text in KOREAN:
        assert unread_share(MINILM, [text]) > 0.95
        assert unread_share(MINILM, [normalize("NFD", text)]) > 0.95


# Unknown tokens, and bytes: three a syllable.
@pytest.mark.parametrize("name", ["bert", "electra", "xlnet", "t5", "pegasus", "roberta", "gpt2", "bart"])
def test_no_english_architecture_passes_for_a_korean_one(tiny_models: dict[str, Path], name: str) -> None:
    assert unread_share(resolve_model(parse_model(str(tiny_models[name]))), KOREAN) > 0.9


def test_a_korean_vocabulary_covers_korean(tiny_models: dict[str, Path]) -> None:
    model = resolve_model(parse_model(str(tiny_models["multilingual"])))
    assert unread_share(model, KOREAN) < MOST_UNREAD / 2
    assert unread_share(model, [normalize("NFD", text) for text in KOREAN]) == unread_share(model, KOREAN)


def test_a_text_without_words_is_read_by_all() -> None:
    assert unread_share(MINILM, ["", "12 % ...", "😀"]) == 0
