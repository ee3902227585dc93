"""Errors a person can act on: each message says what is wrong, which one, and what to do.

Of errors that libraries raise, some are a device's and no text's fault. PyTorch is not imported to tell them: where it
never was, no error is its.
"""

import difflib
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class NwsError(Exception):
    """Base of every error NWS raises on purpose. The command line prints it without a traceback.

    `settings` names the arguments or recipe keys that would help. The command line adds the options it has for them.
    """

    def __init__(self, message: str = "", *, settings: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.settings = settings


class CorpusError(NwsError):
    """A dataset or one of its rows cannot be read."""


class EmptyArticleError(NwsError):
    """An article holds no word, or has no reference: nothing can be summarised or scored."""


class LanguageError(NwsError):
    """An article is in a language that the chosen tokenizer would delete."""


class SegmentationError(NwsError):
    """A spaCy pipeline is not installed, is damaged or was changed, or an article is too long for it."""


class PluginError(NwsError):
    """A system or metric of a plugin cannot be imported, or returns something that is not allowed."""


class HubError(NwsError):
    """The Hugging Face Hub cannot be reached, or does not have what was asked for."""


class ModelError(NwsError):
    """A model cannot be loaded, or is not the one that was pinned."""


class DeviceError(NwsError):
    """A GPU, or a library on it, failed: no article is to blame, and the process can compute nothing more."""


class EndpointError(NwsError):
    """An endpoint does not answer, refuses a request, or sends no summary."""


class RecipeError(NwsError, ValueError):
    """A recipe, one of its settings, or a command-line value is not usable."""


class StoreError(NwsError):
    """The store cannot be opened, has another schema, or does not hold what was asked for."""


class StoreUnavailableError(StoreError):
    """The store's database cannot be reached now, and may come back."""


class FencedError(StoreError):
    """Another driver took over the run, so this one may no longer write to it."""


class CancelledError(NwsError):
    """Somebody asked for the end of a run."""


class ClusterError(NwsError):
    """Ray cannot give what the run asks for."""


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A question to append to an error: the one of `names` that is most similar to `name`, ignoring case.

    Empty if none is similar enough by `difflib`, which has the measure of Ratcliff and Obershelp.
    """
    by_lower = {candidate.lower(): candidate for candidate in names}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""


# What CUDA and its libraries are called in the errors of torch, and their status codes.
_DEVICE = re.compile(
    r"\b(CUDA|cuDNN|cuBLAS|cuBLASLt|cuSPARSE|cuSOLVER|cuFFT|cuRAND|NVRTC|NCCL|HIP)( driver| runtime| frontend)? error\b"
    r"|\b(CUDA|CUBLAS|CUDNN|CUSPARSE|CUSOLVER|CUFFT|CURAND|NVRTC|NVML)_(STATUS|ERROR|SUCCESS|ALLOC|INTERNAL|EXEC)\w*"
    r"|\bCUDA (out of memory|unknown error|call failed)|\bcudaError\w*|\bNo CUDA GPUs are available"
    r"|\bunable to find an engine to execute this computation|\bUnable to find a valid cuDNN algorithm",
    re.IGNORECASE,
)
_MEMORY = re.compile(
    r"\bCUDA (driver |runtime )?error: out of memory|\bCUDA out of memory|\bcudaErrorMemoryAllocation"
    r"|\b(CUBLAS|CUDNN|CUSPARSE|CUSOLVER|CURAND)_STATUS_\w*ALLOC\w*|\bCUFFT_ALLOC_FAILED|\bCUDA_ERROR_OUT_OF_MEMORY",
    re.IGNORECASE,
)


def is_device_error(error: BaseException) -> bool:
    """Whether it is an error of CUDA or of a library on it, also where a plugin's error was caused by one."""
    return isinstance(error, DeviceError) or _origin(error) is not None


def is_memory_error(error: BaseException) -> bool:
    """Whether a device's memory ran out: fewer texts at once, or fewer processes, may help."""
    origin = _origin(error)
    if origin is None:
        return False
    return type(origin).__name__ == "OutOfMemoryError" or _MEMORY.search(str(origin)) is not None


def as_device_error(error: BaseException) -> DeviceError:
    """A `DeviceError` in words a person can act on, of an error that `is_device_error`."""
    if isinstance(error, DeviceError):
        return error
    origin = _origin(error) or error
    # The lines after the first are advice for who debugs kernels.
    said = str(origin).partition("\n")[0] or type(origin).__name__
    if is_memory_error(error):
        return DeviceError(
            f"The GPU has no memory left, not even for one text: {said}. `nvidia-smi` says which processes have it. "
            "End those that are not needed, or ask for fewer actors on a GPU (`--actors`)."
        )
    return DeviceError(
        f"The GPU failed: {said}. If this comes again, look for its cause with `nvidia-smi` and in the system's log "
        "(`dmesg`, lines with Xid)."
    )


@contextmanager
def device_errors_in_words() -> Iterator[None]:
    """What a device raises in the block becomes a `DeviceError`; all else passes as it is."""
    try:
        yield
    except (RuntimeError, PluginError) as error:
        if not is_device_error(error):
            raise
        raise as_device_error(error) from error


def _origin(error: BaseException) -> BaseException | None:
    """The error of PyTorch that an error is, or was caused by; None if there is none."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    cause: BaseException | None = error
    while cause is not None:
        is_of_torch = isinstance(cause, torch.OutOfMemoryError | torch.AcceleratorError)
        if is_of_torch or (isinstance(cause, RuntimeError) and _DEVICE.search(str(cause))):
            return cause
        cause = cause.__cause__
    return None
