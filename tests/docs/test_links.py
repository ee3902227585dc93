"""Every link of the pages leads to a file and a heading that exist, and each decision links to its code."""

import re
from pathlib import Path

import pytest
from doc_pages import PAGES, ROOT, prose

DECISIONS = sorted(ROOT.glob("docs/decisions/*.md"))
LINK = re.compile(r"\]\((?P<path>[^()\s#]*)(?:#(?P<anchor>[^()\s]*))?\)")


def anchors(page: str) -> set[str]:
    """The anchors that git hosts give to the headings of a page."""
    found: list[str] = []
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found.append(f"{slug}-{found.count(slug)}" if slug in found else slug)
    return set(found)


def broken_links(page: str, path: Path) -> list[str]:
    """The links that lead nowhere, as they are written."""
    broken = []
    for link in LINK.finditer(prose(page)):
        if "://" in link["path"] or link["path"].startswith("mailto:"):
            continue
        target = path.parent / link["path"]
        if not target.exists():
            broken.append(link[0])
        elif link["anchor"]:
            headings = target.read_text(encoding="utf-8") if link["path"] else page
            broken += [] if link["anchor"] in anchors(headings) else [link[0]]
    return broken


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: Path) -> None:
    assert broken_links(path.read_text(encoding="utf-8"), path) == []


def test_every_page_is_in_the_table() -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(docs/decisions/([\w-]+\.md)\)", contributing))
    assert linked == {page.name for page in DECISIONS}


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_every_decision_links_to_its_code(page: Path) -> None:
    """That the links lead somewhere is tested with those of all pages."""
    parts = page.read_text(encoding="utf-8").split("\n## ")[1:]
    assert parts
    assert [part.splitlines()[0] for part in parts if not re.search(r"^Code: (?s:.*)\]\(\.\./\.\./", part, re.M)] == []
