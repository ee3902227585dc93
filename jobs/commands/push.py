"""`nws push`: exported policies to the Hugging Face Hub."""

import json
from pathlib import Path
from typing import Annotated

import typer

from core.errors import ModelError
from jobs.commands.options import Json
from jobs.commands.shared import out
from jobs.terminal.busy import busy

_FILES = ("README.md", "recipe.yaml", "decoding.json", "policy.*", "n=*/policy.*", "LICENSE*")
"""What `nws export --policy` writes, and a licence that was put beside it. Nothing else leaves this machine."""


def push(
    folder: Annotated[Path, typer.Argument(help="Folder that `nws export RUN --policy FOLDER` wrote.")],
    repository: Annotated[
        str, typer.Argument(help="Repository on the Hub, organisation/name. It is created if it does not exist.")
    ],
    private: Annotated[bool, typer.Option("--private", help="Make a new repository private.")] = False,
    as_json: Json = False,
) -> None:
    """Upload exported policies to the Hugging Face Hub.

    Their model card goes with them. Needs a token (`hf auth login`).
    """
    from core.hub import upload_model
    from core.learning.policy_system import load_policies

    system = load_policies(folder)
    if not (folder / "README.md").is_file():
        raise ModelError(f"{folder} has no model card (README.md): export the policies again, into a new folder.")
    with busy(f"Uploading {system.signature}", at_once=True):
        url = upload_model(folder, _FILES, repository, private)
    if as_json:
        print(json.dumps({"system": system.signature, "url": url}))
    else:
        out.print(url, markup=False)
