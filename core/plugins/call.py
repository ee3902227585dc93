"""How code from outside is called: whatever it raises is told with the line where it arose."""

import contextlib
import inspect
import traceback
from collections.abc import Callable, Iterator, Sequence
from types import CodeType

from core.errors import PluginError


@contextlib.contextmanager
def blaming(failed: str, file: str, called: object = None) -> Iterator[None]:
    """Around code from outside, of which every attribute may be code: what it raises is a `PluginError`.

    That includes `sys.exit`, but no interrupt.

    Args:
        failed: with this the message begins.
        file: whose line is named.
        called: whose first line is, if nothing arose in the file.

    Raises:
        PluginError: see above. One that is raised inside stays what it is.
    """
    try:
        yield
    except PluginError:
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{failed}: {describe_error(error, file, called)}") from error


def describe_error(error: BaseException, file: str, called: object = None) -> str:
    """Class and message of an error, with the line of the file where it arose, else with that where `called` begins."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    position = f" (line {lines[-1]})" if lines else in_brackets(definition(called))
    try:
        message = f": {error}"
    except Exception:  # of its own class, whose text is code, too
        message = ""
    return f"{type(error).__name__}{message}{position}"


def file_of(called: object) -> str:
    """The file of a function, as tracebacks name it; "" if it is not written in Python."""
    code = _code(called)
    return code.co_filename if code else ""


def definition(called: object) -> str:
    """`defined on line 3`; "" of what is not written in Python."""
    code = _code(called)
    return f"defined on line {code.co_firstlineno}" if code else ""


def in_brackets(text: str) -> str:
    """To append to a sentence: nothing where there is no text."""
    return f" ({text})" if text else ""


def require_signature(
    called: Callable[..., object], given: Sequence[object], owner: str, what: str, cure: str, named: Sequence[str] = ()
) -> None:
    """Refuse a function that cannot be called with `given`. One without a signature, as of C code, is let through.

    Args:
        called: the function, or the method of an object.
        given: arguments as it will get them.
        owner: whose it is.
        what: names these arguments.
        cure: says how it should begin.
        named: arguments that it will get by name, beside `given`.

    Raises:
        PluginError: names all of these, and the line.
    """
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*given, **dict.fromkeys(named))
    except TypeError as error:
        reason = "; ".join(filter(None, (str(error), definition(called))))
        raise PluginError(f"{owner} cannot be called with {what} ({reason}). It must take both: {cure}.") from error


def _code(called: object) -> CodeType | None:
    """Of a function or method, or of an object that can be called."""
    try:
        code = getattr(called, "__code__", None)
        if code is None and callable(called):
            code = getattr(called.__call__, "__code__", None)
    except Exception:  # an object from outside, whose attributes are code
        return None
    return code if isinstance(code, CodeType) else None
