"""`nws.summarize` writes with exported policies."""

from pathlib import Path

import nws
from nws.core.learning.writer import load_writer

TEXT = "Snow closed the schools of the town on Monday. The mayor said that they may open again on Thursday."


def test_it_writes_what_the_policies_write(workplace: Path) -> None:
    written = nws.summarize(TEXT, n=7, policy=workplace / "my-policy")
    assert [written] == load_writer(workplace / "my-policy").write(TEXT, [7])
    assert len(written.split()) == 7
