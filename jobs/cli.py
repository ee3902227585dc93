"""The `nws` command line. Data goes to stdout, progress and errors to stderr; exit 0 only when nothing failed."""

import codecs
import contextlib
import errno
import functools
import io
import itertools
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NoReturn

import setproctitle
import typer
import typer.core

from nws.core.errors import NwsError, RecipeError
from nws.jobs.commands import (
    check,
    doctor,
    files,
    manage,
    query,
    report,
    resume,
    submit,
    write,
)
from nws.jobs.commands.options import Command, JobCommand
from nws.jobs.commands.shared import err, out, store_flag, with_store
from nws.jobs.installation import package_version

_NO_ROOM = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
_AGAIN_SECONDS = 0.05


class Commands(typer.core.TyperGroup):
    """Lists `submit` first, since it comes first; typer puts groups behind all commands."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(super().list_commands(ctx), key=lambda name: name != "submit")


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="How few words can a news summary have and still keep the content? "
    "Submit runs, watch them, and read their results.",
)
submit_app = typer.Typer(no_args_is_help=True, help="Start a run.")
db_app = typer.Typer(no_args_is_help=True, help="The store's schema.")

submit_app.command(
    "phase1",
    cls=JobCommand,
    help="Sweep the summary length n.\n\nEvery system summarises every article at every n, and each summary is scored.",
)(submit.submit_sweep)
submit_app.command(
    "baselines",
    cls=JobCommand,
    help="Sweep n with systems of your choice.\n\n"
    "Lead, TextRank, oracles, generators such as BART, your own systems, and predictions from files.",
)(submit.submit_sweep)
submit_app.command("phase2", cls=JobCommand)(submit.submit_phase2)
app.command("resume", cls=Command)(resume.resume)
app.command("logs", cls=Command)(manage.logs)
app.command("cancel", cls=Command)(manage.cancel)
app.command("rm", cls=Command)(manage.remove)
app.command("drive", cls=Command, hidden=True)(resume.drive)
app.command("ls", cls=Command)(manage.list_runs)
app.command("status", cls=Command)(manage.status)
app.command("serve", cls=Command)(manage.serve)
app.command("report", cls=Command)(report.report)
app.command("show", cls=Command)(report.show)
app.command("compare", cls=Command)(report.compare)
app.command("query", cls=Command)(query.query)
app.command("write", cls=Command)(write.write)
app.command("export", cls=Command)(query.export)
app.command("data", cls=Command)(files.data)
app.command("check", cls=Command)(check.check)
app.command("score", cls=Command)(files.score)
app.command("judge", cls=Command)(files.judge)
app.command("correlate", cls=Command)(files.correlate)
app.command("keysentences", cls=Command)(files.keysentences)
app.command("doctor", cls=Command)(doctor.doctor)
db_app.command("upgrade", cls=Command)(query.upgrade)
app.add_typer(submit_app, name="submit")
app.add_typer(db_app, name="db")


def _print_version(is_asked: bool) -> None:
    if is_asked:
        out.print(f"nws {package_version()}")
        raise typer.Exit


@app.callback()
def nws(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Hold the options that stand before a command."""


def _write_all_letters() -> None:
    """Let no letter end a command: a locale such as C has no "–", and few others have articles in Korean."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding="utf-8" if is_ascii else None, errors="backslashreplace")


def main() -> None:
    """Run the command line; errors a person can act on are printed without a traceback, with exit code 1."""
    if sys.flags.optimize > 1:
        sys.exit(
            "Error: Python runs without docstrings (PYTHONOPTIMIZE=2 or -OO), which Ray needs. Unset PYTHONOPTIMIZE."
        )
    _hear_signals()
    _hide_servers(sys.argv)
    _write_all_letters()
    try:
        try:
            app()
        finally:
            if sys.stdout:  # none if it is closed
                sys.stdout.flush()
    except NwsError as error:
        options = ", ".join(_flags_of(error, sys.argv[1:]))
        message = with_store(str(error), _store_flag(sys.argv[1:]))
        err.print(f"Error: {message}" + (f" ({options})" if options else ""))
        sys.exit(2 if isinstance(error, RecipeError) else 1)
    except BrokenPipeError:  # e.g. `nws query … | head`
        _print_nowhere()
        sys.exit(1)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        _print_nowhere()
        where = f" to {error.filename}" if error.filename else ", to where it is printed or to a file"
        err.print(f"Error: no more can be written{where}: {error.strerror}. Make room, and try again.")
        sys.exit(1)


def _print_nowhere() -> None:
    """Send stdout nowhere, so that what could not be printed is not tried again while Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _flags_of(error: NwsError, words: Sequence[str]) -> list[str]:
    """The flags of the typed command that set the settings which an error names."""
    command: Any = typer.main.get_command(app)
    for word in words:
        command = getattr(command, "commands", {}).get(word, command)
    all_options = {
        option for parameter in command.get_params(command.context_class(command)) for option in parameter.opts
    }
    options = [f"--{name.replace('_', '-')}" for name in error.settings]
    # Several of what an option names one of are a list in a recipe: `systems`.
    options = [option if option in all_options else option.removesuffix("s") for option in options]
    return [option for option in options if option in all_options]


def _store_flag(words: Sequence[str]) -> str:
    """The `--store` to add to an advised command so that it finds the typed one's store; empty if none was typed."""
    for before, word in itertools.pairwise(["", *words]):
        value = word if before == "--store" else word.removeprefix("--store=")
        if before == "--store" or value != word:
            with contextlib.suppress(NwsError):  # of a URL that is none
                return store_flag(value)
    return ""


def _hide_servers(words: Sequence[str]) -> None:
    """Take out of what `ps` and Ray's dashboard show of us: tokens, and stores on servers with passwords."""
    hidden = []
    for before, word in itertools.pairwise(["", *words]):
        value = word.removeprefix("--store=").removeprefix("--token=")
        is_store = before == "--store" or word.startswith("--store=")
        is_token = before == "--token" or word.startswith("--token=")
        is_server = value.startswith("postgres") or (is_store and not value.startswith("sqlite:///"))
        hidden.append(word.removesuffix(value) + "***" if is_server or is_token else word)
    if hidden != list(words):
        setproctitle.setproctitle(" ".join(hidden))


def _hear_signals() -> None:
    """SIGTERM and a closed terminal end a command as Ctrl-C does, and none of the three is lost."""
    signal.signal(signal.SIGTERM, _terminated)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # which is what nohup asks for
        signal.signal(signal.SIGHUP, _hung_up)
    sys.unraisablehook = functools.partial(_dropped, sys.unraisablehook)


def _dropped(report: Callable[["sys.UnraisableHookArgs"], object], unraisable: "sys.UnraisableHookArgs") -> None:
    """Python drops what is raised while it frees an object. An interruption comes again in a moment."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        report(unraisable)
        return
    # In the background SIGINT may be ignored, and it was another signal then.
    signum = signal.SIGTERM if signal.getsignal(signal.SIGINT) is signal.SIG_IGN else signal.SIGINT
    again = threading.Timer(_AGAIN_SECONDS, signal.pthread_kill, (threading.main_thread().ident, signum))
    again.daemon = True
    again.start()


def _terminated(signum: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _hung_up(signum: int, frame: object) -> NoReturn:
    """The terminal is closed: what is still said goes nowhere, and must not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        if stat.S_ISCHR(os.fstat(stream).st_mode):
            os.dup2(nowhere, stream)
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
