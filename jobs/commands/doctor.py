"""`nws doctor`: is this machine able to run NWS?"""

import json

import typer

from jobs.commands.options import DEFAULT_STORE, Json, StoreUrl
from jobs.commands.shared import out


def doctor(store: StoreUrl = DEFAULT_STORE, as_json: Json = False) -> None:
    """Check that NWS can run on this machine.

    Looks at libraries, models, spaCy pipelines, Ray, accelerators and the store. Exit 1 if one is broken.
    """
    from jobs.commands.doctor_checks import check_all, print_checks

    checks = check_all(store)
    if as_json:
        print(json.dumps([check.as_dict() for check in checks]))
    else:
        print_checks(checks, out)
    if any(check.state == "broken" for check in checks):
        raise typer.Exit(1)
