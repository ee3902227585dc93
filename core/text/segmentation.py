"""Segmenting an article into sentences and chunks of its words, which are separated by blanks.

There are three ways, and a run records which one it used:

* a trained spaCy pipeline (`en_core_web_sm`): noun and verb chunks (`core/text/spacy_segmentation.py`);
* `blank`: English without a trained pipeline, chunks between stop words and punctuation (same file);
* `kiwi`: Korean, chunks that end at particles and endings (`core/text/korean.py`).

With the units `words`, each word is a chunk, even a stop word, whatever the pipeline would join or leave out. This is
for texts of one sentence, of which a summary keeps single words (sentence compression). With `subtrees`, a trained
pipeline finds its chunks and what can be left out of its sentences (`core/text/subtrees.py`).

A package that segments or tokenizes texts may be changed without a new version. So a run records the hash of its files,
and each process compares it before it loads them.
"""

import functools
import importlib.metadata
import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path

from nws.core.article import Article, Segment, SegmentedArticle
from nws.core.errors import EmptyArticleError, SegmentationError
from nws.core.provenance import files_below, files_sha256
from nws.core.text.cutting import MAX_CHUNK_WORDS, SIGNS_OF_WORDS, Cutter, CutText, Units, into_words
from nws.core.text.korean import DATA, load_korean_cutter, versions
from nws.core.text.language import Language
from nws.core.text.length import require_length, word_spans

DEFAULT_TRAINED_PIPELINE = "en_core_web_sm"
KOREAN_PIPELINE = "kiwi"


def resolve_pipeline(pipeline: str, language: Language = "en", units: Units = "chunks") -> str:
    """Return the pipeline that will segment articles in `language`.

    In English, `auto` is `blank`, whatever is installed, so that runs on all machines segment alike. In Korean, both
    are `kiwi`.

    Raises:
        SegmentationError: the pipeline is for the other language, a named trained pipeline is not installed, or the
            units are subtrees and the pipeline does not parse sentences.
        NwsError: Kiwi is needed but not installed.
    """
    resolved = _resolved(
        pipeline, language, "" if units == "subtrees" else ", or choose the pipeline `blank`, which is built in"
    )
    if units == "subtrees" and resolved in ("blank", KOREAN_PIPELINE):
        raise SegmentationError(
            f"Subtrees need parsed English sentences, but the pipeline {resolved!r} does not parse. Name a trained "
            f"one with `pipeline`, such as {DEFAULT_TRAINED_PIPELINE}.",
            settings=("units", "pipeline"),
        )
    return resolved


def _resolved(pipeline: str, language: Language, otherwise: str) -> str:
    if pipeline not in ("auto", "blank") and (pipeline == KOREAN_PIPELINE) != (language == "ko"):
        raise SegmentationError(
            f"The pipeline {pipeline!r} is not for the language of the run, {language!r}. Choose `auto`.",
            settings=("pipeline",),
        )
    if language == "ko":
        versions(KOREAN_PIPELINE)  # its error says how to install it
        return KOREAN_PIPELINE
    if pipeline in ("auto", "blank"):
        return "blank"
    if not is_installed(pipeline):
        raise SegmentationError(
            f"The spaCy pipeline {pipeline!r} is not installed. Install it with "
            f"`python -m spacy download {pipeline}`{otherwise}.",
            settings=("pipeline",),
        )
    return pipeline


def is_installed(pipeline: str) -> bool:
    """Return whether a spaCy pipeline is installed, without importing spaCy, which takes a second."""
    try:
        importlib.metadata.distribution(pipeline)
    except (importlib.metadata.PackageNotFoundError, ValueError):  # ValueError: the name is empty
        return False
    return True


def pipeline_revision(pipeline: str, units: Units = "chunks") -> str:
    """Return the description of a resolved pipeline that a run records: name, version, and how chunks are made."""
    each_word = "each word a chunk" if units == "words" else None
    if pipeline == KOREAN_PIPELINE:
        rule = each_word or f"chunks ending at particles and endings, at most {MAX_CHUNK_WORDS} words"
        return f"{pipeline}@{versions(pipeline)}|{rule}"
    spacy_version = importlib.metadata.version("spacy")
    signs = f"{SIGNS_OF_WORDS} are parts of words"
    if pipeline == "blank":
        rule = each_word or f"stop-word chunks of at most {MAX_CHUNK_WORDS} words"
        return f"spacy.blank(en)+sentencizer@{spacy_version}|{rule}|{signs}"
    rule = each_word or ("noun and verb chunks, and subtrees" if units == "subtrees" else "noun and verb chunks")
    return f"{pipeline}@{importlib.metadata.version(pipeline)} (spacy {spacy_version})|{rule}|{signs}"


def language_data(pipeline: str, tokenizer: str) -> dict[str, str]:
    """Return the hash of the files of each package that segments or tokenizes texts, by its name.

    Args:
        pipeline: the resolved pipeline, see `resolve_pipeline`.
        tokenizer: the tokenizer of ROUGE, see `nws.core.text.tokenizers`.

    Raises:
        NwsError: a package is missing.
    """
    packages = [] if pipeline in ("blank", *DATA) else [pipeline]
    for name in DATA:
        if name in (pipeline, tokenizer):
            versions(name)  # its error says how to install it
            packages.append(DATA[name])
    return {package: f"sha256:{first_sha256(package)}" for package in packages}


def require_same_data(recorded: Mapping[str, str]) -> None:
    """Refuse to work with other files than those that a run has recorded.

    Raises:
        SegmentationError: a package has other files. The error names it.
    """
    for name, was in recorded.items():
        is_now = f"sha256:{_sha256(name)}"
        if was != is_now:
            raise SegmentationError(
                f"{name} is different on this machine: the run recorded {was}, but this is {is_now}. Install the same "
                "package on every machine, or restart Python and submit a new run."
            )


def _sha256(package: str) -> str:
    """Return the hash of the files of an installed package, as 64 hex digits."""
    folder = _folder(package)
    return files_sha256(folder, files_below(folder))


first_sha256 = functools.cache(_sha256)  # a process keeps its loaded pipeline, whatever is installed later


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SegmentationError(f"The package {package}, which segments texts, is not installed here. Install it.")
    return Path(next(iter(spec.submodule_search_locations)))


class Segmenter:
    """A callable that segments an article.

    Args:
        pipeline: the resolved pipeline: `kiwi`, `blank` or the name of an installed trained one.
        units: what a chunk is.
        embedder: the model that will embed the segments (`Stage.embedder`), which limits the article's length; None for
            any length.

    Raises:
        SegmentationError: the pipeline is not installed.
        NwsError: Kiwi is needed but not installed.
    """

    def __init__(self, pipeline: str, units: Units = "chunks", embedder: str | None = None) -> None:
        cut = _load(pipeline, units == "subtrees")
        self._embedder = embedder
        self._cut: Cutter = (lambda text: into_words(cut(text))) if units == "words" else cut

    def __call__(self, article: Article) -> SegmentedArticle:
        """Segment `article`.

        Raises:
            EmptyArticleError: the text has no word.
            SegmentationError: a word, or a text to embed, is longer than `core/text/length.py` allows.
        """
        require_length(article, self._embedder)
        segmented = assemble(article, self._cut(article.text))
        require_length(article, self._embedder, len(segmented.sentences))
        return segmented


def _load(pipeline: str, with_subtrees: bool = False) -> Cutter:
    # Imported here because a driver does not need the libraries of each language.
    if pipeline == KOREAN_PIPELINE:
        return load_korean_cutter()
    from nws.core.text import spacy_segmentation

    return spacy_segmentation.load_cutter(resolve_pipeline(pipeline), with_subtrees)


def assemble(article: Article, cut: CutText) -> SegmentedArticle:
    """Return `article` with the sentences and chunks that were found in its text.

    Raises:
        EmptyArticleError: the text has no word.
    """
    if not cut.words:
        raise _empty(article)
    spans = word_spans(article.text)
    sentences: list[Segment] = []
    chunks: list[Segment] = []
    for (start, end), ranges in zip(cut.sentences, cut.chunks, strict=True):
        for first, last in ranges:
            chunks.append(Segment(" ".join(cut.words[first:last]), first, last, len(sentences)))
        text = article.text[spans[start][0] : spans[end - 1][1]]
        sentences.append(Segment(" ".join(text.split()), start, end, len(sentences)))
    return SegmentedArticle(article, cut.words, tuple(sentences), tuple(chunks), tuple(_subtrees(cut)))


def _subtrees(cut: CutText) -> Iterator[Segment]:
    before = 0  # the number of subtrees in earlier sentences
    for sentence, found in enumerate(cut.subtrees):
        for subtree in found:
            start, end = subtree.words[0], subtree.words[-1] + 1
            left_out = frozenset(range(start, end)).difference(subtree.words)
            text = " ".join(cut.words[position] for position in subtree.words)
            yield Segment(text, start, end, sentence, left_out, before + subtree.head, subtree.begins)
        before += len(found)


def _empty(article: Article) -> EmptyArticleError:
    return EmptyArticleError(f"Article {article.key!r} of {article.dataset} has no word.")


def unsegmented(article: Article) -> SegmentedArticle:
    """Return `article` with its words, but without sentences and chunks, for systems that read the text itself.

    Raises:
        EmptyArticleError: the text has no word.
        SegmentationError: a word is longer than `core/text/length.py` allows.
    """
    require_length(article)
    words = tuple(article.text[start:end] for start, end in word_spans(article.text))
    if not words:
        raise _empty(article)
    return SegmentedArticle(article, words, (), ())


def sentences_of(text: str, pipeline: str) -> list[str]:
    """Return the sentences of any text, with single spaces; none for a text without words.

    Raises:
        SegmentationError: the pipeline is not installed.
        NwsError: Kiwi is needed but not installed.
    """
    spans = word_spans(text)
    ranges = _load(pipeline)(text).sentences
    return [" ".join(text[spans[start][0] : spans[end - 1][1]].split()) for start, end in ranges]
