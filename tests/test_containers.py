"""Dockerfile, .dockerignore and compose.yaml: valid, and in step with the code, Ray and docs/install.md."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from dockerfile_parse import DockerfileParser

from nws.jobs.store.address import parse_address

ROOT = Path(__file__).parents[1]
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    config: dict[str, Any] = yaml.safe_load(COMPOSE)
    return config


@pytest.fixture
def instructions(tmp_path: Path) -> list[tuple[str, str]]:
    """Of the Dockerfile, in order; of a copy, since the parser is also a writer."""
    shutil.copy(ROOT / "Dockerfile", tmp_path)
    return [(one["instruction"], one["value"]) for one in DockerfileParser(str(tmp_path)).structure]


def _copied(instructions: list[tuple[str, str]]) -> set[str]:
    """What is copied from the checkout."""
    lines = [value.split() for instruction, value in instructions if instruction == "COPY"]
    return {name for *sources, _ in lines if not sources[0].startswith("--from") for name in sources}


def test_compose_has_the_form_of_the_compose_specification() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", "compose.yaml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_what_a_service_waits_for_has_a_health_and_its_volumes_exist(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert services.keys() == {"database", "head", "worker", "nws"}
    for service in services.values():
        for other, how in service.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"}
            assert services[other]["healthcheck"]["test"][0] == "CMD"
        named = {volume.split(":")[0] for volume in service["volumes"] if not volume.startswith("$")}
        assert named <= compose["volumes"].keys()


def test_ray_knows_what_head_and_worker_are_started_with(compose: dict[str, Any]) -> None:
    from ray.scripts.scripts import start

    known = {option for parameter in start.params for option in parameter.opts}
    head, worker = compose["services"]["head"], compose["services"]["worker"]
    for service in (head, worker):
        program, command, *options = service["entrypoint"] + service["command"]
        assert (program, command) == ("ray", "start")
        assert {option.split("=")[0] for option in options} <= known
        assert "--block" in options
        assert service["environment"]["RAY_AUTH_MODE"] == "token"
    assert "--port=6379" in head["command"]
    assert "--address=head:6379" in worker["command"]
    assert compose["services"]["nws"]["environment"]["RAY_ADDRESS"] == "http://head:8265"
    assert [port.split(":")[0] for port in head["ports"]] == ["127.0.0.1"]


def test_secrets_come_from_the_environment_and_only_the_command_knows_the_store(compose: dict[str, Any]) -> None:
    required = set(re.findall(r"\$\{(\w+):\?", COMPOSE))
    assert required == {"POSTGRES_PASSWORD", "RAY_AUTH_TOKEN"}
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    optional = set(re.findall(r"\$\{(\w+):-", COMPOSE))
    assert set(re.findall(r"\$\{(\w+)", COMPOSE)) == required | optional
    assert all(name in page for name in required | optional)
    services, own = compose["services"], compose["services"]["database"]["environment"]
    url = re.sub(r"\$\{POSTGRES_PASSWORD[^}]*\}", "c0ffee", services["nws"]["environment"]["NWS_STORE"])
    found = parse_address(url).url
    assert (found.username, found.database) == (own["POSTGRES_USER"], own["POSTGRES_DB"])
    assert (found.host, found.password) == ("database", "c0ffee")
    for name in ("head", "worker"):
        assert not {"NWS_STORE", "POSTGRES_PASSWORD"} & services[name]["environment"].keys()
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    assert ".env" in ignored


def test_the_image_runs_nws_without_rights_on_the_python_of_the_tests(instructions: list[tuple[str, str]]) -> None:
    bases = [value.split()[0] for instruction, value in instructions if instruction == "FROM"]
    assert bases == ["python:3.11-slim"] * 2
    assert [value for instruction, value in instructions if instruction == "USER"] == ["nws"]
    ((entry,),) = [json.loads(value) for instruction, value in instructions if instruction == "ENTRYPOINT"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert entry in project["scripts"]
    text = "\n".join(value for _, value in instructions)
    extras = re.search(r"\.whl\)\[([\w,]+)\]", text)
    assert extras
    assert set(extras[1].split(",")) <= project["optional-dependencies"].keys()
    assert text.count("--constraint /opt/nws/constraints.txt") == 2


def test_what_is_copied_is_what_docker_sees_and_enough_for_the_wheel(
    instructions: list[tuple[str, str]], tmp_path: Path
) -> None:
    copied = _copied(instructions)
    seen = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == seen
    build = tmp_path / "build"
    build.mkdir()
    for name in copied - {"constraints.txt"}:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, build / name)
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--wheel-dir", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, "."], cwd=build, check=True)
    assert list(tmp_path.glob("nws_summaries-*.whl"))


def _docker_answers() -> bool:
    command = ["docker", "info"]
    return shutil.which("docker") is not None and subprocess.run(command, capture_output=True).returncode == 0


@pytest.mark.faults
@pytest.mark.timeout(3600)
def test_the_image_is_built_and_runs() -> None:
    if not _docker_answers():
        pytest.skip("no Docker daemon answers here")
    build = ["docker", "build", "--tag", "nws-test", "--build-arg", "COMMIT=0123456789ab", "."]
    subprocess.run(build, cwd=ROOT, check=True)
    program = "import os, nws.jobs.installation as r; print(os.getuid() > 0, r.code_version())"
    run = ["docker", "run", "--rm", "--network", "none"]
    told = subprocess.run([*run, "--entrypoint", "python", "nws-test", "-c", program], capture_output=True, check=True)
    is_user, version = told.stdout.decode().split()
    assert (is_user, version.partition("+")[0]) == ("True", "0123456789ab")
    submitted = subprocess.run(
        [*run, "nws-test", "submit", "phase1", "--engine", "inline", "--limit", "1", "--n", "3"], capture_output=True
    )
    assert b"is done: 1 article," in submitted.stdout, submitted.stderr
