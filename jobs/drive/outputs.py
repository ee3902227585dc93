"""What is said of the summaries that models wrote, once a run has all of them."""

from collections.abc import Iterator

from nws.core.models.endpoint import Endpoint
from nws.core.models.generators import Generator
from nws.core.stage import Writer
from nws.core.systems.predictions import Predictions
from nws.core.text.length import UNCUT
from nws.core.text.oddities import told_of
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import Store


def told_of_outputs(store: Store, run_id: str, plan: Plan) -> Iterator[str]:
    """Sentences on the outputs of generators, endpoints and files of predictions: what is odd, and what is missing.

    Systems that copy from the article are not looked at. Of a text that is cut to several n, the uncut one counts.
    """
    total = store.run_info(run_id).total_articles
    for writer in (writer for stage in plan.stages for writer in stage.writers):
        if isinstance(writer, Generator | Endpoint | Predictions):
            outputs = _outputs(store, run_id, writer)
            yield from told_of(f"summaries of {writer.signature}", outputs, plan.language, total)


def _outputs(store: Store, run_id: str, writer: Writer) -> Iterator[tuple[str, str, str | None]]:
    """The article of each output, its text, and the raw one where that differs."""
    behind = "", 0
    while rows := store.written_texts(run_id, writer.signature, behind):
        behind = rows[-1][:2]
        yield from ((id_, text, raw) for id_, n, text, raw in rows if n == UNCUT or not writer.has_uncut)
