"""Fluency: how probable a language model finds a text, beyond what its length and its rare words explain.

SLOR, the syntactic log-odds ratio (Pauls and Klein 2012, "Large-Scale Syntactic Language Modeling with Treelets";
Kann, Rothe and Filippova 2018, "Sentence-Level Fluency Evaluation: References Help, But Can Be Spared!", equation 1):

    SLOR(S) = (ln p_M(S) - ln p_u(S)) / |S|

with |S| the number of tokens of S, p_M the probability that the model gives S, and p_u the product of the unigram
probabilities of its tokens. It is in nats a token: about 0 for words drawn at random, 2 to 3 for news as it stands.

Kann et al. count unigrams in the text that their model was trained on. For a published checkpoint this text is not
available. So p_u comes from the model itself: it is the mean of its next-token distributions over news that NWS is
shipped with. It has no zeros, and does not depend on the articles of the run.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from nws.core.arithmetic import put_on, speed_up_linear_layers
from nws.core.errors import ModelError
from nws.core.models import ModelRef, model_folder
from nws.core.models.batching import TokenBudget, equal_length_batches, max_tokens, padded, to_device, token_batches
from nws.core.models.loading import load_model
from nws.core.models.tokens import Tokens, joined
from nws.core.provenance import files_sha256
from nws.core.text.dataset import BUNDLED
from nws.core.text.language import Language

_CURE = "Fluency needs a causal language model with its head, such as smollm2 or openai-community/gpt2."
# Of each bundled article. This much of 24 articles says more than the whole of three.
_UNIGRAM_TOKENS = 128
# At each of its tokens, a pass holds a score for the whole vocabulary: at 1,024 tokens and 150,000 words 600 MB, twice.
_TOKENS_AT_ONCE = 1024


@dataclass(frozen=True, slots=True)
class Fluency:
    """The configuration of fluency, a `nws.core.metrics.model_metric.ModelMetric`.

    Attributes:
        model: the causal language model, resolved.
        language: the language of the bundled articles from which the unigram probabilities come.
    """

    name: ClassVar[str] = "fluency"
    needs_article: ClassVar[bool] = False

    model: ModelRef
    language: Language = "en"

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        sample = _sample(self.language)
        sha256 = files_sha256(sample.parent, [sample])[:12]
        unigrams = f"mean next-token distribution over {_UNIGRAM_TOKENS} tokens of each text of {sample.name}@{sha256}"
        return f"fluency|SLOR|model:{self.model}|unigrams:{unigrams}"

    def load(self, device: torch.device) -> "FluencyScorer":
        """Load the model, and return its scorer.

        Raises:
            ModelError: the checkpoint is no causal language model, or states no token to begin with.
        """
        return FluencyScorer(self, device)


class FluencyScorer:
    """A language model that says how fluent texts are.

    On a CPU the fluency of a text depends on the text alone, to the last bit, since it may be a reward. So only texts
    with the same number of tokens go through the model together. On a GPU texts are padded, since passes of few tokens
    would leave it idle.
    """

    def __init__(self, fluency: Fluency, device: torch.device) -> None:
        self._tokenizer, model = load_model(model_folder(fluency.model), "language model", _CURE)
        self._begin = _first_token(self._tokenizer, fluency.model)
        self._max_length = max_tokens(self._tokenizer, model)
        self._model = put_on(model, device, "float32")
        speed_up_linear_layers(self._model)
        self._budget = TokenBudget(f"fluency's {fluency.model.name}", device, _TOKENS_AT_ONCE)
        articles = map(json.loads, _sample(fluency.language).read_text(encoding="utf-8").splitlines())
        self._log_unigrams = self._log_mean_distribution([article["article"] for article in articles])

    def score(self, summaries: Sequence[tuple[str, str]]) -> list[float]:
        """Return the SLOR of each (article, summary). The article is not read. A summary without a token has 0.

        Equal texts are read once. Only the part of a text that fits into the model's window is read.
        """
        texts = list(dict.fromkeys(text.strip() for _, text in summaries))
        tokens = self._tokenized(texts, self._max_length)
        values = np.zeros(len(texts))

        def forward(batch: list[int]) -> None:
            log_probabilities, ids = self._log_probabilities(tokens, batch)
            gains = log_probabilities.gather(-1, ids[..., None])[..., 0].double() - self._log_unigrams[ids]
            lengths = to_device(tokens.lengths[batch] - 1, self._budget.device)
            is_text = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
            sums = torch.where(is_text, gains, 0).sum(dim=1)
            values[batch] = (sums / lengths.clamp(min=1)).cpu().numpy()

        self._run(tokens, forward)
        by_text = dict(zip(texts, values.tolist(), strict=True))
        return [by_text[text.strip()] for _, text in summaries]

    def _log_mean_distribution(self, texts: Sequence[str]) -> torch.Tensor:
        """Return ln p_u of every token of the vocabulary, (vocabulary,) float64."""
        tokens = self._tokenized(texts, min(_UNIGRAM_TOKENS, self._max_length))
        total: Any = 0

        def forward(batch: list[int]) -> None:
            nonlocal total
            log_probabilities, _ = self._log_probabilities(tokens, batch)
            lengths = to_device(tokens.lengths[batch] - 1, self._budget.device)
            is_text = torch.arange(log_probabilities.shape[1], device=lengths.device) < lengths[:, None]
            total = total + log_probabilities[is_text].exp().sum(dim=0, dtype=torch.float64)

        self._run(tokens, forward)
        return torch.log(total / total.sum())

    def _log_probabilities(self, tokens: Tokens, batch: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return log probabilities of every token at every place but the first, and the ids that stand there.

        Returns:
            float32 of shape (texts, places, vocabulary), and int64 of shape (texts, places).
        """
        inputs = padded(tokens, batch, self._tokenizer, self._budget.device)
        logits = self._model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits
        return torch.log_softmax(logits[:, :-1].float(), dim=-1), inputs["input_ids"][:, 1:]

    def _tokenized(self, texts: Sequence[str], most: int) -> Tokens:
        """Tokenize each text, put the first token of a text before it, and cut it to `most` tokens."""
        rows = self._tokenizer(list(texts), add_special_tokens=False)["input_ids"] if texts else []
        return joined({"input_ids": [[self._begin, *row][:most] for row in rows]})

    def _run(self, tokens: Tokens, forward: Any) -> None:
        batches = token_batches if self._budget.device.type == "cuda" else equal_length_batches
        self._budget.run(tokens.lengths.tolist(), forward, batches)


def _first_token(tokenizer: Any, model: ModelRef) -> int:
    """Return the token that is put before a text, so that the text's first token has a probability, too."""
    ids = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.cls_token_id)
    first = next((token for token in ids if token is not None), None)
    if first is None:
        raise ModelError(f"The tokenizer of {model} states no token that a text begins or ends with. {_CURE}")
    return int(first)


def _sample(language: Language) -> Path:
    return BUNDLED["sample-ko" if language == "ko" else "sample"]
