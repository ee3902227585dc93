import itertools

import pytest

from nws.core.errors import SegmentationError
from nws.core.text import word_kinds as kinds_of_words
from nws.core.text.word_kinds import KINDS, find_kinds, load_tagger

SENTENCE = "Barack Obama quickly visited Paris on Tuesday with 300 angry farmers."
TOLD = [
    *(("who", "Barack"), ("who", "Obama"), ("quality", "quickly"), ("action", "visited"), ("where", "Paris")),
    *(("when", "Tuesday"), ("number", "300"), ("quality", "angry"), ("thing", "farmers")),
]


def told(text: str, signature: str) -> list[tuple[str, str]]:
    """The kind of each stretch of a text but of the other words."""
    groups = itertools.groupby(zip(load_tagger(signature)(text), text, strict=True), key=lambda of: of[0])
    stretches = [(KINDS[kind], "".join(character for _, character in group)) for kind, group in groups]
    return [stretch for stretch in stretches if stretch[0] != "other"]


def test_a_name_a_place_a_date_a_number_and_words_by_their_part_of_speech(word_kinds: str) -> None:
    assert told(SENTENCE, word_kinds) == TOLD


@pytest.mark.parametrize("before", ["\t\n ", "“Ünïcödé” – ", "東京 👩‍👩‍👧 ", "a\x00\u200b … "])
def test_signs_of_several_bytes_move_no_kind(word_kinds: str, before: str) -> None:
    assert told(before + SENTENCE, word_kinds)[-len(TOLD) :] == TOLD
    assert (told("", word_kinds), told(" \n", word_kinds)) == ([], [])


def test_only_the_pipeline_that_a_run_began_with_tells(word_kinds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_kinds("ko") == ""
    load_tagger.cache_clear()
    with pytest.raises(SegmentationError, match="found by another one, but this machine has en_core_web_sm"):
        load_tagger("another one")
    monkeypatch.setattr(kinds_of_words, "is_installed", lambda name: False)
    assert find_kinds("en") == ""
    with pytest.raises(SegmentationError, match=r"has no such pipeline\. Install the same pipeline on every machine"):
        load_tagger(word_kinds)
