"""The pages of docs/decisions: each is found from the index, and each decision says where its code is."""

import re
from pathlib import Path

import pytest
from doc_pages import ROOT

PAGES = sorted(ROOT.glob("docs/decisions/*.md"))


def test_every_page_is_in_the_table() -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(docs/decisions/([\w-]+\.md)\)", contributing))
    assert linked == {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_decision_links_to_its_code(page: Path) -> None:
    """That the links lead somewhere is tested with those of all pages."""
    parts = page.read_text(encoding="utf-8").split("\n## ")[1:]
    assert parts
    assert [part.splitlines()[0] for part in parts if not re.search(r"^Code: (?s:.*)\]\(\.\./\.\./", part, re.M)] == []
