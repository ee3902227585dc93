"""Errors a person can act on: each message says what is wrong, which one, and what to do."""


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
