from collections.abc import Sequence
from dataclasses import replace

import pytest
from documents import TEXT, dice, document, segmented
from system_kinds import kind_of

from nws.core.systems.extractive_baselines import BASELINES, RANDOM_DRAWS, Lead, Lead3, Random, make_baseline
from nws.core.systems.system import Draft, Embeddings
from nws.core.text.length import count_words

WITH_DASHES = "– Alpha beta -- met gamma. Then delta – epsilon saw zeta, and eta theta left -- -- ."


class Asked(dict[str, Embeddings]):
    """Vectors that remember which encoders were asked for."""

    def __getitem__(self, name: str) -> Embeddings:
        self.names = {*getattr(self, "names", ()), name}
        return super().__getitem__(name)


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_is_what_it_says_and_writes_exactly_n_words(name: str) -> None:
    """Its rows are copied for the same files of the encoders that it names."""
    system = make_baseline(name, "enc", 3)
    assert (system.signature, system.kind, system.has_uncut) == (name, kind_of(name), name in ("lead3", "person"))
    assert hash(system) == hash(make_baseline(name, "enc", 3))
    assert system == make_baseline(name, "enc", 3)

    def f1(texts: Sequence[str]) -> list[float]:
        assert system.kind == "oracle", "it sees the references"
        return [float(len(text)) for text in texts]

    seen = document(segmented(WITH_DASHES), f1=f1, anchored_f1=dice)
    asked = Asked(seen.embeddings)
    drafts = system.summarize(replace(seen, embeddings=asked), [1, 4, 9])
    assert getattr(asked, "names", set()) == set(system.encoders)
    assert [draft.n for draft in drafts] == [*([0] if system.has_uncut else []), 1, 4, 9]
    assert all(draft.n in (0, count_words(text)) for draft in drafts for text in draft.texts)
    for n in (1, 4, 9):
        assert system.summarize(seen, [n]) == [draft for draft in drafts if draft.n in (0, n)], "whatever else is asked"


def test_lead_is_the_text_as_it_stands() -> None:
    texts = [draft.text for draft in Lead().summarize(document(), [3, 5, 99])]
    assert texts == ["Alpha beta met", "Alpha beta met gamma. Then", TEXT]


@pytest.mark.parametrize(
    ("text", "n", "uncut", "cut"),
    [
        (
            *("One two.\n\nThree 'four' -- five.\nSix. Seven eight nine. Ten.", 6),
            *("One two. Three 'four' -- five. Six.", "One two. Three 'four' five. Six."),
        ),
        # A short beginning goes on with what follows.
        ("One. Two. Three. Four five. Six.", 5, "One. Two. Three.", "One. Two. Three. Four five."),
        ("One two.", 5, "One two.", "One two."),
    ],
)
def test_lead3_is_three_sentences_uncut_and_cut(text: str, n: int, uncut: str, cut: str) -> None:
    assert Lead3().summarize(document(segmented(text)), [n]) == [Draft(0, uncut), Draft(n, cut)]


def test_draws_are_seeded_by_run_and_content() -> None:
    drafts = Random(3).summarize(document(), [2, 5])
    assert {len(draft.texts) for draft in drafts} == {RANDOM_DRAWS}
    assert len({text for seed in range(9) for text in Random(seed).summarize(document(), [5])[0].texts}) > 3
    assert drafts == Random(3).summarize(document(segmented(key="other")), [2, 5])
    assert drafts != Random(4).summarize(document(), [2, 5])
    assert drafts != Random(3).summarize(document(segmented(f"{TEXT}..")), [2, 5])
