"""Summaries of every article of a file, without references: a line of JSON for each, written as soon as it is there.

Lines that the file of summaries already has are not written again, so a command that was stopped can be repeated.
"""

import contextlib
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

from nws.core.article import Article, SegmentedArticle
from nws.core.errors import CorpusError, NwsError
from nws.core.models.endpoint import BACKEND, CUT, Endpoint
from nws.core.models.generators import DRAFTS_ENDED
from nws.core.provenance import library_versions
from nws.core.stage import Stage
from nws.core.systems.system import Draft, known_drafts
from nws.core.text.length import count_words
from nws.core.text.reader import naming, read_rows
from nws.core.text.rows import recognise_fields, to_article
from nws.core.whole_files import replacing
from nws.jobs.drive.ask import count_requests, with_answers
from nws.jobs.installation import code_version

if TYPE_CHECKING:  # importing torch would delay error messages
    import torch

    from nws.jobs.drive.batch_file import BatchAnswers

_AT_ONCE = 8
# The key of an article, and the reason why it has no summary.
_Failure: TypeAlias = tuple[str, str]
# Articles with their drafts, and the failures.
_Written: TypeAlias = tuple[list[tuple[Article, list[Draft]]], list[_Failure]]
_Segment: TypeAlias = Callable[[Article], SegmentedArticle]
# After this many articles in a row without an answer, no more requests are made.
_MOST_UNANSWERED = 50


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """The progress of writing the summaries of a file.

    Attributes:
        summaries: the number of summaries written by this command.
        articles_now: the number of articles that got them.
        already_written: the number of articles that had all summaries before.
        other_lines: the lines of the file about other articles, systems, lengths or code.
        cut: for each summary that was cut, since no text of the system ended within n, the key of its article.
        failures: the key of each article without summaries, and the reason.
    """

    summaries: int
    articles_now: int
    already_written: int
    other_lines: int
    failures: tuple[_Failure, ...]
    cut: tuple[str, ...] = ()

    @property
    def articles(self) -> int:
        """The number of articles that are done or failed."""
        return self.already_written + self.articles_now + len(self.failures)


@contextlib.contextmanager
def open_for_adding(path: Path | None) -> Iterator[tuple[TextIO, list[str]]]:
    """Open a file to add lines to. Yields the file and its earlier lines; stdout and no lines without a path.

    An incomplete last line, left by a command that was killed, is removed: otherwise no program could read the file.

    Raises:
        NwsError: the file cannot be written, or is not text.
    """
    if path is None:
        yield sys.stdout, []
        return
    try:
        with path.open("a+", encoding="utf-8", errors="surrogateescape") as file:  # a line may be torn inside a letter
            file.seek(0)
            lines = file.readlines()
            if lines and not lines[-1].endswith("\n"):
                if _is_torn(lines[-1]):
                    torn = lines.pop()
                    file.truncate(path.stat().st_size - len(torn.encode("utf-8", "surrogateescape")))
                else:
                    file.write("\n")
            yield file, lines
    except (OSError, UnicodeError) as error:
        raise NwsError(f"Summaries cannot be added to {path}: {error}. Name another file.") from error


def _is_torn(line: str) -> bool:
    """Return whether a line is only the beginning of a JSON object."""
    try:
        json.loads(line)
    except ValueError:
        return line.startswith("{")
    return False


def read_articles(path: Path, text_field: str | None = None, key_field: str | None = None) -> list[Article]:
    """Read the articles of a file, without their references. The fields are named if they are not the usual ones.

    Raises:
        CorpusError: a line has no article, the file has none, or two articles have the same key.
    """
    place, first = next(read_rows(path, ()), ("", None))
    if first is None:
        raise CorpusError(f"{path} has no article.")
    with naming(path, place):
        fields = recognise_fields(first, text_field, None, key_field, needs_reference=False)
    articles = dict[str, Article]()
    for index, (place, row) in enumerate(read_rows(path, [name for name in fields if name is not None])):
        with naming(path, place):
            article = to_article(row, fields, path.name, "all", index)
            if articles.setdefault(article.key, article).text != article.text:
                raise CorpusError(f"another article has the key {article.key!r}, too. Give each its own key.")
    return [*articles.values()]


def write_summaries(
    articles: Sequence[Article],
    stage: Stage,
    out: TextIO,
    path: Path | None,
    there: Iterable[str],
    answers: "BatchAnswers | None" = None,
    say: Callable[[str], None] = lambda line: None,
) -> Iterator[WrittenFile]:
    """Write a line for each article and n, and yield the progress at the beginning and after each few articles.

    If an endpoint has no answer for an article, that article is a failure, and the others go on.

    Args:
        articles: the articles of a file, see `read_articles`.
        stage: the stage with the system that writes, see `nws.jobs.recipes.sweep_plan.stage_to_write`.
        out: the file that gets the new lines.
        path: the path of that file; a file beside it records what made the lines. None for stdout.
        there: the earlier lines of the file.
        answers: the answers of a batch, instead of the system's endpoint.
        say: a function that gets the number of requests that an endpoint may get, before the first request.

    Raises:
        NwsError: a model cannot be loaded, the device fails, or an endpoint does not answer any more.
    """
    import torch

    from nws.core.arithmetic import find_device
    from nws.core.text.segmentation import Segmenter, require_same_data, unsegmented
    from nws.core.worker_factories import checked

    device = find_device("cuda" if torch.cuda.is_available() else "cpu")
    origin = _origin(stage, device)
    made_by = hashlib.sha256(json.dumps(origin, sort_keys=True).encode()).hexdigest()[:12]
    rows = list(_rows(there))
    written = {(row["id"], row["text_hash"], row["n"]) for row in rows if row.get("made_by") == made_by}
    lacking = {
        article: [n for n in stage.lengths if (article.key, article.content_hash, n) not in written]
        for article in articles
    }
    others = len(rows) - sum(len(stage.lengths) - len(lengths) for lengths in lacking.values())
    missing = {article: lengths for article, lengths in lacking.items() if lengths}
    require_same_data(dict(stage.language_data))
    segment = Segmenter(stage.pipeline, stage.units, stage.embedder) if stage.systems else unsegmented
    check_and_segment = checked(stage.language, segment, needs_reference=False)
    yield WrittenFile(0, 0, len(articles) - len(missing), others, ())
    if missing and path is not None:
        _note_origin(path, made_by, origin)
    summaries, now, in_a_row, failures, cut = 0, 0, 0, [], []
    if isinstance(stage.generator, Endpoint):
        source = _asked(missing, stage, stage.generator, check_and_segment, answers, say)
    else:
        source = _computed([*missing], stage, check_and_segment, device)
    for batch, failed in source if missing else ():
        failures += failed
        now += len(batch)
        in_a_row = 0 if batch else in_a_row + len(failed)
        if answers is None and in_a_row >= _MOST_UNANSWERED:
            raise NwsError(f"{in_a_row} articles in a row got no answer, so no more are tried. {failures[-1][1]}")
        for article, drafts in batch:
            for draft in drafts:
                if draft.n in missing[article]:
                    out.write(json.dumps(_row(article, origin["system"], made_by, draft), ensure_ascii=False) + "\n")
                    summaries += 1
                    cut += [article.key] * _is_cut(draft, stage)
        out.flush()
        yield WrittenFile(summaries, now, len(articles) - len(missing), others, tuple(failures), tuple(cut))


def _is_cut(draft: Draft, stage: Stage) -> bool:
    """Return whether a model that was asked for n did not end a text within n."""
    is_longer = int(draft.extra.get(f"{stage.length_unit}_written", 0)) > draft.n
    return is_longer or draft.extra.get(DRAFTS_ENDED) == 0 or draft.extra.get("finish") in CUT


def _computed(
    articles: Sequence[Article], stage: Stage, segment: "_Segment", device: "torch.device"
) -> Iterator[_Written]:
    """Yield what a system on this machine writes, some articles at a time."""
    from nws.cluster.article_work import segment_bundle
    from nws.core.arithmetic import one_thread
    from nws.core.sweep import ArticleWriter

    writer = ArticleWriter(stage, device)
    for batch in (articles[start : start + _AT_ONCE] for start in range(0, len(articles), _AT_ONCE)):
        segmented = segment_bundle(segment, batch)
        keys = {article.id: article.key for article in batch}
        failures = [(keys[failure.article_id], failure.message) for failure in segmented.failures]
        with one_thread():
            written = writer.write(segmented.articles) if segmented.articles else []
        by_article: dict[Article, list[Draft]] = {of.article: [] for of in segmented.articles}
        for article, _, draft in written:
            by_article[article].append(draft)
        yield [*by_article.items()], failures


def _asked(
    missing: Mapping[Article, Sequence[int]],
    stage: Stage,
    endpoint: Endpoint,
    check: "_Segment",
    answers: "BatchAnswers | None",
    say: Callable[[str], None],
) -> Iterator[_Written]:
    """Yield what an endpoint writes, or has written for a batch, one article at a time.

    `missing` has the lengths that each article lacks.
    """
    from nws.core.models.endpoint_requests import LoadedEndpoint

    failures = list[_Failure]()
    asked = list[tuple[Article, Sequence[int]]]()
    for article, lengths in missing.items():
        try:
            check(article)
            asked.append((article, endpoint.lengths(lengths)))
        except NwsError as error:
            failures.append((article.key, str(error)))
    if failures:
        yield [], failures
    if answers is None and asked:
        counts = Counter(n for _, lengths in asked for n in lengths)
        requests = count_requests(endpoint, (article for article, _ in asked), counts)
        say(f"Asking {endpoint.model} at {endpoint.url}: {requests}.")
    for found in answers.write(asked) if answers else LoadedEndpoint(endpoint, stage.seed).write(asked):
        if found is None:
            continue
        summarized = with_answers(*found, endpoint, stage)
        if summarized.error:
            yield [], [(summarized.key, summarized.error)]
        else:
            yield [(found[0], known_drafts(summarized, endpoint.signature))], []


def _origin(stage: Stage, device: "torch.device") -> dict[str, str]:
    """Return all that decides a text besides the article and n. The environment (libraries, arithmetic) is a hash."""
    from nws.core.arithmetic import describe_arithmetic, describe_gpu_arithmetic
    from nws.core.text.segmentation import pipeline_revision

    (system,) = stage.signatures
    bertscore = stage.metrics.bertscore
    embedding = f"{', '.join(map(str, stage.encoders))}|{bertscore.model}, layer {bertscore.num_layers}"
    arithmetic = describe_gpu_arithmetic() if device.type == "cuda" else describe_arithmetic()
    environment = json.dumps([library_versions(), stage.language_data, arithmetic], sort_keys=True)
    return {
        "system": system,
        "unit": stage.length_unit,
        "models": stage.generator.revision if stage.generator else embedding,
        "pipeline": pipeline_revision(stage.pipeline, stage.units),
        "precision": stage.precision,
        "seed": str(stage.seed),
        "nws": code_version(),
        "environment": hashlib.sha256(environment.encode()).hexdigest()[:12],
    }


def meta_path(path: Path) -> Path:
    """Return the path of the file beside a file of summaries that records what made them, by the hash in `made_by`."""
    return path.with_name(f"{path.name}.meta.json")


def _note_origin(path: Path, made_by: str, origin: Mapping[str, str]) -> None:
    """Record in the file of `meta_path` what makes the next lines.

    Raises:
        NwsError: the file cannot be read or written.
    """
    meta = meta_path(path)
    try:
        known = json.loads(meta.read_text(encoding="utf-8")) if meta.exists() else {}
        with replacing(meta) as unfinished:
            unfinished.write_text(json.dumps(known | {made_by: origin}, indent=2) + "\n", encoding="utf-8")
    except (OSError, ValueError, TypeError) as error:
        raise NwsError(f"{meta} says what made each summary, and cannot be updated: {error}. Move it away.") from error


def _row(article: Article, system: str, made_by: str, draft: Draft) -> dict[str, Any]:
    counts = {"n": draft.n, "words": count_words(draft.text)}
    answered_by = {name: draft.extra[name] for name in BACKEND[:1] if name in draft.extra}
    of_article = {"id": article.key, "summary": draft.text, **counts, "system": system}
    return {**of_article, "text_hash": article.content_hash, "made_by": made_by, **answered_by}


def _rows(lines: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:  # incomplete, since the command was killed
            continue
        if isinstance(row, dict) and {"id", "text_hash", "n"} <= row.keys():
            yield row
