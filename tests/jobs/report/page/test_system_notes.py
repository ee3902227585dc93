from nws.core.systems.extractive_baselines import BASELINES
from nws.core.types import UNTRAINED
from nws.jobs.report.system_names import SYSTEM_NOTES, system_notes


def test_every_built_in_system_has_a_note() -> None:
    assert SYSTEM_NOTES.keys() == {*BASELINES, UNTRAINED}


def test_systems_of_phase_1_are_known_by_their_method_and_others_left_out() -> None:
    notes = dict(system_notes(["lead", "all-MiniLM-L6-v2|lexrank|chunks", "mine", "gpt|prompt=1f0c3a77"]))
    assert [*notes] == ["lead", "all-MiniLM-L6-v2|lexrank|chunks"]
    assert notes["all-MiniLM-L6-v2|lexrank|chunks"] == SYSTEM_NOTES["lexrank"]
