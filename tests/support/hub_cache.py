"""What the caches of `datasets` and `huggingface_hub` hold of repositories, made without them."""

from pathlib import Path
from typing import Any

import datasets
from datasets.arrow_writer import ArrowWriter


def cache_dataset(rows: list[dict[str, Any]], folder: Path) -> None:
    """As `datasets` has a dataset of the Hub that it has read."""
    features = datasets.Dataset.from_list(rows).features
    folder.mkdir(parents=True)
    with ArrowWriter(path=str(folder / "news-test.arrow"), features=features) as writer:
        for row in rows:
            writer.write(row)
        _, size = writer.finalize()
    splits = datasets.SplitDict(dataset_name="news")
    splits["test"] = datasets.SplitInfo("test", num_bytes=size, num_examples=len(rows), dataset_name="news")
    about = {"builder_name": "parquet", "dataset_name": "news", "config_name": "default", "version": "0.0.0"}
    datasets.DatasetInfo(features=features, splits=splits, **about).write_to_directory(str(folder))
