"""Summaries of any text by trained policies, without references, Ray or a database."""

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from nws.core.arithmetic import find_device
from nws.core.article import Article
from nws.core.errors import ModelError, RecipeError
from nws.core.learning.checkpoint import load_checkpoint, load_decoding, save_checkpoint, save_decoding
from nws.core.learning.policy_system import PolicySystem, policy_system
from nws.core.metrics.bertscore import AnchorScorer, BertScorer
from nws.core.models.encoders import load_encoder
from nws.core.sweep import embed
from nws.core.systems.system import no_fluency
from nws.core.text.language import require_language
from nws.core.text.length import LengthUnit
from nws.core.text.rows import cleaned
from nws.core.text.segmentation import Segmenter


class PolicyWriter:
    """Trained policies, with the encoder whose embeddings they read, and the metrics that they rerank by.

    Args:
        system: the trained policies.
        device: the device of the models, `cpu` or `cuda`.

    Raises:
        ModelError: a model cannot be loaded.
        SegmentationError: the policies' spaCy pipeline is not installed.
    """

    def __init__(self, system: PolicySystem, device: str = "cpu") -> None:
        self._system = system
        self._reading = next(iter(system.checkpoints.values())).reading
        self._segment = Segmenter(self._reading.pipeline, self._reading.units, self._reading.encoder.name)
        self._encoder = load_encoder(self._reading.encoder, find_device(device))
        is_reranked = system.decoding.method == "rerank"
        self._bertscore = BertScorer(self._reading.bertscore, find_device(device)) if is_reranked else None
        needed = self._reading.fluency if system.decoding.needs_fluency else None
        self._fluency = None if needed is None else needed.load(find_device(device))

    def write(self, text: str, lengths: Sequence[int], unit: LengthUnit = "words") -> list[str]:
        """Write a summary of exactly n words for each n in `lengths`; of all words if the text has fewer.

        With characters as `unit`, a summary has whole words and at most n characters. If the policies were trained with
        the other unit, the pair for about the same length writes.

        Raises:
            RecipeError: an n is less than 1.
            EmptyArticleError: the text has no word.
            LanguageError: the text is in another language than the policies were trained on.
        """
        if any(n < 1 for n in lengths):
            raise RecipeError(f"A summary must have at least 1 {unit.removesuffix('s')}, not {min(lengths)}.")
        article = Article(dataset="input", split="", key="text", text=cleaned(text), references=())
        require_language(article, self._reading.language)
        anchored_f1 = _not_asked if self._bertscore is None else AnchorScorer(self._bertscore)
        encoders = {self._reading.encoder.name: self._encoder.begin}
        scorer = self._fluency
        fluency = no_fluency if scorer is None else lambda texts: scorer.score([("", text) for text in texts])
        segmented = [self._segment(article)]
        (document,) = embed(segmented, encoders, _not_asked, anchored_f1, fluency=fluency, length_unit=unit)
        return [draft.text for draft in self._system.summarize(document, lengths)]


def load_writer(folder: Path | str, device: str = "cpu") -> PolicyWriter:
    """Load a writer with the policies that `nws export RUN --policy FOLDER` wrote.

    Raises:
        ModelError: there are no policies, or one of their models cannot be loaded.
        SegmentationError: their spaCy pipeline is not installed.
    """
    return PolicyWriter(load_policies(Path(folder)), device)


def save_policies(system: PolicySystem, folder: Path) -> None:
    """Write policies into `folder`: their decoding, and a joint pair, or the pair of each n in a folder such as `n=7`.

    Raises:
        OSError: the files cannot be written.
    """
    parts = {id(checkpoint): checkpoint for checkpoint in system.checkpoints.values()}.values()
    for part in parts:
        save_checkpoint(part, folder if len(parts) == 1 else folder / f"n={part.lengths[0]}")
    save_decoding(system.decoding, folder)


def load_policies(folder: Path) -> PolicySystem:
    """Load the policies that `save_policies` wrote.

    Raises:
        ModelError: there are no policies, or another version of NWS wrote them.
    """
    parts = sorted(path.parent for path in folder.glob("n=*/policy.json"))
    if parts and (folder / "policy.json").exists():
        raise ModelError(f"{folder} has joint policies, and policies for each n. Export each to its own folder.")
    return policy_system([load_checkpoint(part) for part in parts or [folder]], load_decoding(folder))


def _not_asked(*asked: object) -> NoReturn:
    raise AssertionError("a policy asks for no reference, and a greedy one for no anchor")
