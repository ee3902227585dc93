import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from ray.autoscaler._private.kuberay import autoscaling_config
from ray.autoscaler._private.resource_demand_scheduler import _fits
from ray.autoscaler._private.util import prepare_config, validate_config

from nws.cluster.resources import TYPE_PREFIX
from nws.jobs.cli import app

CHECKOUT = Path(__file__).parents[2]
FOLDER = CHECKOUT / "cluster"
RAY_UP = ["aws-t4.yaml", "gcp-t4.yaml"]
FILES = [*RAY_UP, "kuberay-t4.yaml", "Dockerfile"]
T4_ACTOR = {"GPU": 1, TYPE_PREFIX + "T4": 0.001}


def load(name: str) -> dict[str, Any]:
    loaded = yaml.safe_load((FOLDER / name).read_text())
    assert isinstance(loaded, dict)
    return loaded


def pinned_ray() -> str:
    found = re.search(r"^ray==(\S+)$", (CHECKOUT / "constraints.txt").read_text(), re.MULTILINE)
    assert found
    return found[1]


@pytest.fixture(params=RAY_UP)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def prepared(name: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """As `ray up` sees it, up to where it asks the cloud."""
    monkeypatch.chdir(CHECKOUT)
    config: dict[str, Any] = prepare_config(load(name))
    return config


@pytest.fixture
def job() -> dict[str, Any]:
    spec = load("kuberay-t4.yaml")["spec"]
    assert isinstance(spec, dict)
    return spec


def test_ray_up_gets_workers_when_a_t4_is_asked_for_and_lets_them_go(prepared: dict[str, Any]) -> None:
    validate_config(prepared)
    worker, head = prepared["available_node_types"]["t4"], prepared["available_node_types"]["head"]
    assert _fits(worker["resources"], T4_ACTOR)
    assert not _fits(head["resources"], T4_ACTOR)
    assert worker["min_workers"] == 0 < worker["max_workers"] == prepared["max_workers"]
    assert (head["min_workers"], head["max_workers"]) == (0, 0)
    assert 0 < prepared["idle_timeout_minutes"] <= 30


def test_every_machine_has_the_token_and_the_pins_and_the_dashboard_is_on_loopback(prepared: dict[str, Any]) -> None:
    mounts, pins = prepared["file_mounts"], "/home/ray/nws/constraints.txt"
    assert mounts["/home/ray/.ray/auth_token"] == "~/.ray/auth_token"
    assert (CHECKOUT / mounts[pins]).samefile(CHECKOUT / "constraints.txt")
    assert "-e RAY_AUTH_MODE=token" in prepared["docker"]["run_options"]
    (start,) = [command for command in prepared["head_start_ray_commands"] if "ray start" in command]
    assert re.findall(r"--dashboard-host[= ](\S+)", start) == ["127.0.0.1"]
    for commands in (prepared["head_setup_commands"], prepared["worker_setup_commands"]):
        assert f"pip install --requirement {pins}" in commands


def test_the_dockerfile_has_what_a_run_ships_and_installs_the_pins() -> None:
    text = (FOLDER / "Dockerfile").read_text()
    copied = re.findall(r"^COPY --chown=ray (.+) \S+$", text, re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    assert {"alembic", "core", "cluster", "jobs", "nws"} <= names
    assert all((CHECKOUT / name).exists() for name in names)
    assert "--constraint constraints.txt" in text


@pytest.mark.parametrize("file", FILES)
def test_a_file_has_the_pinned_ray_and_no_secret(file: str) -> None:
    text = (FOLDER / file).read_text()
    images = re.findall(r"^\s*(?:image:|FROM) (\S+)$", text, re.MULTILINE)
    assert images
    for image in images:
        assert re.fullmatch(rf"(rayproject/ray:|REPLACE_ME/nws:ray){re.escape(pinned_ray())}-py311-gpu", image)
    assert not re.findall(r"\w+://[^\s/]*@", text), "a URL with a user"
    assert not re.findall(r"(?i)postgres(?:ql)?://|password[=:]|RAY_AUTH_TOKEN\b|aws_(?:secret_)?access_key", text)
    assert not re.findall(r"\b(?:AKIA\w{16}|[0-9a-f]{32,})\b", text)


def test_the_ray_job_asks_for_t4s_a_token_and_the_store_of_a_secret(job: dict[str, Any]) -> None:
    assert job["shutdownAfterJobFinishes"] is True, "or machines are paid for that nobody uses"
    cluster = job["rayClusterSpec"]
    assert (cluster["rayVersion"], cluster["authOptions"]) == (pinned_ray(), {"mode": "token"})
    groups = autoscaling_config._generate_available_node_types_from_ray_cr_spec(cluster)
    assert _fits(groups["t4"]["resources"], T4_ACTOR)
    assert groups["t4"]["min_workers"] == 0 < groups["t4"]["max_workers"]
    assert "GPU" not in groups["headgroup"]["resources"]
    resources = cluster["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["resources"]
    assert resources["limits"] == resources["requests"], "or Ray plans with what the machine does not keep"
    (container,) = cluster["headGroupSpec"]["template"]["spec"]["containers"]
    (store,) = [variable for variable in container["env"] if variable["name"] == "NWS_STORE"]
    assert store == {"name": "NWS_STORE", "valueFrom": {"secretKeyRef": {"name": "nws-store", "key": "url"}}}
    assert "--store" not in job["entrypoint"]


def test_nws_can_read_the_entrypoint(job: dict[str, Any]) -> None:
    python, dash_m, module, *words = shlex.split(job["entrypoint"])
    assert (python, dash_m, module) == ("python", "-m", "nws.jobs.cli")
    command: Any = typer.main.get_command(app)
    for name in words[:2]:
        command = command.commands[name]
    read = command.make_context("nws", words[2:]).params
    (group,) = job["rayClusterSpec"]["workerGroupSpecs"]
    assert (words[:2], read["recipe"], read["address"]) == (["submit", "phase1"], "paper", "http://127.0.0.1:8265")
    assert (read["actors"], read["resume"], read["no_wait"]) == (group["maxReplicas"], True, False)
