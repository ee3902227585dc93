"""`nws keysentences`: what it reads, finds and prints."""

import json
import re
import sys
from pathlib import Path

import pytest
from korean_tokenizers import korean_tokenizer
from rich.cells import cell_len

from core.errors import CorpusError, RecipeError
from core.systems import korean_textrank
from core.systems.kr_wordrank import rank_keywords
from jobs import cli
from jobs.tools.keysentences import N_KEYSENTS, N_KEYWORDS, read_documents, read_stopwords

pytest.importorskip("krwordrank", reason="the package krwordrank is not installed")

PAGE = Path(__file__).parents[3] / "docs" / "korean.md"


@pytest.fixture(scope="module", autouse=True)
def _kiwi() -> None:
    korean_tokenizer("kiwi")


@pytest.fixture
def nws(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Runs `nws keysentences …` in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("signal.signal", lambda *args: None)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["nws", "keysentences", *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        captured = capsys.readouterr()
        return int(stopped.value.code or 0), captured.out, captured.err

    return run


def blocks() -> list[str]:
    """The file, the command and its output on the page."""
    return re.findall(r"^```\w*\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    file = tmp_path / "library.txt"
    file.write_text(blocks()[0], encoding="utf-8")
    return file


def test_the_example_of_the_page(nws, library: Path) -> None:
    command, expected = blocks()[1].split("\n", 1)
    code, out, err = nws(*command.removeprefix("$ nws keysentences ").split())
    assert code == 0
    without_versions = [text.split("How they were found:")[0] for text in (out, expected)]
    assert without_versions[0] == without_versions[1]
    assert err.splitlines()[0] == "library.txt: 13 documents"  # a slow machine also says what it is at
    assert max(map(cell_len, out.splitlines())) <= 80


def test_json(nws, library: Path) -> None:
    code, out, _ = nws("library.txt", "--top", "2", "--diversity", "0.3", "--stopwords", "도서관, 책을", "--json")
    assert code == 0
    found = json.loads(out)
    assert list(found) == ["keywords", "sentences", "keyword_recall", "textrank", "signature"]
    documents = read_documents(library)
    assert found["keywords"] == [list(item) for item in rank_keywords(documents, {"도서관", "책을"}).items()][:2]
    assert re.search(r"krwordrank-[\d.]+\|.*stopwords:2,.*\|diversity:0\.3\|", found["signature"])
    assert list(found["textrank"]) == ["keywords", "sentences", "keyword_recall", "own_keyword_recall", "signature"]
    assert (
        found["textrank"]["keywords"]
        == [list(item) for item in korean_textrank.rank_keywords(documents, {"도서관", "책을"}).items()][:2]
    )
    assert "keywords:NNG,NNP,VA,XR;window:2" in found["textrank"]["signature"]
    cells = [(cell["n_keywords"], cell["n_keysents"]) for cell in found["textrank"]["own_keyword_recall"]]
    assert cells == [(words, sentences) for words in N_KEYWORDS for sentences in N_KEYSENTS]
    for method in (found, found["textrank"]):
        assert len(method["sentences"]) == 2
        assert set(method["sentences"]) <= set(documents)
        cells = [(cell["n_keywords"], cell["n_keysents"]) for cell in method["keyword_recall"]]
        assert cells == [(words, sentences) for words in N_KEYWORDS for sentences in N_KEYSENTS]
    assert nws("library.txt", "--top", "2", "--diversity", "0.3", "--stopwords", "도서관, 책을", "--json")[1] == out


def test_reads_what_stands_before_a_tab(tmp_path: Path) -> None:
    file = tmp_path / "f.txt"
    file.write_bytes("\ufeff하나 둘\t9\r\n\n \t3\n\t4\n셋\u2028넷\x85\r다섯\n각\t1\t2".encode())
    assert read_documents(file) == ["하나 둘", "셋 넷  다섯", "각"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "There is no file f.txt"),
        (b"", r"f\.txt holds no document"),
        (b" \n\t5\n", r"f\.txt holds no document"),
        ("좋아요\n영화".encode("cp949"), r"f\.txt, line 1: not valid UTF-8"),
        ("좋아요\n".encode() + b"\xff", r"f\.txt, line 2: not valid UTF-8"),
        ("좋아요".encode(), "KR-WordRank finds no keyword in 1 documents"),
    ],
)
def test_bad_files(nws, tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "f.txt").write_bytes(content)
    code, out, err = nws("f.txt")
    assert (code, out) == (1, "")
    assert re.search(message, err)
    assert "Traceback" not in err


def test_lines_without_hangul_are_refused_by_their_numbers(nws, tmp_path: Path) -> None:
    korean = ["음악이 정말 좋았어요\t9"] * 19
    (tmp_path / "c.txt").write_text("\n".join([*korean[:5], "", "this film was great\t10", *korean[5:-1], "so good"]))
    code, out, err = nws("c.txt")
    assert (code, out) == (1, "")
    assert "2 of 20 documents hold no Hangul, and 5 % may. They are on lines 7, 21. " in err
    (tmp_path / "c.txt").write_text("\n".join([*korean, "this film was great"]))
    assert len(read_documents(tmp_path / "c.txt")) == 20
    (tmp_path / "c.txt").write_text("A film.\n" * 30)
    with pytest.raises(CorpusError, match=r"30 of 30 documents .* on lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …\. "):
        read_documents(tmp_path / "c.txt")


@pytest.mark.parametrize(
    "arguments",
    [("--top", "0"), ("--top", "-3"), ("--diversity", "1.5"), ("--diversity", "nan"), ("--stopwords", "no/such.txt")],
)
def test_bad_options(nws, library: Path, arguments: tuple[str, str]) -> None:
    code, out, err = nws("library.txt", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("Error: ")
    assert arguments[0] in err


def test_stop_words_from_a_file_or_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "영화").write_text("\ufeff너무\n\n 정말 \r\n하나,둘\n", encoding="utf-8")
    assert read_stopwords("영화") == {"너무", "정말", "하나,둘"}
    assert read_stopwords("영화,너무, 정말 ,") == {"영화", "너무", "정말"}
    assert read_stopwords("음악") == {"음악"}
    long = ",".join(f"낱말{i}" for i in range(2000))
    assert len(read_stopwords(long)) == 2000


@pytest.mark.parametrize("given", ["", " , ", "missing.txt"])
def test_stop_words_that_cannot_be_read(given: str) -> None:
    with pytest.raises(RecipeError, match="--stopwords"):
        read_stopwords(given)
