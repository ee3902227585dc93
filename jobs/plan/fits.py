"""How endpoints are to be asked for n words so that they write about n: fitted once, before a run begins.

What was found is in the recipe of the run, as revisions of models are. So a resumed run asks for the same numbers, and
so does every worker. Another run of the store with the same question takes it from there.
"""

import hashlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import astuple, replace
from typing import TYPE_CHECKING

from core.errors import EndpointError
from core.provenance import code_as_imported
from core.summarizers.adjustment import SAMPLE_ARTICLES, SAMPLE_LENGTHS, Adjustment, fit_adjustment
from core.summarizers.endpoint import PREFIX, Endpoint
from core.summarizers.endpoint_replies import BACKEND, Backend
from core.text.words import count_words
from core.types import Article
from jobs.plan.pinned import Pinned, PlannedStage
from jobs.recipes.sweep import BaselinesRecipe, Fit
from jobs.store import Store

if TYPE_CHECKING:
    from core.summarizers.endpoint_requests import LoadedEndpoint


def unfitted(pinned: Pinned) -> list[Endpoint]:
    """The endpoints of a run that are to be asked for other numbers of words, which nobody knows yet."""
    generators = (planned.plan.generator for planned in pinned.stages)
    return [one for one in generators if isinstance(one, Endpoint) and one.adjust and one.adjustment is None]


def with_fits(pinned: Pinned, store: Store, reuse: bool, say: Callable[[str], None]) -> Pinned:
    """The run with what its endpoints are asked for. Sends requests where that is not known.

    Args:
        pinned: a run that has not begun.
        store: whose other runs may know it.
        reuse: whether they are looked at. Each endpoint is then asked which model it is, and nothing else if that is
            known.
        say: is told what was found.

    Raises:
        EndpointError: an endpoint does not answer, or for no article of the sample.
    """
    endpoints, recipe = unfitted(pinned), pinned.recipe
    if not endpoints or not isinstance(recipe, BaselinesRecipe) or recipe.endpoint is None:
        return pinned
    from core.summarizers.endpoint_requests import LoadedEndpoint  # and with it httpx

    articles = list(itertools.islice(itertools.chain.from_iterable(pinned.corpora), SAMPLE_ARTICLES))
    fits = dict(recipe.endpoint.fits)
    fitted: dict[str, Endpoint] = {}
    for endpoint in endpoints:
        loaded = LoadedEndpoint(endpoint.plain, recipe.seed)
        name, sample = PREFIX + endpoint.model, _sample(endpoint, loaded.backend, articles, recipe.seed)
        known = _known(store, name, sample) if reuse else None
        fit = fits[name] = known or _fit(loaded, articles, sample)
        adjustment = Adjustment(fit.intercept, fit.slope)
        fitted[endpoint.signature] = replace(endpoint, adjustment=adjustment)
        say(f"{name}: {adjustment}, {'as another run found' if known else f'by {fit.requests} requests'}.")
    asked = recipe.endpoint.model_copy(update={"fits": fits})
    revisions = {**pinned.revisions["generators"], **{name: one.revision for name, one in fitted.items()}}
    return replace(
        pinned,
        recipe=recipe.model_copy(update={"endpoint": asked}),
        stages=tuple(_with_fit(planned, fitted) for planned in pinned.stages),
        revisions=pinned.revisions | {"generators": revisions},
    )


def _with_fit(planned: PlannedStage, fitted: dict[str, Endpoint]) -> PlannedStage:
    generator = fitted.get(planned.stage.name)
    return planned if generator is None else replace(planned, plan=replace(planned.plan, generator=generator))


def _sample(endpoint: Endpoint, answers: Backend, articles: Sequence[Article], seed: int) -> str:
    """SHA-256 of all that is asked, of whom and by which code; "" where nobody knows the model."""
    if answers.answered_by is None:
        return ""
    asked = [repr(endpoint.plain), repr(answers), code_as_imported(), seed, *SAMPLE_LENGTHS]
    asked += [article.content_hash for article in articles]
    return hashlib.sha256("\n".join(map(str, asked)).encode()).hexdigest()


def _known(store: Store, name: str, sample: str) -> Fit | None:
    """What the newest run has found that has asked the same, by the `sample`; of "" nobody knows."""
    for run in store.list_runs() if sample else ():
        found = (run.recipe.get("endpoint") or {}).get("fits", {}).get(name)
        if found is not None and found["sample"] == sample:
            return Fit(**found)
    return None


def _fit(loaded: "LoadedEndpoint", articles: Sequence[Article], sample: str) -> Fit:
    """Ask for each length of each article, once; an article that gets no answer is left out.

    Where other models have answered than the one that is in `sample`, the fit is no other run's.

    Raises:
        EndpointError: there is no answer for any article at some length.
    """
    wanted = [(article.text, n) for article in articles for n in SAMPLE_LENGTHS]
    found = loaded.ask(*zip(*wanted, strict=True))
    answers = [(n, one) for (_, n), one in zip(wanted, found, strict=True) if not isinstance(one, EndpointError)]
    written = {n: [count_words(one.text) for asked, one in answers if asked == n] for n in SAMPLE_LENGTHS}
    if not all(written.values()):
        raise next(one for one in found if isinstance(one, EndpointError))
    line = fit_adjustment(written)
    stated = [tuple(one.extra.get(name) for name in BACKEND) for _, one in answers]
    return Fit(
        sample=sample if {*stated} == {astuple(loaded.backend)} else "",
        intercept=line.intercept,
        slope=line.slope,
        requests=len(wanted),
        prompt_tokens=sum(int(one.extra.get("prompt_tokens", 0)) for _, one in answers),
        completion_tokens=sum(int(one.extra.get("completion_tokens", 0)) for _, one in answers),
    )
