"""No engine is at hand to build the image: what can be compared without one is compared."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import pytest
import yaml

from tests.docs.command_line import parse_command
from tests.docs.pages import ROOT, blocks, read

DOCKERFILE = read(ROOT / "Dockerfile")
LINES = re.sub(r"\\\n", "", DOCKERFILE).splitlines()
COMPOSE: dict[str, Any] = yaml.safe_load(read(ROOT / "compose.yaml"))


def _all(word: str) -> list[str]:
    return [line.removeprefix(f"{word} ") for line in LINES if line.startswith(f"{word} ")]


def _one(word: str) -> str:
    (found,) = _all(word)
    return found


def test_it_installs_with_the_command_of_the_makefile_and_with_nothing_else() -> None:
    targets = re.findall(r"^([a-z-]+):", read(ROOT / "Makefile"), re.MULTILINE)
    ours = [run for run in _all("RUN") if not run.startswith("apt-get update")]
    assert ours == ["make install"]
    assert "install" in targets
    assert not re.search(r"\b(pip|uv|poetry)\b", DOCKERFILE)


def test_what_make_install_needs_is_copied() -> None:
    ignored = set(read(ROOT / ".dockerignore").split())
    assert _all("COPY") == [". .", "--from=build /app /app"]
    needed = {"Makefile", "pyproject.toml", "constraints.txt", "uniun_bots", "personas", "relays", "skills"}
    assert not needed & ignored
    assert {"data", ".venv", ".git", "passphrase"} <= ignored


def test_both_stages_are_the_same_slim_python_that_we_support() -> None:
    images = [line.split()[0] for line in _all("FROM")]
    assert len(set(images)) == 1
    version = re.fullmatch(r"python:3\.(\d+)-slim", images[0])
    required = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]["requires-python"]
    assert version
    assert f">=3.{version[1]}" >= required


def test_it_runs_our_command_without_privileges_on_one_volume() -> None:
    assert "uniun-bots" in tomllib.loads(read(ROOT / "pyproject.toml"))["project"]["scripts"]
    assert json.loads(_one("ENTRYPOINT")) == ["uniun-bots"]
    parse_command(json.loads(_one("CMD")))
    assert f"useradd --uid 10001 --create-home {_one('USER')}" in DOCKERFILE
    assert DOCKERFILE.index("USER bots") < DOCKERFILE.index("ENTRYPOINT")
    assert _one("VOLUME") == json.loads(_one("CMD"))[-1] == "/bots"


def test_it_asks_status_whether_it_is_well() -> None:
    words = json.loads(_one("HEALTHCHECK").partition("CMD ")[2])
    assert words[:2] == ["uniun-bots", "status"]
    parse_command(words[1:])


@pytest.mark.parametrize("service", ["relay", "host"])
def test_the_services_run_commands_that_there_are(service: str) -> None:
    assert set(COMPOSE["services"]) == {"relay", "host"}
    parse_command([str(word) for word in COMPOSE["services"][service]["command"]])


def test_the_relay_is_reached_from_this_machine_only_and_keeps_its_events() -> None:
    relay = COMPOSE["services"]["relay"]
    assert relay["ports"] == ["127.0.0.1:7777:7777"]
    assert relay["command"][-1].startswith("/bots/")
    assert [volume.partition(":")[2] for volume in relay["volumes"]] == ["/bots"]


def test_the_passphrase_is_a_secret_in_the_variable_that_we_read() -> None:
    host = COMPOSE["services"]["host"]
    ((variable, path),) = host["environment"].items()
    assert f'"{variable}"' in read(ROOT / "uniun_bots/personas/keys.py")
    assert path == f"/run/secrets/{host['secrets'][0]}"
    assert "./my-bots:/bots" in host["volumes"]


def test_what_the_services_mount_is_made_before_the_first_of_them_runs() -> None:
    lines = [
        line
        for block in blocks("sh")
        if block.page == "docs/run-it-for-real.md"
        for line in block.text.splitlines()
        if "docker compose" in line or "my-bots" in line or "passphrase" in line
    ]
    first_run = next(at for at, line in enumerate(lines) if line.startswith("docker compose run"))
    mounted = ("mkdir -p my-bots", "sudo install -m 0400 -o 10001 /dev/stdin passphrase")
    assert all(made in lines[:first_run] for made in mounted)


def test_stopping_leaves_more_time_than_the_host_takes() -> None:
    assert int(COMPOSE["services"]["host"]["stop_grace_period"].removesuffix("s")) > 10
