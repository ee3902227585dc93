"""What the pages name exists: files, tests, names of Python, and keys of recipes."""

import ast
import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from doc_pages import PAGES, ROOT, blocks, codes

from nws.core.learning.training_config import Decoding, OptimizerConfig, PolicyConfig, ReinforceConfig
from nws.core.systems.predictions import PredictionsSpec
from nws.core.text.dataset import Dataset
from nws.jobs.recipes.base import BertScoreRecipe, RougeRecipe
from nws.jobs.recipes.phase2 import MethodRecipe, Phase2Recipe, RewardRecipe
from nws.jobs.recipes.sweep_recipe import BaselinesRecipe, EndpointRecipe, Phase1Recipe
from nws.jobs.store.tables import Base

FOLDERS = ("core", "cluster", "jobs", "tests", "bench", "docs", "examples", "alembic", ".ci")
PATH = re.compile(rf"(?:{'|'.join(map(re.escape, FOLDERS))})/[\w./-]*|[\w.-]+\.(?:py|md|toml|yaml|yml|txt)")
NOT_OURS = {"mine.py", "recipe.yaml", "library.txt", "jobs/store/migrations"}
"""Files of who reads the page, and what only a wheel has."""
TEST = re.compile(r"(?P<file>tests/[\w/]+\.py)::(?P<name>\w+)")
RECIPES = (
    *(Phase1Recipe, BaselinesRecipe, Phase2Recipe, Dataset, BertScoreRecipe, RougeRecipe, PredictionsSpec),
    *(EndpointRecipe, MethodRecipe, PolicyConfig, ReinforceConfig, OptimizerConfig, Decoding, RewardRecipe),
)
KEYS = frozenset(name for recipe in RECIPES for name in inspect.signature(recipe).parameters)


@cache
def file_names() -> frozenset[str]:
    """The names of all files of the repository, without their folders."""
    below = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    return frozenset(path.name for path in (*ROOT.iterdir(), *below))


FREE = ("weights", "labels", "parameters")
"""Keys whose own keys are names of a person's choice."""


def unknown_paths(page: str) -> list[str]:
    """Paths and files between backticks that the repository does not have; a name alone may be in any folder."""
    named = [code.split("::")[0].rstrip("/") for code in codes(page)]
    named += re.findall(r"<b>([\w/]+(?:\.py)?)", page)  # in a diagram
    paths = [name.rstrip("/") for name in named if PATH.fullmatch(name) and name not in NOT_OURS]
    return [path for path in paths if not ((ROOT / path).exists() if "/" in path else path in file_names())]


def unknown_tests(page: str) -> list[str]:
    """Tests, named as pytest names them, that are not in their file."""
    return [
        found[0]
        for found in TEST.finditer(page)
        if f"def {found['name']}(" not in (ROOT / found["file"]).read_text(encoding="utf-8")
    ]


def unknown_imports(page: str) -> list[str]:
    """What the Python of a page imports from NWS, or takes from `nws`, and is not there."""
    wrong = []
    for block in blocks(page):
        if block.language != "python" or block.text.startswith(">>>"):  # examples that another test runs
            continue
        for node in ast.walk(ast.parse(inspect.cleandoc("\n" + block.text))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nws."):
                module = importlib.import_module(node.module or "")
                wrong += [f"{node.module}.{name.name}" for name in node.names if not hasattr(module, name.name)]
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "nws":
                wrong += [] if hasattr(importlib.import_module("nws"), node.attr) else [f"nws.{node.attr}"]
    return wrong


def unknown_keys(page: str) -> list[str]:
    """Keys of the recipes, or parts of recipes, in a page's fenced blocks and in its text that no recipe has."""
    parts = [block.text for block in blocks(page) if block.language in {"", "yaml"} and block.text[0] != "{"]
    parts += [code for code in codes(page) if re.match(r"[a-z_]+: [^…]", code)]
    return [key for part in parts for key in _keys(part) if key not in KEYS]


def unknown_columns(page: str) -> list[str]:
    """Columns, named as `table.column`, that their table does not have; `policies.png` and its like are files."""
    tables = Base.metadata.tables
    named = [code.split(".") for code in codes(page) if re.fullmatch(r"\w+\.(?!py|csv|tex|png|svg|json)\w+", code)]
    return [f"{table}.{column}" for table, column in named if table in tables and column not in tables[table].columns]


def _keys(part: str) -> list[str]:
    """The keys of a block of YAML at any depth; none of a block that is something else."""
    try:
        read = yaml.safe_load(part)
    except yaml.YAMLError:
        return []

    def of(value: object) -> list[str]:
        if isinstance(value, dict):
            below = [key for name, one in value.items() if name not in FREE for key in of(one)]
            return [*map(str, value), *below]
        return [key for one in value for key in of(one)] if isinstance(value, list) else []

    return of(read) if isinstance(read, dict) else []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_what_a_page_names_exists(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert unknown_paths(page) == []
    assert unknown_tests(page) == []
    assert unknown_imports(page) == []
    assert unknown_keys(page) == []
    assert unknown_columns(page) == []


def test_the_defaults_of_a_training_are_those_of_the_page() -> None:
    """Rows of the table whose default is a number or a name."""
    page = (ROOT / "docs" / "phase2.md").read_text(encoding="utf-8")
    table = page[page.index("## Defaults") :].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in table.splitlines() if line.startswith("|")][2:]
    defaults = {
        name: one.default
        for recipe in (Phase2Recipe, MethodRecipe, PolicyConfig, ReinforceConfig, OptimizerConfig)
        for name, one in inspect.signature(recipe).parameters.items()
    }
    checked = 0
    for what, told, _ in rows:
        default = defaults.get(what.split(" ")[0])
        if isinstance(default, bool):
            assert told == ("on" if default else "off"), what
        elif isinstance(default, int | float):
            assert float(told.split(",")[0]) == default, what
        elif isinstance(default, str):
            assert told == f"`{default}`", what
        checked += isinstance(default, bool | int | float | str)
    assert checked >= 12
