import numpy as np
import pytest
import torch

from core.models import ModelRef
from core.models.generation import TopKSampling, clean, first_sentences
from core.models.generators import for_architecture

MODEL = ModelRef("m", "/m", "")


def drawn(k: int, scores: torch.Tensor, seed: int = 0) -> torch.Tensor:
    """The tokens that rows of equal `scores`, with the keys 0, 1, 2, …, draw."""
    sampling = TopKSampling(k, seed, range(len(scores)))
    return sampling(torch.zeros(len(scores), 1, dtype=torch.int64), scores).argmax(dim=1)


@pytest.mark.parametrize("k", [1, 2, 3, 9])
def test_tokens_are_drawn_as_the_top_k_probabilities_say(k: int) -> None:
    scores = torch.tensor([0.1, 2.0, -1.0, 1.5, 0.7])
    rows = 20_000
    found = torch.bincount(drawn(k, scores.expand(rows, 5)), minlength=5) / rows
    kept = scores.topk(min(k, 5)).indices
    expected = torch.zeros(5)
    expected[kept] = scores[kept].softmax(dim=0)
    # Five standard errors of a share of 20,000 draws.
    np.testing.assert_allclose(found, expected, atol=5 * 0.5 / rows**0.5)
    assert set(np.flatnonzero(found)) <= set(kept.tolist())


def test_every_step_draws_anew_and_every_row_for_itself() -> None:
    scores = torch.zeros(3, 2)
    one, all_rows = TopKSampling(2, 7, [11]), TopKSampling(2, 7, [5, 11, 8])
    tokens = torch.zeros(3, 1, dtype=torch.int64)
    alone = [one(tokens[:1], scores[:1])[0] for _ in range(50)]
    together = [all_rows(tokens, scores) for _ in range(50)]
    for mine, rows in zip(alone, together, strict=True):
        torch.testing.assert_close(mine, rows[1], rtol=0, atol=0)
    draws = torch.stack(together).argmax(dim=2)
    assert len({tuple(column.tolist()) for column in draws.T}) == 3
    assert all(10 < ones < 40 for ones in draws.sum(dim=0).tolist())


def test_what_is_kept_of_an_output() -> None:
    text = "the cat said .<n>news of the city .\n  <n>"
    assert clean(text, for_architecture(MODEL, "pegasus")) == "the cat said . news of the city ."
    assert clean(text, for_architecture(MODEL, "bart")) == "the cat said .<n>news of the city . <n>"
    assert clean("One two.\nThree\n\nfour? Five! Six.", for_architecture(MODEL, "gpt2")) == "One two. Three four?"
    assert clean("the\0 cat \ud800", for_architecture(MODEL, "bart")) == "the\ufffd cat \ufffd"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \n\n ", ""),
        ("One", "One"),
        ("\n\nOne. Two! Three? Four.", "One.\nTwo!\nThree?"),
        ("One\nTwo\n\nThree\nFour", "One\nTwo\nThree"),
        ("The U.S. said no. Mr. Smith left. He ran", "The U.S. said no.\nMr. Smith left.\nHe ran"),
    ],
)
def test_first_sentences(text: str, expected: str) -> None:
    assert first_sentences(text, 3) == expected
