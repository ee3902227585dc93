"""Garbage, drawn with a seed: it gives an error in words, never a traceback, and leaves nothing half-written.

The default run draws 100 cases, `make test-slow` 400 others, `make fuzz` 10,000; NWS_FUZZ_CASES and NWS_FUZZ_SEED
choose. A failure names its case: the same seed draws it again.
"""

import contextlib
import importlib.util
import json
import math
import os
import random
import string
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow.parquet
import pytest

from nws.core.article import Article
from nws.core.errors import NwsError, RecipeError
from nws.core.metrics.config import Options
from nws.core.metrics.metric import Row
from nws.core.metrics.registry import METRICS, NEED_BACKBONE, make_metric
from nws.core.metrics.specs import BY_MODEL
from nws.core.systems.composition import compose
from nws.core.text.dataset import Dataset, open_dataset
from nws.core.text.segmentation import Segmenter
from nws.jobs.recipes.load import BUNDLED, RECIPES, load_recipe, recipe_class
from nws.jobs.store import open_store

CASES = int(os.environ.get("NWS_FUZZ_CASES", "100"))
SEED = int(os.environ.get("NWS_FUZZ_SEED", "0"))
KINDS = 6
NUMBERS = range(0)

ALPHABETS = (
    string.ascii_letters + "     .,\n",
    string.printable,
    "()[]{}<>\"'`“”‘’«»-–—_=*#@%&/\\|~^…·•!?.,:; ab1",
    "가나다라마바사아자 .,\n안녕하세요",
    "\0\x01\x07\x08\x1b\x7f\x85\x9b\xa0\u200b\u200d\u2028\u2029\u202e\ufeff\ufffd a",
    "é\u0301\u0300ñ한\u1112\u1161\u11ab😀👩\u200d👩🏽‍🚀 𝔘𝔫𝔦 ﷺ ﬁ Ⅷ ½ ٣ ａ",
    "\ud800\udcff\udfff a",
    "0123456789+-.eE_,∞",
    "абвгд ヲンあいう 中文字 עברית عربي ไทย",
)
WORDS = ("", " ", "0", "-1", "1e999", "nan", "inf", "null", "true", "None", "9" * 30, "9" * 5000, "n" * 5000)
WORDS += ("../..", "/", "~", "*")
VALUES = (None, True, 0, -1, 10**30, 1.5, "", " ", [], {}, [[]], [None], {"a": {}}, "[" * 3000 + "]" * 3000, "['a', 1]")


def draw_text(draw: random.Random, longest: int = 400) -> str:
    """Text of one alphabet or of several."""
    alphabet = draw.choice(ALPHABETS) + (draw.choice(ALPHABETS) if draw.random() < 0.3 else "")
    found = "".join(draw.choices(alphabet, k=draw.randrange(longest)))
    return found * draw.choice((1, 1, 1, 1, 20))


def draw_word(draw: random.Random) -> str:
    """A value of an option, or a name."""
    return draw.choice(WORDS) if draw.random() < 0.5 else draw_text(draw, 30)


def mutated(draw: random.Random, content: bytes) -> bytes:
    """The bytes with some of them changed, cut out, doubled or put in."""
    found = bytearray(content)
    for _ in range(draw.choice((0, 1, 1, 2, 10))):
        start = draw.randrange(len(found) + 1)
        end = min(len(found), start + draw.choice((1, 1, 4, 50)))
        piece = bytes(found[start:end])
        found[start:end] = draw.choice(
            (b"", piece + piece, draw.randbytes(len(piece)), b"\xff", b"\0", b'"', b"[" * 2000, b"\n", b"*a", b": ")
        )
    return bytes(found)


def draw_rows(draw: random.Random) -> list[dict[str, object]]:
    """Rows of a dataset or of predictions, some fields missing or of another type."""
    names = ["id", "article", "text", "highlights", "summary", "references", "prediction", "reference", "source"]
    names.append("x\x1b")
    found: list[dict[str, object]] = []
    for number in range(draw.randrange(4)):
        row: dict[str, object] = {name: draw_text(draw) for name in names if draw.random() < 0.7}
        row["id"] = number
        if draw.random() < 0.3:
            row[draw.choice(names)] = draw.choice(VALUES)
        found.append(row)
    return found


def draw_file(draw: random.Random, folder: Path) -> Path:
    """A JSONL, CSV or Parquet file, whole or damaged."""
    kind = draw.choice(("jsonl", "csv", "parquet"))
    path = folder / f"fuzz.{kind}"
    if kind == "parquet":
        pyarrow.parquet.write_table(_table(draw), path, compression=draw.choice(("none", "zstd", "snappy")))
        content = path.read_bytes()
    elif kind == "jsonl":
        content = "\n".join(json.dumps(row) for row in draw_rows(draw)).encode()
    else:
        cells = ([draw_text(draw, 50) for _ in range(3)] for _ in range(draw.randrange(4)))
        content = "\r\n".join(
            ",".join(map(json.dumps, line)) for line in (["id", "article", "summary"], *cells)
        ).encode()
    path.write_bytes(mutated(draw, content) if draw.random() < 0.7 else content)
    return path


def _table(draw: random.Random) -> pyarrow.Table:
    size = draw.randrange(4)
    columns: Sequence[pyarrow.Array] = (
        pyarrow.array([draw_text(draw).encode("utf-8", "replace").decode() for _ in range(size)], pyarrow.string()),
        pyarrow.array([draw.randbytes(9) for _ in range(size)], pyarrow.binary()).view(pyarrow.string()),
        pyarrow.array([draw.randrange(-(2**31), 2**31) for _ in range(size)], pyarrow.int32()).cast(pyarrow.date32()),
        pyarrow.array([[] for _ in range(size)], pyarrow.list_(pyarrow.string())),
        pyarrow.array([None] * size, pyarrow.string()),
        pyarrow.array([draw.randrange(2**63) for _ in range(size)], pyarrow.int64()).view(pyarrow.duration("ns")),
    )
    names = ("article", "summary", "id", "printed", "reference", "prediction")
    return pyarrow.Table.from_arrays([draw.choice(columns) for _ in names], names=list(names))


def draw_recipe(draw: random.Random, bundled: Sequence[Path]) -> bytes:
    """A bundled recipe with wrong values or damaged bytes."""
    lines = draw.choice(bundled).read_text(encoding="utf-8").splitlines()
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(lines))
        key, colon, _ = lines[at].partition(":")
        lines[at] = (
            f"{key}{colon} {draw.choice((draw_word(draw), json.dumps(draw.choice(VALUES)), '2024-99-99', '*a', '!!x'))}"
        )
    return mutated(draw, "\n".join(lines).encode("utf-8", "surrogatepass"))


@pytest.fixture(params=[(0, 1), pytest.param((1, 5), marks=pytest.mark.slow)], ids=["few", "many"], autouse=True)
def _cases(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of the cases are drawn: the default ones, or four times as many others."""
    first, end = request.param
    monkeypatch.setitem(globals(), "NUMBERS", range(first * CASES // KINDS, end * CASES // KINDS))


def fuzz(kind: str, case: Callable[[random.Random], None]) -> None:
    """Draw this kind's share of the cases."""
    for number in NUMBERS:
        try:
            case(random.Random(f"{SEED} {kind} {number}"))
        except BaseException as error:
            raise AssertionError(f"{kind}: case {number} of NWS_FUZZ_SEED={SEED}") from error


def test_readers(tmp_path: Path) -> None:
    def case(draw: random.Random) -> None:
        path = draw_file(draw, tmp_path)
        fields = {name: draw.choice((None, None, "article", draw_word(draw))) for name in ("text_field", "key_field")}
        limit = draw.choice((None, 1, 10**30))
        try:
            articles = list(open_dataset(Dataset(str(path), limit=limit, **fields)))
        except NwsError:
            return
        for article in articles:
            for text in (article.text, article.key, *article.references):
                assert "\0" not in text
                text.encode()

    fuzz("readers", case)


def test_recipes(tmp_path: Path) -> None:
    bundled = sorted(BUNDLED.glob("*/*.yaml"))

    def case(draw: random.Random) -> None:
        path = tmp_path / "fuzz.yaml"
        path.write_bytes(draw_recipe(draw, bundled))
        kind = recipe_class(draw.choice(sorted(RECIPES)))
        overrides = {"datasets.limit": draw.choice((1, 10**30, "x"))} if draw.random() < 0.3 else {}
        try:
            recipe = load_recipe(kind, str(path), overrides)
        except RecipeError:
            return
        assert len(recipe.hash) == 64
        json.dumps(recipe.model_dump(mode="json"), allow_nan=False)

    fuzz("recipes", case)


def test_command_line(nws, tmp_path: Path) -> None:
    open_store("sqlite:///nws.db").close()
    (tmp_path / "good.jsonl").write_text('{"prediction": "a b", "reference": "a c"}\n')
    (tmp_path / "good.txt").write_text("한국은 아름다운 나라\n" * 9)

    def unusable(draw: random.Random) -> str:
        return draw.choice(("x", "", "--", "nan", "1e999", "-5", "0.5.5", "\udce9", "\x1b[2J")) + draw_text(draw, 5)

    def case(draw: random.Random) -> None:
        broken = tmp_path / "broken.jsonl"
        broken.write_bytes(b'{"prediction": "\xff' + mutated(draw, draw.randbytes(40)))
        bad = f"x{draw_word(draw)}".replace("\0", "")  # no command line holds a NUL
        number = unusable(draw).replace("\0", "")
        command = draw.choice(
            (
                (bad,),
                (draw.choice(("ls", "status", "report", "submit", "db")), f"--{bad}"),
                (draw.choice(("status", "logs", "report", "cancel", "resume", "compare", "export", "show")), bad),
                ("query", bad),
                ("ls", "--store", draw.choice((bad, f"sqlite:///none/{bad}", f"postgres:/{bad}"))),
                ("score", str(broken), "--per-row", "rows.jsonl"),
                ("score", "good.jsonl", "--metrics", bad, "--per-row", "rows.jsonl"),
                ("score", "good.jsonl", "--seed", "x" + number),
                ("score", bad),
                ("score", "good.jsonl", "--per-row", f"none/{bad}"),
                ("keysentences", draw.choice((bad, str(broken)))),
                ("keysentences", "good.txt", "--diversity", draw.choice(("2", "-1", "x" + number))),
                ("correlate", draw.choice((bad, str(broken))), "--metrics", bad, "--human", "h"),
                ("judge", draw.choice((bad, str(broken))), "--model", "m", "-o", "judged.jsonl", "--dry-run"),
                ("judge", "good.jsonl", "--model", "m", "-o", bad),
                ("judge", "good.jsonl", "--model", "m", "-o", "judged.jsonl", "--scale", "x" + number),
                ("judge", "good.jsonl", "--model", "m", "-o", "judged.jsonl", "--prompt", bad),
                ("export", bad, "--policy", "policies"),
                ("submit", "phase1", "--dry-run", "--dataset", draw.choice((bad, str(broken)))),
                ("submit", draw.choice(sorted(RECIPES)), "--dry-run", "--recipe", bad),
                ("submit", "phase1", "--dry-run", "--n", "x" + number),
                ("submit", "baselines", "--dry-run", draw.choice(("--encoder", "--system", "--pipeline")), bad),
                ("submit", "phase1", draw.choice(("--engine", "--address")), bad),
                ("submit", "phase1", "--dry-run", draw.choice(("--limit", "--seed", "--actors")), "x" + number),
            )
        )
        before = sorted(path.name for path in tmp_path.iterdir())
        result = nws(*command)
        assert result.code in (1, 2), (command, result.out)
        assert result.err.strip(), command
        assert "Traceback" not in result.err, (command, result.err)
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted({*before, "broken.jsonl"}), command

    fuzz("command line", case)


def test_segmentation_and_composition() -> None:
    pipelines = ["blank", *(["kiwi"] if importlib.util.find_spec("kiwipiepy") else [])]
    segmenters = {pipeline: Segmenter(pipeline) for pipeline in pipelines}

    def case(draw: random.Random) -> None:
        segmenter = segmenters[draw.choice(("blank", "blank", pipelines[-1]))]
        try:
            segmented = segmenter(Article("d", "s", "k", draw_text(draw, 300), ("r",)))
        except NwsError:
            return
        words = segmented.words
        assert [i for one in segmented.sentences for i in range(one.start, one.end)] == list(range(len(words)))
        assert all(chunk.text == " ".join(words[chunk.start : chunk.end]) for chunk in segmented.chunks)
        ranking = draw.sample(range(len(segmented.chunks)), draw.randrange(len(segmented.chunks) + 1))
        n = draw.choice((1, 7, 21, 10**9))
        assert len(compose(segmented, ranking, n).split()) == min(n, len(words))

    fuzz("segmentation and composition", case)


def test_metrics() -> None:
    names = sorted(set(METRICS) - {*NEED_BACKBONE, *BY_MODEL})
    metrics = [make_metric(name, Options(tokenizer=t)) for name in names for t in (None, "char")]

    def case(draw: random.Random) -> None:
        texts = [draw_text(draw, 200).encode("utf-8", "replace").decode() for _ in range(4)]
        row = Row(texts[0], tuple(texts[1 : draw.choice((2, 3))]), texts[3])
        for metric in draw.sample(metrics, 4):
            try:
                found = metric.score(metric.statistics([row]))
            except NwsError:
                continue
            assert all(math.isfinite(value) for value in found)

    fuzz("metrics", case)


def test_queries(nws) -> None:
    with open_store("sqlite:///nws.db") as store:
        tables = ("runs", "summaries", "leaderboard", "articles")

        def case(draw: random.Random) -> None:
            sql = f"SELECT {draw_word(draw)} FROM {draw.choice(tables)} {draw_text(draw, 20)}"
            with contextlib.suppress(NwsError), store.query(sql) as answer:
                list(answer.rows)
            for call in (store.run_info, store.log, store.failures):
                with contextlib.suppress(NwsError):
                    call(draw_word(draw))

        fuzz("queries", case)
