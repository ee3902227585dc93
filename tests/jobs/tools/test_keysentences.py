"""`nws keysentences`: what it reads, finds and prints."""

import re
from pathlib import Path

import pytest
from korean_tokenizers import korean_tokenizer
from rich.cells import cell_len

from nws.core.errors import CorpusError
from nws.core.systems.korean_key_sentences import textrank_keywords, wordrank_keywords
from nws.jobs.tools.keysentences import N_KEYSENTS, N_KEYWORDS, read_documents, read_stopwords

pytest.importorskip("krwordrank", reason="the package krwordrank is not installed")

PAGE = Path(__file__).parents[3] / "docs" / "korean.md"


@pytest.fixture(scope="module", autouse=True)
def _kiwi() -> None:
    korean_tokenizer("kiwi")


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
    found = nws(*command.removeprefix("$ nws ").split())
    assert found.code == 0
    lines = [line.rstrip() for line in found.out.splitlines()]
    beginning, _, end = expected.partition("…\n")
    assert "\n".join(lines).startswith(beginning)
    assert end in "\n".join(lines)
    assert found.err.splitlines()[0] == "library.txt: 13 documents"  # a slow machine also says what it is at
    assert max(map(cell_len, lines)) <= 80


def test_json(nws, library: Path) -> None:
    asked = ("keysentences", "library.txt", "--top", "2", "--diversity", "0.3", "--stopwords", "도서관, 책을", "--json")
    found = nws(*asked).json
    documents, stopwords = read_documents(library), {"도서관", "책을"}
    cells = [(words, sentences) for words in N_KEYWORDS for sentences in N_KEYSENTS]
    for method, rank in ((found, wordrank_keywords), (found["textrank"], textrank_keywords)):
        assert method["keywords"] == [list(item) for item in rank(documents, stopwords).items()][:2]
        assert len(method["sentences"]) == 2
        assert set(method["sentences"]) <= set(documents)
        assert [(cell["n_keywords"], cell["n_keysents"]) for cell in method["keyword_recall"]] == cells
    assert len(found["textrank"]["own_keyword_recall"]) == len(cells)
    assert re.search(r"krwordrank-[\d.]+\|.*stopwords:2,.*\|diversity:0\.3\|", found["signature"])
    assert "keywords:NNG,NNP,VA,XR;window:2" in found["textrank"]["signature"]


def test_reads_what_stands_before_a_tab(tmp_path: Path) -> None:
    file = tmp_path / "f.txt"
    file.write_bytes("\ufeff하나 둘\t9\r\n\n \t3\n\t4\n셋\u2028넷\x85\r다섯\n각\t1\t2".encode())
    assert read_documents(file) == ["하나 둘", "셋 넷  다섯", "각"]


def test_stop_words_from_a_file_or_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "영화").write_text("\ufeff너무\n\n 정말 \r\n하나,둘\n", encoding="utf-8")
    assert read_stopwords("영화") == {"너무", "정말", "하나,둘"}
    assert read_stopwords("영화,너무, 정말 ,") == {"영화", "너무", "정말"}
    assert read_stopwords("음악") == {"음악"}
    long = ",".join(f"낱말{i}" for i in range(2000))
    assert len(read_stopwords(long)) == 2000


KOREAN = "음악이 정말 좋았어요\t9"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "f.txt cannot be read: .*No such file"),
        (b" \n\t5\n", r"f\.txt holds no document"),
        ("좋아요\n".encode() + b"\xff", r"f\.txt, line 2: not valid UTF-8"),
        ("좋아요".encode(), "KR-WordRank finds no keyword in 1 documents"),
        (
            "\n".join([*[KOREAN] * 5, "", "this film was great\t10", *[KOREAN] * 13, "so good"]).encode(),
            r"2 of 20 documents have no Hangul \(5 % may\)\. The first is on line 7\. ",
        ),
        ("\n".join([f"10{i}\t{KOREAN}" for i in range(9)]).encode(), r"another column .* cut -f2 FILE"),
    ],
)
def test_bad_files(nws, tmp_path: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "f.txt").write_bytes(content)
    found = nws("keysentences", "f.txt")
    assert (found.code, found.out) == (1, "")
    assert re.search(message, found.err)


def test_a_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"text": "음악이 정말 좋았어요"}', encoding="utf-8")
    with pytest.raises(CorpusError, match=r"c\.jsonl is a table: write its texts to a file of text"):
        read_documents(tmp_path / "c.jsonl")
    for table in ('{"text": "음악이 정말 좋았어요"}', "\ufeffid\tdocument\tlabel\n1\t음악이 정말 좋았어요\t0"):
        (tmp_path / "c.txt").write_text(table, encoding="utf-8")
        with pytest.raises(CorpusError, match=r"c\.txt is a table: write its texts to a file of text"):
            read_documents(tmp_path / "c.txt")


def test_a_carriage_return_ends_a_document_where_nothing_else_does(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("하나 둘\r셋\t9\r", encoding="utf-8", newline="")
    assert read_documents(tmp_path / "c.txt") == ["하나 둘", "셋"]


def test_a_line_without_hangul_among_twenty_stays(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("\n".join([*[KOREAN] * 19, "this film was great"]))
    assert len(read_documents(tmp_path / "c.txt")) == 20


@pytest.mark.parametrize("option", [("--top", "0"), ("--diversity", "1.5"), ("--stopwords", "no/such.txt")])
def test_bad_options(nws, library: Path, option: tuple[str, str]) -> None:
    found = nws("keysentences", "library.txt", *option)
    assert (found.code, found.out) == (2, "")
    assert option[0] in found.err
