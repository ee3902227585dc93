"""BERTScore (Zhang et al. 2020, "BERTScore: Evaluating Text Generation with BERT"), without idf weights.

The recalls for content kept (`nws.core.metrics.kept`) are computed here, too. They have idf weights, and also use the
embedding layer.

The numbers are those of the `bert_score` library called with one pair at a time. If it is called with many pairs, it
masks padding with similarity 0, which raises negative maxima. So its batched scores differ by up to 0.03 for one-word
summaries. Here nothing is padded when tokens are matched, so many pairs can be scored together without that error.
"""

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from transformers import GPT2Tokenizer, RobertaTokenizer

from nws.core.errors import ModelError
from nws.core.metrics.config import BertScoreConfig
from nws.core.metrics.metric import ZERO, over_references
from nws.core.metrics.token_matching import Crossing, FloatArray, Matching, TokenVectors, begin_matching, begin_recalls
from nws.core.models import model_folder
from nws.core.models.batching import (
    Batches,
    encoder_budget,
    equal_length_batches,
    max_tokens,
    padded,
    to_device,
    token_batches,
)
from nws.core.models.loading import load_model, put_fast_on
from nws.core.models.tokens import IntArray, Tokens, tokenized
from nws.core.text.length import idf_of
from nws.core.text.word_kinds import KINDS, Spans
from nws.core.types import Score

# Where models have their layers: BERT, RoBERTa, ELECTRA; XLNet; DistilBERT; BART; T5.
_LAYER_LISTS = ("encoder.layer", "layer", "transformer.layer", "layers", "block")
_SPECIAL_TOKENS = 4  # of a text, at most
_NO_WINDOW = 1_000_000_000
Value = TypeVar("Value", np.int64, np.float64)
# A text, or the vectors of one that is embedded already, which do not depend on the other texts of a call.
Reference: TypeAlias = str | TokenVectors
# (candidate, references)
Pair = tuple[str, Sequence[Reference]]
# Candidates and references, which are all matched with each other; the idf of each token of the vocabulary; and the
# kind of each token of each reference, as `Crossing` has them, or () where kinds are not asked for.
Crossed = tuple[Sequence[str], Sequence[Reference], FloatArray, Sequence[IntArray]]
# (references, texts), each of which is compared with each reference
Group = tuple[Sequence[str], Sequence[str]]


class BertScorer:
    """BERTScore with one backbone, loaded once.

    Attributes:
        window: the most tokens of a text that are read, including the special ones.

    Raises:
        ModelError: the backbone has fewer layers, or the device does not support its precision.
    """

    def __init__(self, config: BertScoreConfig, device: torch.device) -> None:
        self._tokenizer, model = load_model(model_folder(config.model))
        self.window = max_tokens(self._tokenizer, model)
        self._model = put_fast_on(_truncated(model, config), device, config.precision)
        self._budget = encoder_budget(f"BERTScore's {config.model.name}", device)

    def score(self, pairs: Sequence[Pair]) -> list[Score]:
        """Score each candidate against its best reference (the one with the highest F1).

        Every distinct text is embedded once, however many pairs it is in. An empty candidate or no non-empty
        reference scores 0. All tokens except the special ones count alike.
        """
        scores, _ = self.begin_with_recalls(pairs, ())
        return scores()

    def recalls(self, crossed: Sequence[Crossed]) -> list[FloatArray]:
        """Return the recalls of each crossing, (candidates, references): of every candidate against every reference.

        They differ from those of `score` (see `token_matching.begin_recalls`). A recall is 0 where one of the two texts
        is empty. If kinds are asked for, more columns follow: the sums of each kind, then `Crossing.kind_weights`.
        """
        _, recalls = self.begin_with_recalls((), crossed)
        return recalls()

    def begin_with_recalls(
        self, pairs: Sequence[Pair], crossed: Sequence[Crossed]
    ) -> tuple[Callable[[], list[Score]], Callable[[], list[FloatArray]]]:
        """Begin `score` and `recalls` together, with every text embedded once.

        Returns:
            Functions that wait for a GPU, and return the scores and the recalls.
        """
        both = (
            *((candidate, *references) for candidate, references in pairs),
            *((*candidates, *references) for candidates, references, *_ in crossed),
        )
        texts = list(dict.fromkeys(text.strip() for group in both for text in group if isinstance(text, str)))
        embedded = zip(texts, self.embed(texts), strict=True)
        tokens = {text: vectors for text, vectors in embedded if vectors is not None}
        return self.begin_scores(pairs, tokens), self.begin_recalls(crossed, tokens)

    def begin_scores(self, pairs: Sequence[Pair], tokens: Mapping[str, TokenVectors]) -> Callable[[], list[Score]]:
        """Begin `score` for texts that are embedded: `tokens` has the vectors of each text that has any tokens."""
        scores: dict[TokenVectors, dict[str, Score]] = {}  # for each reference, the scores of its candidates
        compared: list[tuple[str, list[TokenVectors]]] = []
        for candidate, references in pairs:
            text = candidate.strip()
            found = [vectors for one in references if (vectors := _vectors(one, tokens))] if text in tokens else []
            compared.append((text, found))
            for reference in found:
                scores.setdefault(reference, {})[text] = ZERO
        begun = begin_matching([Matching(of, [tokens[text] for text in texts]) for of, texts in scores.items()])

        def best() -> list[Score]:
            for by_text, matched in zip(scores.values(), begun(), strict=True):
                by_text.update(zip(list(by_text), map(_score, matched.tolist()), strict=True))
            return [over_references([scores[of][text] for of in found], "best") for text, found in compared]

        return best

    def begin_recalls(
        self, crossed: Sequence[Crossed], tokens: Mapping[str, TokenVectors]
    ) -> Callable[[], list[FloatArray]]:
        """Begin `recalls` for texts that are embedded: `tokens` has the vectors of each text that has any tokens."""
        recalls_by_crossing, crossings, places = [], [], []
        for candidates, references, idf, kinds in crossed:
            rows = {i: vectors for i, text in enumerate(candidates) if (vectors := tokens.get(text.strip()))}
            columns = {i: vectors for i, one in enumerate(references) if (vectors := _vectors(one, tokens))}
            of_tokens = np.concatenate([kinds[i] for i in columns]) if kinds and columns else np.empty(0, np.int64)
            crossing = Crossing(list(columns.values()), list(rows.values()), idf, of_tokens)
            weights = crossing.kind_weights
            sums = range(len(references), len(references) + len(weights))
            recalls = np.zeros((len(candidates), len(references) + 2 * len(weights)))
            recalls[:, len(references) + len(weights) :] = weights
            recalls_by_crossing.append(recalls)
            if rows and columns:
                crossings.append(crossing)
                places.append((recalls, np.ix_(list(rows), [*columns, *sums])))
        begun = begin_recalls(crossings)

        def all_recalls() -> list[FloatArray]:
            for (recalls, cells), values in zip(places, begun(), strict=True):
                recalls[cells] = values
            return recalls_by_crossing

        return all_recalls

    def embed(self, texts: Sequence[str], batches: Batches = token_batches) -> list[TokenVectors | None]:
        """Return the token vectors of each text; None where there is nothing to match.

        Args:
            texts: the texts, without white space around them.
            batches: the rule for which texts go through the model together.
        """
        filled = [i for i, text in enumerate(texts) if text]
        tokens = self._tokenized([texts[i] for i in filled])
        ids = _by_text(tokens.inputs["input_ids"], tokens)
        weights = _by_text(self._weights(tokens.inputs["input_ids"]), tokens)
        token_vectors: list[TokenVectors | None] = [None] * len(texts)

        def forward(batch: list[int]) -> None:
            inputs = padded(tokens, batch, self._tokenizer, self._budget.device)
            read = self._model(inputs["input_ids"], attention_mask=inputs["attention_mask"], output_hidden_states=True)
            # Padding is removed by indices, since a mask on a GPU would make everything wait for it.
            lengths = tokens.lengths[batch]
            places = np.flatnonzero(np.arange(lengths.max()) < lengths[:, None])
            real = to_device(places, self._budget.device)
            layers = [
                (hidden / hidden.norm(dim=-1, keepdim=True)).flatten(0, 1)[real].split(lengths.tolist())
                for hidden in (read[0].float(), read.hidden_states[0].float())
            ]
            for i, vectors, embeddings in zip(batch, *layers, strict=True):
                if weights[i].any():  # none for a text of control characters alone
                    token_vectors[filled[i]] = TokenVectors(vectors, weights[i], embeddings, ids[i])

        self._budget.run(tokens.lengths.tolist(), forward, batches)
        return token_vectors

    def idf(self, texts: Sequence[str]) -> FloatArray:
        """Return the idf of each token of the vocabulary among texts, (vocabulary,).

        The idf of a token that is in none of N texts is ln(N + 1).
        """
        tokens = self._tokenized([text.strip() for text in texts])
        found = idf_of([set(ids.tolist()) for ids in _by_text(tokens.inputs["input_ids"], tokens)])
        idf = np.full(self._model.config.vocab_size, math.log(len(texts) + 1))
        idf[list(found)] = list(found.values())
        return idf

    def token_kinds(self, text: str, tag: Callable[[str], Spans]) -> IntArray:
        """Return the kind of each token that is read of a text, (tokens,).

        It is the kind of the token's last character, or `other` for a token without characters.
        """
        text, other = text.strip(), KINDS.index("other")
        if not self._tokenizer.is_fast:  # such a tokenizer does not tell where in the text a token stands
            return np.full(self._tokenized([text]).lengths[0], other)
        options = {"truncation": True, "max_length": self.window, "return_offsets_mapping": True}
        offsets = self._tokenizer(text, **options, **self._options)["offset_mapping"]
        kinds = tag(text)
        return np.array([kinds[end - 1] if end > start else other for start, end in offsets], np.int64)

    def read_shares(self, texts: Iterable[str]) -> dict[str, float]:
        """Return the share of tokens that is read, in (0, 1), for each text longer than the backbone's window."""
        # A token has at least one byte, so most texts are known to fit without cutting them into tokens.
        long = [text for text in dict.fromkeys(texts) if len(text.encode()) + _SPECIAL_TOKENS > self.window]
        lengths = self._tokenized([text.strip() for text in long], _NO_WINDOW).lengths.tolist()
        return {text: self.window / n for text, n in zip(long, lengths, strict=True) if n > self.window}

    @property
    def _options(self) -> dict[str, bool]:
        # As bert_score does: byte-level BPE reads a word without the space before it as another word.
        return {"add_prefix_space": True} if isinstance(self._tokenizer, GPT2Tokenizer | RobertaTokenizer) else {}

    def _tokenized(self, texts: Sequence[str], window: int | None = None) -> Tokens:
        return tokenized(self._tokenizer, texts, window or self.window, **self._options)

    def _weights(self, ids: IntArray) -> FloatArray:
        special = [i for i in (self._tokenizer.sep_token_id, self._tokenizer.cls_token_id) if i is not None]
        return np.isin(ids, special, invert=True).astype(np.float64)


class ReferenceScorer:
    """Scores texts against references, each of which is embedded once.

    Args:
        scorer: the scorer with its backbone.
        padded: whether texts are padded. If False, all texts of a call are embedded together, and each pass has texts
            with the same number of tokens. So a score depends on the reference and the text alone, to the last bit. If
            True, the texts of each group are embedded by themselves, in larger batches, which keep a GPU busier.
    """

    def __init__(self, scorer: BertScorer, padded: bool = False) -> None:
        self._scorer = scorer
        self._padded = padded
        self._references: dict[str, TokenVectors | None] = {}

    def scores(self, groups: Sequence[Group]) -> list[list[Score]]:
        """Return the score of each text of a group against the best reference of the group.

        It is 0 where there is nothing to match. The other groups do not change it.
        """
        begun = [
            self._scorer.begin_scores([(text, references) for text in texts], tokens)
            for (references, texts), tokens in zip(groups, self._embedded(groups), strict=True)
        ]
        return [scores() for scores in begun]

    def recalls(self, groups: Sequence[Group], idfs: Sequence[FloatArray]) -> list[FloatArray]:
        """Return the recalls of each group with its idf, (texts, references): see `BertScorer.recalls`."""
        begun = [
            self._scorer.begin_recalls([(texts, references, idf, ())], tokens)
            for (references, texts), tokens, idf in zip(groups, self._embedded(groups), idfs, strict=True)
        ]
        return [recalls for wait in begun for recalls in wait()]

    def _embedded(self, groups: Sequence[Group]) -> list[dict[str, TokenVectors]]:
        """Return the token vectors of each group. References are embedded only where they were not before."""
        embedded: list[dict[str, TokenVectors]] = []
        for part in [[group] for group in groups] if self._padded else [groups]:
            references = dict.fromkeys(text.strip() for references, _ in part for text in references)
            new = [text for text in references if text not in self._references]
            # With padding, each reference has a pass of its own, since whether the others of an article are known
            # already depends on the articles before it.
            for together in [[text] for text in new] if self._padded else [new]:
                self._references |= zip(together, self._embed(together), strict=True)
            texts = list(dict.fromkeys(text.strip() for _, texts in part for text in texts))
            vectors = dict(zip(texts, self._embed(texts), strict=True))
            vectors |= {text: self._references[text] for text in references}
            for group in part:
                of_group = ((text.strip(), vectors[text.strip()]) for kind in group for text in kind)
                embedded.append({text: value for text, value in of_group if value is not None})
        return embedded

    def _embed(self, texts: Sequence[str]) -> list[TokenVectors | None]:
        return self._scorer.embed(texts, token_batches if self._padded else equal_length_batches)


class AnchorScorer:
    """Scores texts against a few fixed texts (references, or an anchor from the article), and remembers the scores.

    A score does not depend on what else is scored (`ReferenceScorer`), so neither does a choice by score. Scores are
    remembered without bound, so each bundle of articles needs a new scorer.
    """

    def __init__(self, scorer: BertScorer) -> None:
        self._scorer = ReferenceScorer(scorer)
        self._known: dict[tuple[tuple[str, ...], str], Score] = {}

    def __call__(self, anchor: str, texts: Sequence[str]) -> list[float]:
        """Return the F1 of each text against the anchor; 0 where one of the two is empty."""
        return [score.f1 for score in self.scores((anchor,), texts)]

    def scores(self, anchors: tuple[str, ...], texts: Sequence[str]) -> list[Score]:
        """Return the score of each text against the anchor with which its F1 is highest.

        It is 0 where the text or every anchor is empty.
        """
        new = [text for text in dict.fromkeys(texts) if (anchors, text) not in self._known]
        (scores,) = self._scorer.scores([(anchors, new)])
        self._known |= zip(((anchors, text) for text in new), scores, strict=True)
        return [self._known[anchors, text] for text in texts]


def _by_text(values: npt.NDArray[Value], tokens: Tokens) -> list[npt.NDArray[Value]]:
    """Split the values of the tokens of all texts into an array for each text."""
    return np.split(values, np.cumsum(tokens.lengths[:-1]))


def _vectors(reference: Reference, tokens: Mapping[str, TokenVectors]) -> TokenVectors | None:
    return tokens.get(reference.strip()) if isinstance(reference, str) else reference


def _score(matched: Sequence[float]) -> Score:
    precision, recall = matched
    return Score(precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0)


def _truncated(model: Any, config: BertScoreConfig) -> Any:
    """Return the model's encoder with only its first `num_layers` layers, as bert-score cuts it.

    Raises:
        ModelError: the model has fewer layers, or has them in an unknown place.
    """
    if hasattr(model, "encoder") and hasattr(model, "decoder"):
        model = model.encoder
    for path in _LAYER_LISTS:
        *parents, name = path.split(".")
        parent = functools.reduce(lambda module, part: getattr(module, part, None), parents, model)
        layers = getattr(parent, name, None)
        if isinstance(layers, torch.nn.ModuleList):
            if not 1 <= config.num_layers <= len(layers):
                raise ModelError(
                    f"{config.model.name} has {len(layers)} layers: BERTScore cannot use layer {config.num_layers}."
                )
            setattr(parent, name, layers[: config.num_layers])
            return model
    raise ModelError(f"{config.model.name}: BERTScore does not know where a {type(model).__name__} has its layers.")
