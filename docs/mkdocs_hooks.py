"""What mkdocs.yml cannot say: pages for linked files outside of docs/, the command line's reference, formulas.

Pages link to other files of the repository by relative paths, as git hosts follow them. On the site each such file
has a page under `repository/`, and links lead there. mkdocs calls the public functions by their names ("hooks").
"""

import html
import inspect
import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from typer.main import get_command

from nws.core.learning.training_config import Decoding, OptimizerConfig, PolicyConfig, ReinforceConfig
from nws.core.systems.predictions import PredictionsSpec
from nws.core.text.dataset import Dataset
from nws.jobs.cli import app
from nws.jobs.recipes.base import BertScoreRecipe, RougeRecipe, RunRecipe, attributes
from nws.jobs.recipes.phase2 import MethodRecipe, Phase2Recipe, RewardRecipe
from nws.jobs.recipes.sweep_recipe import BaselinesRecipe, EndpointRecipe, Phase1Recipe

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"(?<=\]\()(?P<path>[^()\s#:]+)(?P<anchor>#[^()\s]*)?(?=\))")
FORMULA = re.compile(r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<tex>.*?)\\[)\]]</(?P=tag)>', re.DOTALL)
HELP_WIDTH = 100
NOT_TEXT = {".ipynb", ".png"}
UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n"
RECIPES: dict[str, type] = {
    "Every job": RunRecipe,
    "phase1": Phase1Recipe,
    "baselines": BaselinesRecipe,
    "phase2": Phase2Recipe,
    "datasets, train_datasets": Dataset,
    "bertscore": BertScoreRecipe,
    "rouge": RougeRecipe,
    "predictions": PredictionsSpec,
    "endpoint": EndpointRecipe,
    "methods": MethodRecipe,
    "policies": PolicyConfig,
    "reinforce": ReinforceConfig,
    "optimizer": OptimizerConfig,
    "decodings": Decoding,
    "reward": RewardRecipe,
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each file outside of docs/ that a page links to, or that a page links to that was added."""
    waiting = [DOCS / file.src_uri for file in files.documentation_pages()]
    while waiting:
        for linked in _linked(waiting.pop()):
            uri = _uri(linked)
            if not linked.is_relative_to(DOCS) and files.get_file_from_path(uri) is None:
                files.append(_added(linked, uri, config))
                waiting.append(linked)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let links lead to where their files are on the site, and add the references that are made from the code."""
    uri = page.file.src_uri
    if uri.startswith("repository/"):
        return markdown
    moved = _moved(markdown, DOCS / uri, uri)
    return moved + {"cli.md": _commands, "recipes.md": _recipe_keys}.get(uri, str)()


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn formulas into MathML, which browsers show without a script; show escaped bars in tables as git hosts do."""

    def formula(found: re.Match[str]) -> str:
        return convert(html.unescape(found["tex"]), display="block" if found["tag"] == "div" else "inline")

    with_formulas = FORMULA.sub(formula, content)
    return re.sub(r"<td.*?</td>", lambda cell: cell[0].replace(r"\|", "|"), with_formulas, flags=re.DOTALL)


def _linked(path: Path) -> Iterator[Path]:
    """The files and folders of the repository that a page links to, or that a folder's page lists."""
    if path.is_dir():
        yield from sorted(path.iterdir())
    elif path.suffix == ".md":
        for link in LINK.finditer(path.read_text(encoding="utf-8")):
            target = (path.parent / link["path"]).resolve()
            if target.exists():
                yield target


def _uri(path: Path) -> str:
    """Where a file or folder of the repository is among the pages of the site."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    named = f"repository/{path.relative_to(ROOT).as_posix()}"
    if path.is_dir():
        return f"{named}/index.md"
    return named if path.suffix in {".md", *NOT_TEXT} else f"{named}.md"


def _added(path: Path, uri: str, config: MkDocsConfig) -> File:
    """The page of a file or folder outside of docs/; what is no text is taken as it is."""
    if path.suffix in NOT_TEXT:
        return File.generated(config, uri, abs_src_path=str(path))
    if path.is_dir():
        lines = [f"* [{one.name}]({posixpath.relpath(_uri(one), posixpath.dirname(uri))})" for one in _linked(path)]
        content = f"{UNSEARCHED}# {path.relative_to(ROOT)}\n\n" + "\n".join(lines)
    elif path.suffix == ".md":
        content = _moved(path.read_text(encoding="utf-8"), path, uri)
    else:
        text = path.read_text(encoding="utf-8")
        content = f"{UNSEARCHED}# {path.relative_to(ROOT)}\n\n````{path.suffix[1:]}\n{text}\n````\n"
    return File.generated(config, uri, content=content, inclusion=InclusionLevel.NOT_IN_NAV)


def _moved(markdown: str, path: Path, uri: str) -> str:
    """The text of the file `path`, with its links as they must be on the page `uri`."""

    def moved(link: re.Match[str]) -> str:
        target = (path.parent / link["path"]).resolve()
        if not target.exists():
            return link[0]
        return posixpath.relpath(_uri(target), posixpath.dirname(uri)) + (link["anchor"] or "")

    return LINK.sub(moved, markdown)


def _commands() -> str:
    """A section for each command with what its `--help` prints."""
    return "\n\n" + "\n\n".join(
        f"## {name}\n\n```text\n{help_text}\n```" for name, help_text in _help(get_command(app), "nws")
    )


def _help(command: Any, name: str) -> Iterator[tuple[str, str]]:
    """The name and the help of a command and of all below it, without the hidden ones."""
    context = command.context_class(command, info_name=name, terminal_width=HELP_WIDTH)
    yield name, command.get_help(context)
    for part, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield from _help(below, f"{name} {part}")


def _recipe_keys() -> str:
    """A section for each class of a recipe: its keys as its docstring explains them, with their defaults."""
    parts = []
    for heading, recipe in RECIPES.items():
        text = inspect.getdoc(recipe) or ""
        told = attributes(recipe)
        rows = [
            f"| `{name}` | {told.get(name, '')} | {_default(key.default)} |"
            for name, key in inspect.signature(recipe).parameters.items()
        ]
        parts += [f"## {heading}", re.split(r"\n\n(?:Attributes|Raises):", text)[0]]
        parts += ["\n".join(["| key | what it says | default |", "| --- | --- | --- |", *rows])]
    return "\n\n" + "\n\n".join(parts)


def _default(value: object) -> str:
    """A key's default as YAML has it; of a key with keys of its own: theirs."""
    if value is inspect.Parameter.empty:
        return "none: has to be given"
    try:
        return f"`{json.dumps(value)}`"
    except TypeError:
        return "those of its keys"
