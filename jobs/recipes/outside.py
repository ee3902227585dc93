"""Plugins and predictions: what a plan gets from files of the user.

Each plugin with systems, and each system in a file of predictions, is a stage of the run. A cluster gets these files
with the code, named by their hashes.
"""

import contextlib
import functools
import hashlib
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nws.core.article import Article, Segment, SegmentedArticle
from nws.core.errors import EmptyArticleError, LanguageError, PluginError, RecipeError, SegmentationError
from nws.core.models.generators import KNOWN_GENERATORS
from nws.core.plugins.adapters import PluginMetric, PluginSystem, plugin_metrics, plugin_systems
from nws.core.plugins.load import Plugin, PluginSpec, read_plugin
from nws.core.provenance import file_sha256
from nws.core.stage import Stage
from nws.core.systems.extractive_baselines import BASELINES
from nws.core.systems.importance import unit_rows
from nws.core.systems.predictions import KEY_FIELD, TEXT_FIELD, Predictions, read_predictions
from nws.core.systems.system import Document, Embeddings, require_name
from nws.core.text.length import LengthUnit, cut
from nws.core.text.model_outputs import CUT_THOUGHTS, cleaning_mark
from nws.core.text.reader import PlacedRow, is_file, path_from_anywhere
from nws.core.text.rows import LIST_MARKS
from nws.core.text.segmentation import unsegmented
from nws.core.text.text_marks import Preparation
from nws.core.worker_factories import checked, make_segmenter
from nws.jobs.installation import ROOT
from nws.jobs.recipes.plan import Plan

SHIPPED = ROOT / ".nws_files"
"""The folder of the user's files in a shipped checkout. They are named by their SHA-256, with their endings."""
_NAMED = 5
"""The most keys that a message names."""
_LOOKED_AT = 20
"""The number of articles among which one is searched on which plugins can be tried."""
_DIMENSIONS = 16
"""The dimensions of the vectors of a trial."""


def with_plugins(plan: Plan, more: Sequence[Plugin] = ()) -> Plan:
    """Add the systems and metrics of the recipe's plugins, and of `more`, to a plan. This runs their code.

    Raises:
        PluginError: a plugin cannot be found or imported, or one of its systems or metrics is not valid.
        RecipeError: two systems or two metrics have the same name, or a plugin was changed.
    """
    specs, plugins = [], [*more]
    for spec in plan.recipe.plugins:
        plugin = read_plugin(spec, find_file(spec.plugin, spec.sha256))
        require_unchanged(spec.plugin, spec.sha256, plugin.sha256)
        specs.append(PluginSpec(_pinned(spec.plugin, spec.sha256), plugin.sha256))
        plugins.append(plugin)
    stages = _with_metrics(plan, [metric for plugin in plugins for metric in plugin_metrics(plugin)])
    stages += _stages_of(plan, stages[0], [plugin for plugin in plugins if plugin.systems()])
    recipe = plan.recipe.model_copy(update={"plugins": tuple(specs)})
    revisions = plan.revisions | {"plugins": {plugin.name: _revision(plugin) for plugin in plugins}}
    return replace(plan, recipe=recipe, stages=stages, revisions=revisions)


def _with_metrics(plan: Plan, metrics: Sequence[PluginMetric]) -> tuple[Stage, ...]:
    """Return the stages of the run, each with these metrics."""
    names = [metric.name for metric in metrics]
    for metric in metrics:
        if names.count(metric.name) > 1:
            raise RecipeError(f"Two plugins have a metric {metric.name!r}. Rename one of them.")
    config = replace(plan.metrics, plugins=tuple(metrics))
    return tuple(replace(stage, metrics=config) for stage in plan.stages)


def _stages_of(plan: Plan, like: Stage, plugins: Sequence[Plugin]) -> tuple[Stage, ...]:
    """Make a stage for each of these plugins, which differs from the stage `like` by its systems."""
    stages = []
    encoders = next((stage.encoders for stage in plan.stages if stage.encoders), ())
    taken = {*plan.systems, *BASELINES, *KNOWN_GENERATORS}
    for plugin in plugins:
        systems = plugin_systems(plugin, [encoder.name for encoder in encoders])
        if twice := [system.signature for system in systems if system.signature in taken]:
            raise RecipeError(f"The system {twice[0]!r} of {plugin.name} has the name of another system. Rename it.")
        taken |= {system.signature for system in systems}
        used = encoders if any(system.encoders for system in systems) else ()
        stages.append(replace(like, name=f"plugin {plugin.name}", encoders=used, systems=systems, generator=None))
    return tuple(stages)


def _pinned(file: str, sha256: str) -> str:
    """Return the name by which a file is found from any folder. A pinned file already has such a name."""
    return file if sha256 else str(path_from_anywhere(Path(file)))


def _revision(plugin: Plugin) -> str:
    named = (("systems", plugin.systems()), ("metrics", plugin.metrics()))
    has = "".join(f"|{kind}: {', '.join(names)}" for kind, names in named if names)
    return f"{plugin.name}@sha256:{plugin.sha256}{has}"


def try_plugins(plan: Plan) -> None:
    """Try each system and metric of plugins on one article, before models are loaded.

    The article is the first that can be summarised. A system writes at the shortest and the longest n, with random
    vectors and scores. A metric judges the first words of the article.

    Raises:
        PluginError: a system or metric raised an error, or returned an invalid value; names its line.
    """
    systems = [(stage, s) for stage in plan.stages for s in stage.systems if isinstance(s, PluginSystem)]
    segment = make_segmenter(systems[0][0]) if systems else checked(plan.language, unsegmented)
    segmented = _first_usable(plan, segment)
    if segmented is None:
        return
    article, unit = segmented.article, plan.recipe.length_unit
    lengths = sorted({min(plan.recipe.n), max(plan.recipe.n)})
    summary = cut(article.text, lengths[-1], unit) or segmented.words[0]
    known: dict[str, str | int] = {"article": article.text, "n": lengths[-1]}
    known |= {"language": plan.language, "key": article.key}
    try:
        for stage, system in systems:
            document = _trial_document(segmented, [encoder.name for encoder in stage.encoders], unit)
            system.summarize(document, lengths)
        for metric in plan.metrics.plugins:
            metric.judge(summary, article.references, f"article {article.key!r}", **known)
    except PluginError as error:
        raise PluginError(
            f"{error}. NWS tried it on article {article.key!r} before the run. Fix it, and submit again. "
            "docs/your-own.md explains systems and metrics."
        ) from error


def _first_usable(plan: Plan, segment: Callable[[Article], SegmentedArticle]) -> SegmentedArticle | None:
    for article in itertools.islice(itertools.chain.from_iterable(plan.corpora), _LOOKED_AT):
        with contextlib.suppress(EmptyArticleError, LanguageError, SegmentationError):
            return segment(article)
    return None


def _trial_document(segmented: SegmentedArticle, encoders: Sequence[str], length_unit: LengthUnit) -> Document:
    """Make a document with vectors and scores that follow from its texts, without a model."""
    vectors = Embeddings(_vectors(segmented.sentences), _vectors(segmented.chunks))
    return Document(
        segmented,
        dict.fromkeys(encoders, vectors),
        _shares,
        lambda anchor, texts: _shares([f"{anchor} {text}" for text in texts]),
        lambda: "The reference of another article.",
        _shares,
        length_unit,
    )


def _vectors(segments: Sequence[Segment]) -> Any:
    """Return float32 unit vectors, (segments, 16), that follow from the texts."""
    rows = [np.random.default_rng(_number(segment.text)).normal(size=_DIMENSIONS) for segment in segments]
    return unit_rows(np.array(rows, dtype=np.float32).reshape(len(rows), _DIMENSIONS))


def _shares(texts: Sequence[str]) -> list[float]:
    """Return a number in [0, 1) for each text, which follows from the text, instead of F1."""
    return [_number(text) / 2**64 for text in texts]


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def with_predictions(plan: Plan) -> Plan:
    """Add a stage to a plan for each system in its files of predictions, whose texts are cleaned as the articles are.

    Raises:
        CorpusError: a file cannot be read, see `read_predictions`.
        RecipeError: a system has the name of another system, or a file was changed.
    """
    taken = {*plan.systems, *BASELINES, *KNOWN_GENERATORS}
    specs, stages, revisions = [], [*plan.stages], {}
    cleaning = Preparation([kind for corpus in plan.corpora for kind in corpus.dataset.preparation.clean_texts])
    mark = cleaning.signature + cleaning_mark(plan.recipe.clean_outputs) + LIST_MARKS[plan.recipe.list_predictions]
    for spec in plan.recipe.predictions:
        with_keys = functools.partial(_with_keys, plan, spec.file)
        named = {KEY_FIELD: spec.id_field, TEXT_FIELD: spec.prediction_field}
        file = find_file(spec.file, spec.sha256)
        cleaned_as = plan.recipe.clean_outputs, plan.recipe.list_predictions
        found = read_predictions(file, spec.name, named, with_keys, *cleaned_as)
        sha256 = found[0].sha256
        require_unchanged(spec.file, spec.sha256, sha256)
        taking_part = spec.systems or ([] if spec.sha256 else _fitting(found, plan))
        if unknown := {*taking_part} - {predictions.name for predictions in found}:
            has = ", ".join(predictions.name for predictions in found)
            raise RecipeError(f"{spec.file} has no system {min(unknown)!r}. Its systems are {has}.")
        specs.append(replace(spec, file=_pinned(spec.file, spec.sha256), sha256=sha256, systems=tuple(taking_part)))
        # Each is a stage of its own, so that an error in one system does not affect others, and a file can be added
        # to a run.
        for predictions in (one for one in found if not taking_part or one.name in taking_part):
            name = predictions.name
            require_name(name)
            if name in taken:
                raise RecipeError(
                    f"The predictions of {spec.file} cannot be called {name!r}: another system has that name. Rename "
                    "them before the file (name=file) or, if it has several systems, in the file."
                )
            taken.add(name)
            stages.append(plan.stages[0].with_systems(f"predictions {name}", _cleaned(predictions, cleaning)))
            revisions[name] = f"{Path(spec.file).name}@sha256:{sha256}|{len(predictions.texts)} predictions{mark}"
    recipe = plan.recipe.model_copy(update={"predictions": tuple(specs)})
    return replace(plan, recipe=recipe, stages=tuple(stages), revisions=plan.revisions | {"predictions": revisions})


def _fitting(found: Sequence[Predictions], plan: Plan) -> list[str]:
    """Return the systems of a file with a prediction for an article of the run; [] if all have one.

    A file may have predictions of each system for several datasets.
    """
    if len(found) == 1 or any(corpus.ids is None for corpus in plan.corpora):
        return []
    keys = {article.key for corpus in plan.corpora for article in corpus}
    fitting = [predictions.name for predictions in found if not keys.isdisjoint(predictions.texts)]
    return fitting if len(fitting) < len(found) else []


def _with_keys(plan: Plan, file: str, lines: Sequence[PlacedRow]) -> Iterator[PlacedRow]:
    """Yield the lines of a text that belong to articles of the run, by the number of the row, with the article's key.

    Raises:
        RecipeError: there are several datasets, the dataset is streamed, or it has another number of rows.
    """
    corpus, *others = plan.corpora
    if others or corpus.ids is None:
        raise RecipeError(f"{file}: lines without ids need a single dataset that is not streamed. Give each an `id`.")
    if (rows := sum(1 for _ in corpus.rows(()))) != len(lines):
        raise RecipeError(f"{file} has {len(lines)} lines, but {corpus.name} has {rows} rows. Each row needs a line.")
    for (place, line), article in zip((lines[row] for row in corpus.positions), corpus, strict=True):
        yield place, line | {KEY_FIELD: article.key}


def _cleaned(predictions: Predictions, cleaning: Preparation) -> Predictions:
    """Remove marks from predictions."""
    texts = predictions.texts.items()
    return replace(predictions, texts={key: text and " ".join(cleaning.text(text).split()) for key, text in texts})


def misfits(plan: Plan) -> list[str]:
    """List warnings about predictions without an article, and articles without one; none if articles are streamed.

    Raises:
        RecipeError: no prediction of a file belongs to an article of this run, or one may belong to several.
    """
    systems = [s for stage in plan.stages for s in stage.systems if isinstance(s, Predictions)]
    if not systems or any(corpus.ids is None for corpus in plan.corpora):
        return []
    keys = Counter(article.key for corpus in plan.corpora for article in corpus)
    told = [
        f"These systems of {spec.file} take part: {', '.join(spec.systems)}. The others have no prediction for an "
        "article of the run, or were not chosen."
        for spec in plan.recipe.predictions
        if spec.systems
    ]
    return told + [line for system in systems for line in predictions_misfits(system, keys)]


def predictions_misfits(system: Predictions, keys: Mapping[str, int]) -> Iterator[str]:
    """Yield warnings about predictions without an article, and articles without one. `keys` counts articles by key.

    Raises:
        RecipeError: no prediction belongs to one of the articles, or one may belong to several.
    """
    strangers = tuple(key for key in system.texts if key not in keys)
    if len(strangers) == len(system.texts):
        raise RecipeError(
            f"No prediction of {system.name} belongs to an article. Its ids look like {_named(strangers)}, but the "
            f"articles' keys look like {_named(tuple(keys))}.",
            settings=("key_field",),
        )
    if several := tuple(key for key in system.texts if keys.get(key, 0) > 1):
        raise RecipeError(
            f"Of the ids in the predictions of {system.name}, {len(several)} may stand for several articles: "
            f"{_named(several)}. Give each article its own key, or submit one run for each dataset."
        )
    if strangers:
        yield (
            f"{len(strangers)} of the {len(system.texts)} predictions of {system.name} belong to no article and are "
            f"left out. Their ids: {_named(strangers)}."
        )
    if cut := tuple(key for key, text in system.texts.items() if text is None and key in keys):
        yield f"{len(cut)} predictions of {system.name} will fail (ids {_named(cut)}). Each {CUT_THOUGHTS}"
    if missing := tuple(key for key in keys if key not in system.texts):
        yield (
            f"{system.name} has no prediction for {len(missing)} of {sum(keys.values())} articles, which will fail for "
            f"it (keys {_named(missing)}). Other systems are compared with it on the other articles."
        )


def _named(keys: tuple[str, ...]) -> str:
    return ", ".join(map(repr, keys[:_NAMED])) + (", …" if len(keys) > _NAMED else "")


def shipped_name(file: str, sha256: str) -> str:
    """Return the name of a file among the shipped files."""
    return sha256 + Path(file).suffix


def find_file(file: str, sha256: str) -> Path:
    """Return the path of a file in a recipe: among the shipped files, or else where the recipe says."""
    shipped = SHIPPED / shipped_name(file, sha256)
    return shipped if sha256 and is_file(shipped) else Path(file)


def require_unchanged(file: str, was: str, is_now: str) -> None:
    """Refuse a file whose hash differs from the one in a recipe, if the recipe has one.

    Raises:
        RecipeError: the file was changed.
    """
    if was and was != is_now:
        raise RecipeError(
            f"{file} was changed: its SHA-256 was {was[:12]}… and is now {is_now[:12]}…. Restore it, or submit a new "
            "run."
        )


def files_to_ship(recipe: Mapping[str, Any]) -> dict[str, Path]:
    """Return the files that a pinned recipe names, by `shipped_name`. Files that are not on this machine are left out.

    Raises:
        RecipeError: a file was changed.
    """
    files: dict[str, Path] = {}
    named = [(prediction["file"], prediction["sha256"]) for prediction in recipe.get("predictions", ())]
    named += [(plugin["plugin"], plugin["sha256"]) for plugin in recipe.get("plugins", ())]
    for file, sha256 in named:
        path = find_file(file, sha256)
        if is_file(path):
            require_unchanged(file, sha256, file_sha256(path))
            files[shipped_name(file, sha256)] = path
    return files
