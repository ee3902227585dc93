"""Bytecode of another source is told from that of a file."""

import importlib.util
import os
import py_compile
from pathlib import Path

import pytest

from core.bytecode import has_stale_bytecode

UNCHECKED = py_compile.PycInvalidationMode.UNCHECKED_HASH


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "late.py"
    path.write_text("VALUE = 1\n")
    return path


def is_stale(source: Path) -> bool:
    return has_stale_bytecode(str(source), importlib.util.cache_from_source(str(source)))


def test_a_file_without_bytecode_and_with_its_own_is_not_stale(source: Path) -> None:
    assert not is_stale(source)
    assert not has_stale_bytecode(str(source), None)
    py_compile.compile(str(source))
    assert not is_stale(source)
    py_compile.compile(str(source), invalidation_mode=UNCHECKED)
    assert not is_stale(source)
    source.write_text("VALUE = 22\n")  # which Python sees
    py_compile.compile(str(source))
    source.write_text("VALUE = 1\n")
    assert not is_stale(source)


def test_unchecked_bytecode_is_compared_though_it_is_newer_than_an_edit(source: Path) -> None:
    compiled = Path(str(py_compile.compile(str(source), invalidation_mode=UNCHECKED)))
    source.write_text("VALUE = 2\n")
    compiled.touch()
    assert is_stale(source)


def test_bytecode_that_was_cut_off_is_not_the_sources(source: Path) -> None:
    os.utime(source, ns=(10**18, 10**18))
    compiled = Path(str(py_compile.compile(str(source))))
    compiled.write_bytes(compiled.read_bytes()[:30])
    os.utime(compiled, ns=(10**18, 10**18))
    assert is_stale(source)


def test_bytecode_of_what_is_no_python_any_more_is_not_the_sources(source: Path) -> None:
    py_compile.compile(str(source), invalidation_mode=UNCHECKED)
    source.write_text("VALUE = (\n")
    assert is_stale(source)
