"""The Korean tokenizers, where they are installed."""

import pytest

from nws.core.errors import NwsError
from nws.core.text.tokenizers import Tokenizer, named_tokenizer


def korean_tokenizer(name: str) -> Tokenizer:
    """The tokenizer `name`; skips the test where its package or Java is missing."""
    try:
        return named_tokenizer(name)
    except NwsError as error:
        pytest.skip(str(error))
