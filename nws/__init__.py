"""NWS from Python: sweeps, scores, stored runs and summaries, without Ray.

`nws.sweep` finds out how few words a summary of your articles can have. `nws.score` scores predictions.
`nws.open_store` reads what `nws submit` has stored. `nws.summarize` writes with policies that `nws submit phase2` has
trained. `nws.plugins` has what systems and metrics of your own need.
"""

import importlib
import importlib.metadata
import warnings

from nws_start import require_own_packages

require_own_packages()
with warnings.catch_warnings():  # transformers and others import it: in a notebook without ipywidgets it warns, once
    warnings.filterwarnings("ignore", message="IProgress not found")
    importlib.import_module("tqdm.auto")

from jobs.python_api.answer import ShownAnswer
from jobs.python_api.result import Result, RunStore, open_store
from jobs.python_api.sweep import sweep
from jobs.python_api.texts import ScoreResult, score, summarize

try:
    __version__ = importlib.metadata.version("nws")
except importlib.metadata.PackageNotFoundError:  # shipped to a cluster, not installed there
    __version__ = "unknown"

__all__ = [
    "Result",
    "RunStore",
    "ScoreResult",
    "ShownAnswer",
    "__version__",
    "open_store",
    "score",
    "summarize",
    "sweep",
]
