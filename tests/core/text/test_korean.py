import itertools
import unicodedata
from collections.abc import Callable, Iterator

import pytest
from korean_tokenizers import korean_tokenizer

from nws.core.article import Article, SegmentedArticle
from nws.core.text.cutting import MAX_CHUNK_WORDS
from nws.core.text.dataset import Dataset, open_dataset
from nws.core.text.korean import load_kiwi
from nws.core.text.length import word_spans
from nws.core.text.segmentation import Segmenter

Segment = Callable[[str], SegmentedArticle]
PUNCTUATION = {"SF", "SP", "SS", "SSO", "SSC", "SE", "SO"}


@pytest.fixture(scope="module")
def segment() -> Segment:
    korean_tokenizer("kiwi")
    segmenter = Segmenter("kiwi")
    return lambda text: segmenter(Article("d", "all", "k", text, ("요약",)))


@pytest.fixture(scope="module")
def sample(segment: Segment) -> list[SegmentedArticle]:
    return [segment(article.text) for article in open_dataset(Dataset("sample-ko"))]


def chunk_texts(segmented: SegmentedArticle) -> list[str]:
    return [chunk.text for chunk in segmented.chunks]


def sentence_texts(segmented: SegmentedArticle) -> list[str]:
    return [sentence.text for sentence in segmented.sentences]


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        # The quotation mark ends a chunk, though an adnominal goes on.
        (
            "다솔시 교통국은 12일 시청에서 이 같은 내용의 '도심 순환버스 개편안'을 확정했다고 밝혔다.",
            ["다솔시 교통국은", "12일 시청에서", "이 같은 내용의", "도심 순환버스 개편안'을", "확정했다고", "밝혔다"],
        ),
        # Auxiliaries and negations stay with their word, unless there is punctuation between them.
        ("반발도 적지 않다.", ["반발도", "적지 않다"]),
        ("그것은 물고기가 아니라 풀이다.", ["그것은", "물고기가 아니라", "풀이다"]),
        ("노선을 줄일 수 있다고 말했다.", ["노선을", "줄일 수 있다고", "말했다"]),
        ('"무릎을 굽히지, 않았다', ["무릎을", "굽히지", "않았다"]),
        # Conjunctions are stop words.
        ("그러나 해양 및 대기 자료를 모았다.", ["해양 및 대기 자료를", "모았다"]),
        ("그러나", []),
        # What is no word ends a chunk.
        ("해양 자료 - 대기 자료", ["해양 자료", "대기 자료"]),
        # The object particle of 이걸 is its last consonant: a morpheme without a character of its own.
        ("이걸 분리했다", ["이걸", "분리했다"]),
    ],
)
def test_chunks_are_phrases(segment: Segment, text: str, chunks: list[str]) -> None:
    assert chunk_texts(segment(text)) == chunks


def test_words_have_no_punctuation_around_them(segment: Segment) -> None:
    text = (
        "「서울」 《별》, '가' “나”… ▲마포구 <영화> 30% 18.6㎞ $1.2 김한결(45) \"한국은행(한은)\" (50%), 씨(68)는 ~다~"
    )
    assert segment(text).words == (
        *("서울", "별", "가", "나", "마포구", "영화", "30%", "18.6㎞", "$1.2"),
        *("김한결(45)", "한국은행(한은)", "50%", "씨(68)는", "다"),
    )


def test_a_word_over_two_sentences_belongs_to_the_first(segment: Segment) -> None:
    assert sentence_texts(segment("나는 했다.그래서 너도 갔다.")) == ["나는 했다.그래서", "너도 갔다."]


@pytest.mark.parametrize("before", ["😀🎉 ", "\U00020000\U0001f1f0 ", "\ud800 ", "\0\0\0 ", "각각 "])
def test_offsets_hold_behind_what_kiwi_counts_otherwise(segment: Segment, before: str) -> None:
    for form in ("NFC", "NFD"):
        start = unicodedata.normalize(form, before)
        text = unicodedata.normalize(form, "다솔시 교통국은 설명회를 열고 노선을 줄인다. 나는 간다.")
        segmented = segment(f"{start * 5}\n{start * 5}{text}")
        chunks = [unicodedata.normalize("NFC", chunk) for chunk in chunk_texts(segmented)]
        assert chunks[-7:] == ["다솔시 교통국은", "설명회를", "열고", "노선을", "줄인다", "나는", "간다"]
        assert unicodedata.normalize("NFC", segmented.sentences[-1].text) == "나는 간다."
        # Words are cut from the article as it is: another normalisation would be no extract of it.
        assert all(word in segmented.article.text for word in segmented.words)


def test_sentences_are_those_of_kiwi(sample: list[SegmentedArticle]) -> None:
    for segmented in sample:
        lines = segmented.article.text.split("\n")
        expected = [sentence.text for line in lines for sentence in load_kiwi().split_into_sents(line)]
        assert sentence_texts(segmented) == expected


def test_chunks_end_where_kiwi_says(sample: list[SegmentedArticle]) -> None:
    """By `Kiwi.tokenize` of a whole sentence: particles and endings end a chunk, adnominals do not."""
    ended = continued = 0
    for segmented in sample:
        last = {chunk.end - 1 for chunk in segmented.chunks}
        full = {chunk.end - 1 for chunk in segmented.chunks if chunk.end - chunk.start == MAX_CHUNK_WORDS}
        for position, tags, following in _neighbours(segmented):
            if tags[-1][0] in "JE" and tags[-1] not in {"JKG", "ETM", "ETN"}:
                if following[0] not in {"VX", "VCN"}:
                    assert position in last, segmented.words[position]
                    ended += 1
            elif following != ["MAJ"]:
                assert position not in last or position in full, segmented.words[position]
                continued += 1
    assert min(ended, continued) > 400


def _neighbours(segmented: SegmentedArticle) -> Iterator[tuple[int, list[str], list[str]]]:
    """Words without punctuation between them and the next of their sentence: position, and Kiwi's tags of both."""
    for sentence in segmented.sentences:
        found = [token for token in load_kiwi().tokenize(sentence.text) if token.tag not in PUNCTUATION]
        spans = word_spans(sentence.text)
        tags = [
            [token.tag.split("-")[0] for token in found if start <= token.start < end + (token.len == 0)]
            for start, end in spans
        ]
        for i, ((_, end), (start, _)) in enumerate(itertools.pairwise(spans)):
            if sentence.text[end - 1].isalnum() and sentence.text[start].isalnum():
                yield sentence.start + i, tags[i], tags[i + 1]
