"""`nws summarize` and `nws export`: use the policies that a run has trained."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from core.errors import NwsError, RecipeError
from jobs.commands.shared import DEFAULT_STORE, Json, Store, err, out, parse_lengths, reading

System = Annotated[
    str | None,
    typer.Option(help="Which of the run's policies, e.g. `reinforce|seed=1`; default: the first method's first seed."),
]


def summarize(
    run: Annotated[str, typer.Option(help="Run of `nws submit phase2`, as `nws ls` lists it.")],
    text: Annotated[
        str | None, typer.Argument(help="A text, or a UTF-8 file that holds one; default, and `-`: stdin.")
    ] = None,
    n: Annotated[
        str | None, typer.Option("--n", help="Words, e.g. 9 or 7,9; default: those the policies were trained for.")
    ] = None,
    system: System = None,
    store: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Summarize one text in n words with the policies of a run: no Ray, no reference."""
    lengths = parse_lengths(n)
    if lengths is not None and min(lengths) < 1:
        raise RecipeError(f"--n must be 1 or more, not {min(lengths)}.")
    content = _read(text)

    from core.learning.writer import PolicyWriter
    from core.text.words import count_words

    chosen = _chosen(store, run, system)
    lengths = lengths or sorted(chosen.checkpoints)
    if untrained := [str(length) for length in lengths if length not in chosen.checkpoints]:
        trained = ", ".join(map(str, sorted(chosen.checkpoints)))
        err.print(f"{chosen.signature} was trained for n = {trained}, not for {', '.join(untrained)}.", markup=False)
    texts = PolicyWriter(chosen).write(content, lengths)
    summaries = [{"n": a, "words": count_words(b), "text": b} for a, b in zip(lengths, texts, strict=True)]
    if as_json:
        made_by = next(iter(chosen.checkpoints.values())).made_by
        print(json.dumps({"system": chosen.signature, "made_by": made_by, "summaries": summaries}))
        return
    for one in summaries:
        label = f"{one['n']:>3}  " if len(summaries) > 1 else ""
        out.print(label + str(one["text"]), markup=False)


def export(
    run: Annotated[str, typer.Argument(help="Run of `nws submit phase2`, as `nws ls` lists it.")],
    policy: Annotated[Path, typer.Option(help="Folder to write policies to: a new one, or an empty one.")],
    system: System = None,
    store: Store = DEFAULT_STORE,
    as_json: Json = False,
) -> None:
    """Write the policies of a run to a folder, for use from Python without Ray or a database."""
    from core.learning.policy_system import save_policies

    chosen = _chosen(store, run, system)
    try:
        if policy.is_dir() and any(policy.iterdir()):
            raise RecipeError(f"{policy} is not empty: name a new folder.")
        save_policies(chosen, policy)
    except OSError as error:
        raise NwsError(f"The policies cannot be written to {policy}: {error}. Choose another folder.") from error
    files = sorted(str(path) for path in policy.rglob("policy.*"))
    if as_json:
        print(json.dumps({"run": run, "system": chosen.signature, "files": files}))
        return
    out.print(f"{chosen.signature} of run {run}", markup=False)
    for file in files:
        out.print(file, markup=False)


def _read(text: str | None) -> str:
    """The text that is meant: an argument, a file's content, or stdin.

    Raises:
        RecipeError: there is none, it is no UTF-8, or it looks like a file that is not there.
    """
    try:
        if text is None or text == "-":
            if sys.stdin.isatty():
                err.print("Reading the text from the terminal, until Ctrl-D …")
            return sys.stdin.buffer.read().decode("utf-8")
        if _is_file(text):
            return Path(text).read_text(encoding="utf-8")
        text.encode("utf-8")  # half a surrogate pair stands for a byte that was none
    except (OSError, UnicodeError) as error:
        raise RecipeError(f"What is to be summarized cannot be read as UTF-8 text: {error}.") from error
    if len(text.split()) == 1:
        raise RecipeError(f"There is no file {text!r}, and it is only one word.")
    return text


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for the name of a file, or with a NUL in it
        return False


def _chosen(store: str, run: str, system: str | None) -> Any:
    from jobs.drive.stored_policies import choose_system

    with reading(store) as opened:
        chosen = choose_system(opened, run, system)
    made_by: Any = next(iter(chosen.checkpoints.values())).made_by
    if made_by["updates"] < made_by["total_updates"]:
        err.print(
            f"Warning: {chosen.signature} has had {made_by['updates']} of {made_by['total_updates']} updates. Go on "
            f"with its training: nws resume {run}",
            markup=False,
        )
    return chosen
