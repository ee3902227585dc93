"""Models that cannot read the articles of a run are refused before it begins."""

from collections.abc import Iterator

from core.errors import RecipeError
from core.models import ModelRef
from core.tokenization import MOST_UNREAD, unread_share
from jobs.plan.pinned import Pinned

# By what a model does in a run, how to name one that reads Korean.
_CURES = {
    "encoder": "--encoder sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
    "BERTScore backbone": "--bertscore-model google-bert/bert-base-multilingual-cased",
    "generator": "--system with a checkpoint that was trained on Korean",
}


def require_readable(pinned: Pinned) -> None:
    """Refuse models whose vocabulary does not cover Korean articles; loads their tokenizers.

    The first article of each dataset is tried. English articles are not: every model that NWS knows reads English.

    Raises:
        RecipeError: names every such model, and the options that name others.
        NwsError: a tokenizer cannot be found or loaded.
    """
    if pinned.language == "en":
        return
    firsts = [next(iter(corpus)) for corpus in pinned.corpora]
    texts = [text for article in firsts for text in (article.text, *article.references)]
    shares = {model: unread_share(model, texts) for _, model in _models(pinned)}
    unread = [(role, model) for role, model in _models(pinned) if shares[model] > MOST_UNREAD]
    if not unread:
        return
    named = ", ".join(f"{role} {model.name} ({shares[model]:.0%})" for role, model in unread)
    cures = " ".join(dict.fromkeys(_CURES[role] for role, _ in unread))
    raise RecipeError(
        f"The articles of {', '.join(corpus.name for corpus in pinned.corpora)} are Korean, and these models cannot "
        f"read them: {named}. The number is the share of words that a model's tokenizer turns into unknown tokens or "
        f"into pieces smaller than a syllable; it may be {MOST_UNREAD:.0%}. Name models with a Korean vocabulary, for "
        f"example: {cures}"
    )


def _models(pinned: Pinned) -> Iterator[tuple[str, ModelRef]]:
    """Every model of a run once, with what it does there."""
    plans = [planned.plan for planned in pinned.stages]
    roles = [("encoder", model) for plan in plans for model in plan.encoders]
    roles += [("generator", model) for plan in plans if plan.generator is not None for model in plan.generator.models]
    yield from dict.fromkeys([*roles, ("BERTScore backbone", pinned.metrics.bertscore.model)])
