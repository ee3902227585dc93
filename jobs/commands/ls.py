"""`nws ls`: the runs of a store."""

import json

from jobs.commands.options import DEFAULT_STORE, Json, StoreUrl
from jobs.commands.shared import out, reading


def list_runs(store: StoreUrl = DEFAULT_STORE, as_json: Json = False) -> None:
    """List the runs of a store, newest first."""
    from jobs.terminal.plain_table import print_rows
    from jobs.terminal.run_status import COLUMNS, as_dict, rows, updates_as_dict

    with reading(store) as opened:
        runs = opened.list_runs()
        updates = opened.updates()
    if as_json:
        print(json.dumps([as_dict(run) | updates_as_dict(updates.get(run.id)) for run in runs]))
    else:
        print_rows(COLUMNS, rows(runs, updates), out)
