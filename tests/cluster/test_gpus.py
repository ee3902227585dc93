"""How many actors share a GPU. The cards are what nvidia-smi would print of them."""

from pathlib import Path

import pytest

from nws.cluster.resources import Card, GpuNode, cards_here, choose_sharing, gpu_nodes, parse_cards
from nws.cluster.session import Session

T4 = Card("Tesla T4", 15_600_000_000, (7, 5))
A100 = Card("NVIDIA A100-SXM4-40GB", 42_000_000_000, (8, 0))
H100 = Card("NVIDIA H100 80GB HBM3", 84_900_000_000, (9, 0))
FULL = Card("NVIDIA H100 80GB HBM3", 5_000_000_000, (9, 0))
# Of an actor: four models of BERT-base's size, and a generator of BART-large's.
FLOAT32, HALF, BART, GPT2_XL = 4_400_000_000, 3_500_000_000, 12_000_000_000, 15_000_000_000


@pytest.mark.parametrize(
    ("card", "cores", "gpus", "actor_bytes", "expected"),
    [
        (T4, 2, 1, FLOAT32, 1),  # Colab
        (T4, 4, 1, FLOAT32, 2),  # g4dn.xlarge
        (T4, 4, 1, BART, 1),
        (T4, 16, 1, HALF, 4),
        (T4, 48, 4, FLOAT32, 2),
        (A100, 12, 1, GPT2_XL, 2),
        (H100, 16, 1, FLOAT32, 4),
        (H100, 5, 1, FLOAT32, 2),
        (H100, 16, 8, FLOAT32, 1),
        (FULL, 16, 1, FLOAT32, 1),  # somebody else has most of it
    ],
)
def test_actors_have_room_and_cores(card: Card, cores: int, gpus: int, actor_bytes: int, expected: int) -> None:
    sharing = choose_sharing([GpuNode(cores, gpus, (card,) * gpus)], actor_bytes)
    assert sharing.actors == expected
    assert card.name in sharing.reason
    assert f"{actor_bytes / 1e9:.1f} GB" in sharing.reason


def test_the_smallest_card_the_fewest_cores_and_what_a_recipe_lets_each_actor_take_decide() -> None:
    nodes = [GpuNode(16, 1, (H100,)), GpuNode(32, 2, (H100, T4))]
    assert choose_sharing(nodes, FLOAT32).actors == 2
    assert choose_sharing([GpuNode(16, 1, (H100,)), GpuNode(2, 1, (H100,))], FLOAT32).actors == 1
    assert [choose_sharing(nodes[:1], FLOAT32, part).actors for part in (0.25, 0.4, 0.9)] == [4, 2, 1]


@pytest.mark.parametrize("nodes", [[], [GpuNode(16, 1, ())], [GpuNode(16, 1, (H100,)), GpuNode(16, 1, ())]])
def test_unknown_cards_are_not_shared(nodes: list[GpuNode]) -> None:
    sharing = choose_sharing(nodes, FLOAT32)
    assert sharing.actors == 1
    assert "nvidia-smi does not tell" in sharing.reason


@pytest.mark.parametrize(
    ("gpus", "actors", "expected"),
    [(1, None, 0.25), (1, 1, 1), (1, 2, 0.5), (1, 3, 0.25), (2, 2, 1), (2, 3, 0.5), (1, 9, 0.25)],
)
def test_so_many_actors_as_are_asked_for_share_no_more_than_they_need(
    gpus: int, actors: int | None, expected: float
) -> None:
    assert choose_sharing([GpuNode(16 * gpus, gpus, (H100,) * gpus)], FLOAT32).share(gpus, actors) == expected


ANSWER = "Tesla T4, 15102, 7.5, [N/A]\n"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (ANSWER, (Card("Tesla T4", 15102 * 2**20, (7, 5)),)),
        ("NVIDIA H100 80GB HBM3, 81079, 9.0, Disabled\n", (Card("NVIDIA H100 80GB HBM3", 81079 * 2**20, (9, 0)),)),
        ("NVIDIA H100 80GB HBM3, 81079, 9.0, Enabled\n", ()),  # in MIG slices
        ("NVIDIA GB10, [N/A], 12.1, [N/A]\n", ()),  # shares the machine's memory
        ("No devices were found\n", ()),
        ("", ()),
    ],
)
def test_answers_of_nvidia_smi(answer: str, expected: tuple[Card, ...]) -> None:
    assert parse_cards(answer) == expected


def smi(folder: Path, script: str) -> None:
    """An nvidia-smi that refuses fields it does not have, as the real one does."""
    fields = "*--query-gpu=name,memory.free,compute_cap,mig.mode.current\\ --format=csv,noheader,nounits*"
    path = folder / "nvidia-smi"
    path.write_text(f'#!/bin/sh\ncase "$*" in {fields}) {script};; *) echo "Field is not valid" >&2; exit 2;; esac\n')
    path.chmod(0o755)


def test_only_visible_cards_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert cards_here() == (), "there is no nvidia-smi"
    smi(tmp_path, f'echo "$*" > {tmp_path}/asked; printf "{ANSWER[:-1]}\\n"')
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert cards_here() == parse_cards(ANSWER)
    assert "-i" not in (tmp_path / "asked").read_text()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert cards_here() == parse_cards(ANSWER)
    assert (tmp_path / "asked").read_text().endswith("-i 1\n")


@pytest.mark.parametrize("script", ["echo NVIDIA-SMI has failed; exit 9", "sleep 5"])
def test_an_nvidia_smi_that_fails_or_hangs_tells_nothing(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    smi(tmp_path, script)
    assert cards_here(seconds=0.5) == ()


@pytest.mark.slow
@pytest.mark.ray
def test_the_machines_of_a_cluster_are_asked(session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session has two CPUs and four simulated T4s."""
    smi(tmp_path, f'printf "{ANSWER[:-1]}\\n"')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    patience = 120.0  # Ray starts a process for the question
    assert gpu_nodes(None, patience) == gpu_nodes("T4", patience) == [GpuNode(2, 4, parse_cards(ANSWER))]
    assert gpu_nodes("H100") == []
