from dataclasses import replace
from pathlib import Path

import pytest
from documents import dice, no_reference, segmented
from prepared_articles import TEXT, embeddings_of, parameters_of, prepared

from nws.core.errors import ModelError
from nws.core.findings.policy_findings import split_seed
from nws.core.learning.checkpoint import Checkpoint, Reading
from nws.core.learning.policies import make_policies
from nws.core.learning.policy_system import policy_system
from nws.core.learning.sampling import decode
from nws.core.learning.training_config import Decoding, PolicyConfig
from nws.core.learning.writer import load_policies, save_policies
from nws.core.metrics.config import BertScoreConfig
from nws.core.models import ModelRef
from nws.core.systems.system import Document
from nws.core.text.length import count_characters

MODEL = ModelRef("enc", "org/enc", "main")
READING = Reading("en", "blank", MODEL, BertScoreConfig(MODEL, 1))


def checkpoint(*lengths: int, residual: bool = True, in_characters: bool = False) -> Checkpoint:
    config = PolicyConfig(residual=residual)
    reading = replace(READING, length_unit="characters") if in_characters else READING
    return Checkpoint("mine", config, lengths, reading, parameters_of(make_policies(config, 16, seed=1)), seed=1)


def document(text: str = TEXT) -> Document:
    article = segmented(text)
    return Document(article, {"enc": embeddings_of(article)}, no_reference, dice)


def test_each_length_is_written_by_its_own_pair_or_the_nearest() -> None:
    by_rank, by_position = checkpoint(5), checkpoint(9, residual=False)
    system = policy_system([by_position, by_rank])
    assert system.checkpoints == {5: by_rank, 9: by_position}
    texts = [draft.text for draft in system.summarize(document(), [5, 7, 8, 9])]
    rank = [d.text for d in policy_system([by_rank]).summarize(document(), [5, 7])]
    position = [d.text for d in policy_system([by_position]).summarize(document(), [8, 9])]
    assert texts == rank + position
    assert rank != [d.text for d in policy_system([by_position]).summarize(document(), [5, 7])]


def test_policies_come_back_from_a_folder_joint_or_one_for_each_n(tmp_path: Path) -> None:
    joint, several = policy_system([checkpoint(7, 9)]), policy_system([checkpoint(5), checkpoint(9, residual=False)])
    for name, system in (("joint", joint), ("several", several)):
        save_policies(system, tmp_path / name)
        again = load_policies(tmp_path / name)
        assert (again.signature, list(again.checkpoints)) == (system.signature, list(system.checkpoints))
        assert again.summarize(document(), [5, 7, 9]) == system.summarize(document(), [5, 7, 9])
    save_policies(joint, tmp_path / "several")
    with pytest.raises(ModelError, match="has joint policies"):
        load_policies(tmp_path / "several")
    with pytest.raises(ModelError, match="has no policies"):
        load_policies(tmp_path / "nothing")


def test_each_length_is_reranked_with_its_own_pair_and_the_seed_of_its_training(tmp_path: Path) -> None:
    by_rank = checkpoint(5)
    other_seed = replace(by_rank, lengths=(9,), seed=2)
    decoding = Decoding("rerank", k=8)
    system = policy_system([by_rank, other_seed], decoding)
    assert system.signature == "policy|mine|rerank-8-lead6-adjacent0.05"
    seeded = replace(system, name="mine|seed=0").signature
    assert (seeded, split_seed(seeded)) == (f"{system.signature}|seed=0", (system.signature, 0))
    drafts = system.summarize(document(), [5, 9])
    expected = [
        decode(by_rank.policies(), prepared(), n, by_rank.config.sentences, decoding, seed, dice)
        for n, seed in ((5, 1), (9, 2))
    ]
    assert [draft.text for draft in drafts] == expected
    save_policies(system, tmp_path)
    again = load_policies(tmp_path)
    assert (again.decoding, again.summarize(document(), [5, 9])) == (decoding, drafts)


@pytest.mark.parametrize("decoding", [Decoding(), Decoding("rerank", k=12)], ids=["greedy", "rerank"])
def test_pairs_trained_on_words_write_at_most_so_many_characters(decoding: Decoding) -> None:
    system = policy_system([checkpoint(5), checkpoint(9, residual=False)], decoding)
    seen = replace(document(), length_unit="characters")
    drafts = system.summarize(seen, [1, 12, 30, 50, 999])
    words = set(segmented(TEXT).words)
    for draft in drafts:
        assert count_characters(draft.text) <= draft.n
        assert set(draft.text.split()) <= words
        assert draft.n < 30 or len(draft.text) > draft.n - 1 - max(map(len, words)) or draft.n == 999
    assert drafts[-1].text.split() == list(segmented(TEXT).words)
    # About 5 and about 9 words of this article, which has 4.9 characters and a blank in each.
    short, long = system.summarize(seen, [29, 53])
    for draft, own in ((short, checkpoint(5)), (long, checkpoint(9, residual=False))):
        assert [draft.text] == [other.text for other in policy_system([own], decoding).summarize(seen, [draft.n])]
