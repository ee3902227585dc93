"""Plugins of a run: a stage for each that has systems, and metrics in every stage."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.errors import RecipeError
from core.plugins.load import Plugin, PluginSpec, read_plugin
from core.plugins.plugin_metric import PluginMetric, plugin_metrics
from core.plugins.plugin_system import plugin_systems
from core.summarizers.extractive_baselines import BASELINES
from core.summarizers.generators import KNOWN_GENERATORS
from jobs.plan.own_files import find_file, require_unchanged
from jobs.plan.pinned import Pinned, PlannedStage, name_systems
from jobs.store import Stage


def with_plugins(pinned: Pinned) -> Pinned:
    """A run with the systems and metrics of its recipe's plugins. It runs their code.

    Raises:
        PluginError: a plugin cannot be found or imported, or a system or metric of it is none.
        RecipeError: two systems or two metrics have one name, or a plugin is not what it was.
    """
    specs, plugins = [], []
    for spec in pinned.recipe.plugins:
        plugin = read_plugin(spec, find_file(spec.plugin, spec.sha256))
        require_unchanged(spec.plugin, spec.sha256, plugin.sha256)
        specs.append(PluginSpec(_pinned_name(spec), plugin.sha256))
        plugins.append(plugin)
    measured = _with_metrics(pinned, [metric for plugin in plugins for metric in plugin_metrics(plugin)])
    return replace(
        measured,
        recipe=pinned.recipe.model_copy(update={"plugins": tuple(specs)}),
        stages=_with_systems(measured, [plugin for plugin in plugins if plugin.systems()]),
        revisions=pinned.revisions
        | {
            "plugins": {plugin.name: _revision(plugin) for plugin in plugins},
            "libraries": {name: version for plugin in plugins for name, version in plugin.libraries}
            | pinned.revisions["libraries"],
        },
    )


def _with_metrics(pinned: Pinned, metrics: Sequence[PluginMetric]) -> Pinned:
    """The run with these metrics in every stage."""
    names = [metric.name for metric in metrics]
    for metric in metrics:
        if names.count(metric.name) > 1:
            raise RecipeError(f"Two plugins have a metric {metric.name!r}: rename one of them.")
    config = replace(pinned.metrics, plugins=tuple(metrics))
    stages = tuple(replace(planned, plan=replace(planned.plan, metrics=config)) for planned in pinned.stages)
    return replace(pinned, metrics=config, stages=stages)


def _with_systems(pinned: Pinned, plugins: Sequence[Plugin]) -> tuple[PlannedStage, ...]:
    """The stages of the run, and one more for each of these plugins."""
    if not plugins:
        return pinned.stages
    stages = list(map(name_systems, pinned.stages))
    encoders = next((planned.plan.encoders for planned in pinned.stages if planned.plan.encoders), ())
    taken = {*pinned.systems, *BASELINES, *KNOWN_GENERATORS}
    for plugin in plugins:
        systems = plugin_systems(plugin, [encoder.name for encoder in encoders])
        if twice := [system.name for system in systems if system.name in taken]:
            raise RecipeError(f"The system {twice[0]!r} of {plugin.name} has the name of another system: rename it.")
        taken |= {system.name for system in systems}
        plan = replace(
            pinned.stages[0].plan, systems=systems, encoders=encoders if any(s.encoders for s in systems) else ()
        )
        stages.append(PlannedStage(Stage(f"plugin {plugin.name}", plan.signatures), replace(plan, generator=None)))
    return tuple(stages)


def _pinned_name(spec: PluginSpec) -> str:
    is_new_file = spec.plugin.endswith(".py") and not spec.sha256
    return str(Path(spec.plugin).resolve()) if is_new_file else spec.plugin


def _revision(plugin: Plugin) -> str:
    version = f" of {plugin.version}" if plugin.version else ""
    named = (("systems", plugin.systems()), ("metrics", plugin.metrics()))
    has = "".join(f"|{kind}: {', '.join(names)}" for kind, names in named if names)
    return f"{plugin.name}{version}@sha256:{plugin.sha256}{has}"
