from dataclasses import replace

import pytest
from documents import dice, document, segmented
from system_kinds import kind_of

from core.systems.extractive_baselines import BASELINES, make_baseline
from core.systems.system import Document, Embeddings
from core.text.words import count_words

TEXT_WITH_DASHES = "– Alpha beta -- met gamma. Then delta – epsilon saw zeta, and eta theta left -- -- ."


def seen_by_all() -> Document:
    """What oracles may ask, and what any system may."""
    return document(segmented(TEXT_WITH_DASHES), f1=lambda texts: [float(len(t)) for t in texts], anchored_f1=dice)


def test_a_system_is_stored_under_the_name_it_is_asked_for() -> None:
    signatures = {name: make_baseline(name, "enc", 3).signature for name in BASELINES}
    assert signatures == {name: name for name in BASELINES}


def test_the_same_name_and_seed_is_the_same_value() -> None:
    for name in BASELINES:
        assert make_baseline(name, "enc", 3) == make_baseline(name, "enc", 3)
        hash(make_baseline(name, "enc", 3))


def test_every_baseline_says_what_it_is() -> None:
    systems = {name: make_baseline(name, "enc", 0) for name in BASELINES}
    assert {name: system.kind for name, system in systems.items()} == {name: kind_of(name) for name in BASELINES}
    assert [name for name, system in systems.items() if system.has_uncut] == ["lead3", "person"]


class Asked(dict[str, Embeddings]):
    """Vectors that remember which encoders were asked for."""

    def __getitem__(self, name: str) -> Embeddings:
        self.names = {*getattr(self, "names", ()), name}
        return super().__getitem__(name)


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_asks_for_the_encoders_that_it_names(name: str) -> None:
    """Its rows are copied for the same files of these encoders."""
    seen, system = seen_by_all(), make_baseline(name, "enc", 3)
    asked = Asked(seen.embeddings)
    system.summarize(replace(seen, embeddings=asked), [1, 4])
    assert getattr(asked, "names", set()) == set(system.encoders)


def test_a_baseline_has_an_uncut_draft_if_it_says_so() -> None:
    seen = seen_by_all()
    for name in BASELINES:
        system = make_baseline(name, "enc", 0)
        assert (system.summarize(seen, [4])[0].n == 0) == system.has_uncut, name


def test_every_baseline_writes_exactly_n_words() -> None:
    seen = seen_by_all()
    for name in BASELINES:
        drafts = make_baseline(name, "enc", 0).summarize(seen, [1, 4, 9])
        assert [draft.n for draft in drafts if draft.n] == [1, 4, 9], name
        for draft in drafts:
            for text in draft.texts:
                assert draft.n == 0 or count_words(text) == draft.n, name
