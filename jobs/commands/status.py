"""`nws status`: how one run stands."""

import json
from typing import Annotated

import typer

from jobs.commands.options import DEFAULT_STORE, Json, StoreUrl
from jobs.commands.shared import newest, out, reading, store_flag


def status(
    run: Annotated[str | None, typer.Argument(help="Run id; default: the newest run.")] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Show how a run stands.

    Prints its progress, what made its numbers, and the articles that failed.
    """
    from jobs.terminal.run_status import as_dict, print_status

    with reading(store) as opened:
        info = opened.run_info(run or newest(opened))
        failures = opened.failures(info.id)
        policies = opened.policy_infos(info.id)
    if as_json:
        print(json.dumps(as_dict(info, failures, policies)))
    else:
        print_status(info, failures, policies, out, store_flag(store))
