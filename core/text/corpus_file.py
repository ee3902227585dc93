"""A corpus as a file of articles, which is read as the corpus was."""

import json
from pathlib import Path

from core.text.corpus import Corpus
from core.whole_files import replacing


def write_articles(corpus: Corpus, path: Path) -> int:
    """Write a JSON line for each article, with its `id`, `article` and `references`; returns how many there were.

    The file takes the place of `path` at the end, whole, or not at all.

    Raises:
        CorpusError: a row holds no article.
        OSError: `path` cannot be written.
    """
    count = 0
    with replacing(path) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        for article in corpus:
            row = {"id": article.key, "article": article.text, "references": list(article.references)}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count
