import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_infos import run_info

from nws.core.errors import RecipeError
from nws.jobs.report.system_names import names_of, system_names

SWEEP = (*(f"all-MiniLM-L6-v2|{name}|chunks" for name in ("lexrank", "position", "textrank")), "lead", "random")
POLICIES = ("policy|joint|seed=0", "policy|joint|seed=1", "policy|joint", "lead")
_PART = st.sampled_from(
    ["policy", "m", "x", "lexrank", "textrank", "chunks", "lead", "prompt=0f", "exact", "at_most", "seed=0", ""]
)
NAMES = st.one_of(st.text(max_size=12), st.lists(_PART, min_size=1, max_size=5).map("|".join))
IN_TWO_RUNS = NAMES.flatmap(lambda name: st.sampled_from([name, f"{name} @run-1"]))


@pytest.mark.parametrize(
    ("systems", "shown", "shared"),
    [
        (SWEEP, ("lexrank", "position", "textrank", "lead", "random"), "lexrank, position and textrank leave out "
         "“all-MiniLM-L6-v2” and “chunks”"),
        (("m|lexrank|chunks", "x|lexrank|chunks"), ("m", "x"), "all leave out “lexrank” and “chunks”"),
        (("m|lexrank|chunks", "lead"), ("lexrank", "lead"), "lexrank leaves out “m” and “chunks”"),
        (("m|lexrank|chunks", "m|textrank|chunks", "x|lexrank|chunks"), ("m|lexrank", "m|textrank", "x|lexrank"),
         "all leave out “chunks”"),
        (("m|lead|chunks", "m|textrank|chunks", "lead"), ("m|lead|chunks", "textrank", "lead"),
         "textrank leaves out “m” and “chunks”"),
        (("m|lexrank|chunks", "m|lexrank|chunks @b", "m|lead|chunks"), ("lexrank", "lexrank @b", "lead"),
         "all leave out “m” and “chunks”"),
        (("tiny|prompt=0f|exact", "gpt|prompt=0f|exact", "lead"), ("tiny", "gpt", "lead"),
         "gpt and tiny leave out “exact”"),
        (("tiny|prompt=0f", "tiny|prompt=1e"), ("tiny|prompt=0f", "tiny|prompt=1e"), ""),
        (POLICIES, ("joint|seed=0", "joint|seed=1", "joint", "lead"), ""),
        (("policy|joint|rerank-8", "lead"), ("joint", "lead"), "joint leaves out “rerank-8”"),
        (("policy|joint|rerank-8", "untrained|rerank-8", "lead"), ("joint", "untrained", "lead"),
         "joint and untrained leave out “rerank-8”"),
        (("policy|joint", "untrained|greedy"), ("joint", "untrained|greedy"), ""),
        ((*(f"m|{name}|chunks" for name in "abcde"), "lead"), (*"abcde", "lead"),
         "a, b, c, d and e leave out “m” and “chunks”"),
    ],
)  # fmt: skip
def test_a_system_is_called_by_what_tells_it_apart(
    systems: tuple[str, ...], shown: tuple[str, ...], shared: str
) -> None:
    names = system_names(systems)
    assert tuple(names[system] for system in systems) == shown
    assert names.shortened == (*(f"Shortened names: {text}" for text in [shared] if text),)


@given(st.lists(IN_TWO_RUNS, max_size=8), st.randoms(use_true_random=False))
def test_names_are_unique_no_longer_and_the_same_in_any_order(systems: list[str], order: random.Random) -> None:
    names = system_names(systems)
    assert set(names.shown) == set(systems)
    assert len(set(names.shown.values())) == len(names.shown)
    assert all(name and len(name) <= len(system) for system, name in names.shown.items() if system)
    shuffled = [*systems, *systems[:2]]
    order.shuffle(shuffled)
    assert system_names(shuffled) == names


@given(st.lists(IN_TWO_RUNS, min_size=1, max_size=8))
def test_every_system_is_found_by_either_of_its_names(systems: list[str]) -> None:
    names = system_names(systems)
    for system in systems:
        assert names.find(system, systems, "run a") == system
        if names[system] not in systems and f"policy|{names[system]}" not in systems:
            assert names.find(names[system], sorted(set(systems)), "run a") == system


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"lexrnk": "L"}, "There is no system 'lexrnk' in run a.*Did you mean 'lexrank'"),
        ({"rank": "R"}, "'rank' fits 2 systems of run a"),
        ({"lexrank": "textrank"}, "'textrank' cannot be the label of .*lexrank.*: .*textrank.* is called so"),
        ({"lexrank": "R", "textrank": "R"}, "'R' cannot be the label"),
    ],
)
def test_a_label_that_would_mislead_is_refused(labels: dict[str, str], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        system_names(SWEEP).labelled(labels, "run a")


def test_labels_of_a_recipe_may_be_of_systems_that_wrote_nothing_and_yield_to_those_that_are_given() -> None:
    run = run_info(recipe={"labels": {"lexrank": "LexRank", "oracle": "Oracle", "lead": "Lead"}})
    names = names_of([run], SWEEP, {"lead": "First words"})
    assert (names[SWEEP[0]], names["lead"], names["random"]) == ("LexRank", "First words", "random")
