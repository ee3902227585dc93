"""The pages that people read, and their parts: fenced blocks, code in a line, command lines."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+) *(?P<language>\w*)\n(?P<block>.*?)^ *(?P=fence)$", re.M | re.S)
_CODE = re.compile(r"(?<!`)`(?P<code>[^`]+)`(?!`)")
_BEFORE_NWS = r"(?:\w+=\S+ +)*(?:docker (?:compose )?run .*? )?(?:\S*bin/)?"
_NWS = re.compile(rf"(?:^|[|;(] *|&& *){_BEFORE_NWS}nws (?P<words>[^\n]*)", re.M)


@dataclass(frozen=True)
class Block:
    """A fenced block: the language that is named behind its fence ("" without one), and what is in it."""

    language: str
    text: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page."""
    return [Block(found["language"], found["block"]) for found in _FENCE.finditer(page)]


def prose(page: str) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", page)


def codes(page: str) -> list[str]:
    """What stands between backticks, outside of fenced blocks, on one line each."""
    return [" ".join(found["code"].split()) for found in _CODE.finditer(prose(page))]


def commands(lines: str) -> list[list[str]]:
    """The words behind `nws` of each command line; what the shell adds is cut off."""
    lines = lines.replace("\\\n", " ")
    lines = re.sub(r"(^|\n)\$ ", r"\1", lines)
    return [_own_words(found["words"]) for found in _NWS.finditer(lines) if "…" not in _without_comment(found["words"])]


def _own_words(words: str) -> list[str]:
    """The words of one command, up to a comment, a pipe, a redirection or the next command."""
    try:
        split = shlex.split(words, comments=True)
    except ValueError:  # a quote that ends on a later line
        split = words.split()
    ends = [place for place, word in enumerate(split) if word in {"|", "&&", ";", ">", ">>", "<", "&"}]
    return split[: ends[0]] if ends else split


def _without_comment(words: str) -> str:
    return re.sub(r"\s#.*", "", words)
