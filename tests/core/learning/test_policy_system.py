from dataclasses import replace

import pytest
from documents import no_reference, segmented
from prepared_articles import TEXT, embeddings_of, prepared

from core.episodes import parameters_of
from core.learning.checkpoint import Checkpoint
from core.learning.policies import PolicyConfig, make_policies
from core.learning.policy_system import policy_system
from core.learning.sampling import Greedy, rollouts
from core.summarizers.systems import Document
from core.text.words import count_words


def checkpoint(*lengths: int, residual: bool = True) -> Checkpoint:
    config = PolicyConfig(residual=residual)
    return Checkpoint(config, lengths, "enc", parameters_of(make_policies(config, 16, seed=1)))


def document(text: str = TEXT) -> Document:
    article = segmented(text)
    return Document(article, {"enc": embeddings_of(article)}, no_reference)


def test_it_writes_what_the_policies_write_greedily() -> None:
    joint = checkpoint(7, 9)
    system = policy_system("mine", [joint])
    assert system.signature == "policy|mine"
    drafts = system.summarize(document(), [7, 9])
    assert [draft.n for draft in drafts] == [7, 9]
    assert [draft.text for draft in drafts] == [
        rollouts(joint.policies(), prepared(), n, joint.config.sentences, Greedy()).texts[0] for n in (7, 9)
    ]


def test_each_length_is_written_by_its_own_pair_or_the_nearest() -> None:
    by_rank, by_position = checkpoint(5), checkpoint(9, residual=False)
    system = policy_system("two", [by_position, by_rank])
    assert system.checkpoints == {5: by_rank, 9: by_position}
    texts = [draft.text for draft in system.summarize(document(), [5, 7, 8, 9])]
    rank = [d.text for d in policy_system("one", [by_rank]).summarize(document(), [5, 7])]
    position = [d.text for d in policy_system("one", [by_position]).summarize(document(), [8, 9])]
    assert texts == rank + position
    assert rank != [d.text for d in policy_system("one", [by_position]).summarize(document(), [5, 7])]


@pytest.mark.parametrize("text", ["Snow.", "It was as it is.", "Snow fell. Snow fell. Snow."])
def test_short_articles(text: str) -> None:
    total = len(segmented(text).words)
    for draft in policy_system("x", [checkpoint(3)]).summarize(document(text), [1, 2, 3, 9]):
        assert count_words(draft.text) == min(draft.n, total)


def test_its_policies_may_be_the_study_s() -> None:
    config = PolicyConfig("embeddings", hidden=4)
    trained = replace(checkpoint(3), config=config, parameters=parameters_of(make_policies(config, 16, seed=0)))
    (draft,) = policy_system("study", [trained]).summarize(document(), [3])
    assert count_words(draft.text) == 3
