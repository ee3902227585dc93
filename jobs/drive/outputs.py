"""What checks find in the summaries that models wrote, once a run has all of them."""

from collections.abc import Iterator

from nws.core.models.endpoint import Endpoint
from nws.core.models.generators import Generator
from nws.core.stage import Writer
from nws.core.text.checks.all_checks import Finding, check_rows
from nws.core.text.checks.finding import CheckedRow, Context
from nws.core.text.length import UNCUT
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import Store


def check_outputs(store: Store, run_id: str, plan: Plan) -> list[Finding]:
    """Check the outputs of generators and endpoints. Predictions were checked before the run.

    Systems that copy from the article are not looked at. Of a text that is cut to several n, the uncut one counts.
    """
    context = Context(plan.language)
    return [
        finding
        for writer in (writer for stage in plan.stages for writer in stage.writers)
        if isinstance(writer, Generator | Endpoint)
        for finding in check_rows(_outputs(store, run_id, writer), writer.signature, context, part="predictions")
    ]


def _outputs(store: Store, run_id: str, writer: Writer) -> Iterator[CheckedRow]:
    """Each output, and the raw one where that differs."""
    behind = "", 0
    while rows := store.written_texts(run_id, writer.signature, behind):
        behind = rows[-1][:2]
        for id_, n, text, raw in rows:
            if n == UNCUT or not writer.has_uncut:
                yield CheckedRow(id_, prediction=text, raw=raw)
