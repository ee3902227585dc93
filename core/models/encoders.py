"""Encoders: models that embed sentences and chunks.

A folder with `modules.json` is a sentence-transformers model, which says how it pools. Any other model is pooled by the
masked mean of its last hidden state (Reimers & Gurevych 2019, "Sentence-BERT", section 3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nws.core.arithmetic import find_device
from nws.core.errors import ModelError
from nws.core.models import ModelRef, model_folder
from nws.core.models.batching import TokenBudget, encoder_budget, max_tokens, padded
from nws.core.models.loading import in_own_memory, load_model, only_errors, put_fast_on, require_weights
from nws.core.models.tokens import tokenized
from nws.core.types import Precision

FloatArray = npt.NDArray[np.float32]
# From model inputs, each (batch, tokens), to vectors (batch, dimensions).
Forward = Callable[[dict[str, torch.Tensor]], torch.Tensor]


@dataclass(frozen=True, slots=True)
class Encoder:
    """An encoder with its model on a device. It embeds texts in batches.

    Attributes:
        tokenizer: the tokenizer, of transformers.
        forward: the model.
        max_length: the most tokens of a text.
        budget: the budget of a pass.
    """

    tokenizer: Any
    forward: Forward
    max_length: int
    budget: TokenBudget

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Embed texts. A text that is longer than the model's window is cut to it.

        Returns:
            A float32 array (len(texts), dimensions), with row i for text i. Equal texts have equal rows.
        """
        return self.begin(texts)()

    def begin(self, texts: Sequence[str]) -> Callable[[], FloatArray]:
        """Start `encode` without waiting for a GPU. Returns the function that waits, and returns the embeddings.

        Before it is called, this process can tokenize for the next model, whose work queues behind this one's.
        """
        unique = list(dict.fromkeys(texts))
        tokens = tokenized(self.tokenizer, unique, self.max_length)
        order: list[int] = []
        outputs: list[torch.Tensor] = []

        def forward(batch: list[int]) -> None:
            outputs.append(self.forward(padded(tokens, batch, self.tokenizer, self.budget.device)).float())
            order.extend(batch)

        self.budget.run(tokens.lengths.tolist(), forward)
        embeddings = torch.cat(outputs)
        row = {unique[index]: place for place, index in enumerate(order)}
        rows = [row[text] for text in texts]
        return lambda: np.asarray(embeddings.cpu().numpy()[rows])  # one copy, since each waits for the GPU


def load_encoder(ref: ModelRef, device: torch.device, precision: Precision = "float32") -> Encoder:
    """Load a resolved model. No code from its repository is run.

    Raises:
        ModelError: the files are not those of the recorded revision, or not an encoder, or the device lacks the
            precision.
        HubError: the model is not in the local cache and the Hub cannot be reached.
    """
    folder = model_folder(ref)
    kind = _sentence_transformer if (folder / "modules.json").exists() else _mean_pooled
    return kind(ref.name, folder, device, precision)


def embedding_width(ref: ModelRef) -> int:
    """Return the number of dimensions of a resolved model's embeddings.

    Raises:
        ModelError: the files are not those of the recorded revision.
        HubError: the model is not in the local cache and the Hub cannot be reached.
    """
    return len(load_encoder(ref, find_device("cpu")).encode(["text"])[0])


def _sentence_transformer(name: str, folder: Path, device: torch.device, precision: Precision) -> Encoder:
    from sentence_transformers import SentenceTransformer  # imported late: it takes seconds, and few models need it

    try:
        with only_errors():
            model = SentenceTransformer(str(folder), device=str(device), trust_remote_code=False).eval()
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ImportError) as error:
        raise ModelError(f"The encoder in {folder} cannot be loaded by its modules.json: {error}") from error
    for module in model:
        require_weights(module)
    put_fast_on(in_own_memory(model), device, precision)
    max_length = max_tokens(model.tokenizer, model, model.max_seq_length)
    budget = encoder_budget(name, device)
    return Encoder(model.tokenizer, lambda inputs: model(inputs)["sentence_embedding"], max_length, budget)


def _mean_pooled(name: str, folder: Path, device: torch.device, precision: Precision) -> Encoder:
    tokenizer, model = load_model(folder)
    max_length = max_tokens(tokenizer, model)
    put_fast_on(model, device, precision)

    def forward(inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        hidden = model(**inputs).last_hidden_state.float()  # sums over many tokens may exceed half precision
        mask = inputs["attention_mask"].unsqueeze(-1).to(hidden.dtype)
        pooled: torch.Tensor = (hidden * mask).sum(dim=1) / mask.sum(dim=1)
        return pooled

    return Encoder(tokenizer, forward, max_length, encoder_budget(name, device))
