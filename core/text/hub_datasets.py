"""Datasets of the Hugging Face Hub, through `datasets`."""

from typing import Any

from core.errors import CorpusError
from core.hub import HUB_FAILURES

# The study's datasets under their short names. A revision that is not pinned here is looked up when a run is
# submitted, and recorded with it.
KNOWN_DATASETS = {"cnn_dailymail": "abisee/cnn_dailymail:3.0.0", "xsum": "EdinburghNLP/xsum"}
PINNED_REVISIONS = {"abisee/cnn_dailymail": "96df5e686bee6baa90b8bee7c28b81fa3fa6223d"}


def load_split(repository: str, config: str | None, split: str, revision: str | None, streaming: bool) -> Any:
    """One split of a Hub dataset (or of a local folder in the Hub's layout) as a `datasets` object of rows.

    Raises:
        CorpusError: the dataset, configuration or split cannot be had.
    """
    import datasets  # with pandas and pyarrow, which a file need not wait for

    try:
        return datasets.load_dataset(repository, config, split=split, revision=revision, streaming=streaming)
    # RuntimeError: the repository has a script, which `datasets` no longer runs. NotImplementedError is one, too.
    except (*HUB_FAILURES, ValueError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        raise CorpusError(
            f"The Hub dataset {repository} (configuration {config}, split {split}, revision {revision}) "
            f"cannot be loaded: {error}"
        ) from error
