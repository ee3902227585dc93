"""NWS from Python: sweeps, scores, stored runs and summaries, without Ray.

`nws.check` says what is in a file of articles. `nws.sweep` finds out how few words a summary of your texts can have.
`nws.score` scores predictions, and `nws.compare` compares those of two systems. `nws.open_store` reads what
`nws submit` has stored. `nws.summarize` writes with policies that `nws submit phase2` has trained. `nws.plugins` has
what systems and metrics of your own need.

Each name is imported when it is first used (PEP 562), so that `nws.core.metrics.rouge` alone loads no database.
"""

import importlib
from typing import TYPE_CHECKING, Any

from nws import core as core  # it sets how MKL multiplies, which holds from the first product on

if TYPE_CHECKING:
    from nws.jobs.python_api.answer import ShownAnswer
    from nws.jobs.python_api.result import Result, RunStore, open_store
    from nws.jobs.python_api.sweep import sweep
    from nws.jobs.python_api.texts import ScoreResult, check, compare, score, summarize

    __version__: str

_MODULES = {
    "Result": "nws.jobs.python_api.result",
    "RunStore": "nws.jobs.python_api.result",
    "ScoreResult": "nws.jobs.python_api.texts",
    "ShownAnswer": "nws.jobs.python_api.answer",
    "check": "nws.jobs.python_api.texts",
    "compare": "nws.jobs.python_api.texts",
    "open_store": "nws.jobs.python_api.result",
    "score": "nws.jobs.python_api.texts",
    "summarize": "nws.jobs.python_api.texts",
    "sweep": "nws.jobs.python_api.sweep",
}

__all__ = [
    "Result",
    "RunStore",
    "ScoreResult",
    "ShownAnswer",
    "__version__",
    "check",
    "compare",
    "open_store",
    "score",
    "summarize",
    "sweep",
]


if not TYPE_CHECKING:  # a type checker would take any name for one of these

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            value = importlib.import_module("nws.jobs.installation").package_version()
        elif name == "plugins":
            value = importlib.import_module("nws.plugins")
        elif name in _MODULES:
            value = getattr(importlib.import_module(_MODULES[name]), name)
        else:
            raise AttributeError(f"module 'nws' has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return [*__all__, "plugins"]
