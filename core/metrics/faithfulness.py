"""Faithfulness: whether the sentences of the article entail those of the summary.

SummaC-ZS (Laban, Schnabel, Bennett and Hearst 2022, "SummaC: Re-Visiting NLI-based Models for Inconsistency Detection
in Summarization", section 3.2), as its authors' code computes it. With E and C the probabilities of entailment and of
contradiction that an NLI model gives for a sentence d of the article as the premise and a sentence s of the summary:

    faithfulness = mean over s of (max over d of E(d, s) - max over d of C(d, s))

It is in [-1, 1]. There are two differences from the authors' code: sentences are found by the pipeline `blank` in
English and by Kiwi in Korean, not by NLTK, and short sentences count. As in that code, the first 100 sentences of an
article are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch

from nws.core.arithmetic import put_on, speed_up_linear_layers
from nws.core.errors import ModelError
from nws.core.models import ModelRef, model_folder
from nws.core.models.batching import encoder_budget, max_tokens, padded
from nws.core.models.loading import load_model
from nws.core.models.tokens import joined
from nws.core.text.language import Language
from nws.core.text.segmentation import KOREAN_PIPELINE, pipeline_revision, sentences_of

_CURE = "Faithfulness needs an NLI model, whose classes are entailment, neutral and contradiction."
_MOST_SENTENCES = 100
# Of premise and hypothesis together. If they have more, the premise is cut. The authors read 500 tokens, too.
_MOST_TOKENS = 500


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """The configuration of faithfulness, a `nws.core.metrics.model_metric.ModelMetric`.

    Attributes:
        model: the NLI model, resolved.
        language: the language of articles and summaries.
    """

    name: ClassVar[str] = "faithfulness"
    needs_article: ClassVar[bool] = True

    model: ModelRef
    language: Language = "en"

    @property
    def pipeline(self) -> str:
        """The pipeline that finds the sentences."""
        return KOREAN_PIPELINE if self.language == "ko" else "blank"

    @property
    def signature(self) -> str:
        """Every option that changes the numbers."""
        sentences = pipeline_revision(self.pipeline).split("|")[0]
        return f"faithfulness|SummaC-ZS|model:{self.model}|sentences:{sentences}, the first {_MOST_SENTENCES}"

    def load(self, device: torch.device) -> "FaithfulnessScorer":
        """Load the model, and return its scorer.

        Raises:
            ModelError: the checkpoint is no classifier, or does not say which of its classes is which.
        """
        return FaithfulnessScorer(self, device)


class FaithfulnessScorer:
    """An NLI model that says how well articles support their summaries."""

    def __init__(self, faithfulness: Faithfulness, device: torch.device) -> None:
        self._pipeline = faithfulness.pipeline
        self._tokenizer, model = load_model(model_folder(faithfulness.model), "classifier", _CURE)
        self._entails, self._contradicts = _classes(model, faithfulness.model)
        self._max_length = max_tokens(self._tokenizer, model, _MOST_TOKENS)
        self._model = put_on(model, device, "float32")
        speed_up_linear_layers(self._model)
        self._budget = encoder_budget(f"faithfulness's {faithfulness.model.name}", device)

    def score(self, summaries: Sequence[tuple[str, str]]) -> list[float]:
        """Return SummaC-ZS of each (article, summary); 0 where one of them has no word.

        Equal pairs of sentences are read once.
        """
        sentences = {text: sentences_of(text, self._pipeline) for pair in summaries for text in pair}
        needed = [
            (premise, hypothesis)
            for article, summary in dict.fromkeys(summaries)
            for hypothesis in sentences[summary]
            for premise in sentences[article][:_MOST_SENTENCES]
        ]
        pairs = list(dict.fromkeys(needed))
        by_pair = dict(zip(pairs, self._entailment_and_contradiction(pairs), strict=True))

        def of(article: str, summary: str) -> float:
            premises = sentences[article][:_MOST_SENTENCES]
            by_sentence = [[by_pair[premise, hypothesis] for premise in premises] for hypothesis in sentences[summary]]
            if not premises or not by_sentence:
                return 0.0
            entailed, contradicted = np.max(by_sentence, axis=1).T
            return float(np.mean(entailed - contradicted))

        return [of(article, summary) for article, summary in summaries]

    def _entailment_and_contradiction(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray[Any, Any]:
        """Return the two probabilities of each (premise, hypothesis), (pairs, 2) float64 in [0, 1]."""
        probabilities = np.zeros((len(pairs), 2))
        if not pairs:
            return probabilities
        encoded = self._tokenizer(
            *([text for text, _ in pairs], [text for _, text in pairs]),
            truncation="only_first",
            max_length=self._max_length,
            return_attention_mask=False,
        )
        tokens = joined({name: list(rows) for name, rows in encoded.items()})

        def forward(batch: list[int]) -> None:
            logits = self._model(**padded(tokens, batch, self._tokenizer, self._budget.device)).logits
            both = torch.softmax(logits.float(), dim=-1)[:, [self._entails, self._contradicts]]
            probabilities[batch] = both.double().cpu().numpy()

        self._budget.run(tokens.lengths.tolist(), forward)
        return probabilities


def _classes(model: Any, ref: ModelRef) -> tuple[int, int]:
    """Return the numbers of the classes entailment and contradiction, as the checkpoint's config.json names them.

    Raises:
        ModelError: config.json does not name each of them once.
    """
    names = {int(number): str(name).lower() for number, name in model.config.id2label.items()}
    classes = [[number for number, name in names.items() if name.startswith(begin)] for begin in ("entail", "contra")]
    if [len(numbers) for numbers in classes] != [1, 1]:
        raise ModelError(
            f"{ref} does not say which of its classes is entailment and which is contradiction: `id2label` of its "
            f"config.json has {', '.join(names.values())}. Write them there. {_CURE}"
        )
    return classes[0][0], classes[1][0]
