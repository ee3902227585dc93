"""`nws export`: the policies that a run has trained, as files."""

import json
from pathlib import Path
from typing import Annotated

import typer

from core.errors import NwsError, RecipeError
from jobs.commands.shared import DEFAULT_STORE, Json, PolicyName, StoreUrl, choose_policies, out


def export(
    run: Annotated[str, typer.Argument(help="Run of `nws submit phase2`, as `nws ls` lists it.")],
    policy: Annotated[Path, typer.Option(help="Folder to write policies to: a new one, or an empty one.")],
    system: PolicyName = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Write the policies of a run to a folder, for use from Python without Ray or a database."""
    from core.learning.policy_system import save_policies

    chosen = choose_policies(store, run, system)
    try:
        if policy.is_dir() and any(policy.iterdir()):
            raise RecipeError(f"{policy} is not empty: name a new folder.")
        save_policies(chosen, policy)
    except OSError as error:
        raise NwsError(f"The policies cannot be written to {policy}: {error}. Choose another folder.") from error
    files = sorted(str(path) for path in policy.rglob("*") if path.is_file())
    if as_json:
        print(json.dumps({"run": run, "system": chosen.signature, "files": files}))
        return
    out.print(f"{chosen.signature} of run {run}", markup=False)
    for file in files:
        out.print(file, markup=False)
