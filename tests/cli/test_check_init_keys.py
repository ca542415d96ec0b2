from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from tests.personas.folder import NSEC, PUBKEY, SECRET, persona, write
from uniun_bots.cli.main import main
from uniun_bots.personas.project import load_project

OPEN = {"UNIUN_BOTS_PASSPHRASE": "open"}


def run(*arguments: str | Path, typed: str | None = None, **env: str) -> Result:
    environ: dict[str, str | None] = {
        "UNIUN_BOTS_PASSPHRASE": None,
        "UNIUN_BOTS_PASSPHRASE_FILE": None,
        **env,
    }
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=typed, env=environ)


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    assert run("init", tmp_path / "bots").exit_code == 0
    return tmp_path / "bots"


def test_a_new_persona_is_sound_and_off_and_overwrites_nothing(bots: Path) -> None:
    result = run("persona", "new", "tide-teller", "--dir", bots)
    assert result.exit_code == 0
    assert "uniun-bots keys new tide-teller" in result.stdout
    written = bots / "personas" / "tide-teller.md"
    (gana,) = [one for one in load_project(bots).ganas if one.id == "tide-teller"]
    assert (gana.name, gana.identity, str(gana.mode)) == ("Tide Teller", "key:tide-teller", "off")
    assert "keys new tide-teller" in written.read_text() and "TIDE_TELLER_NSEC" in written.read_text()
    before = written.read_bytes()
    again = run("persona", "new", "tide-teller", "--dir", bots)
    assert (again.exit_code, written.read_bytes()) == (1, before)
    assert "is there already" in again.stderr


@pytest.mark.parametrize("name", ["../evil", "Tide", "a b", "-x", "con/x"])
def test_a_new_persona_lands_in_its_folder_or_nowhere(bots: Path, name: str) -> None:
    before = sorted(bots.rglob("*"))
    result = run("persona", "new", "--dir", bots, "--", name)
    assert (result.exit_code, sorted(bots.rglob("*"))) == (1, before)
    assert "is no name of a persona" in result.stderr


@pytest.mark.parametrize("name", ["no", "007", "2024-05-01", "a" * 64, "on-and-on"])
def test_any_name_of_a_new_persona_makes_a_sound_file(bots: Path, name: str) -> None:
    assert run("persona", "new", name, "--dir", bots).exit_code == 0
    assert run("check", bots).exit_code == 0


def test_check_says_ok_and_ends_with_0(bots: Path) -> None:
    result = run("check", bots)
    assert (result.exit_code, result.stdout) == (0, "ok: 1 persona, 1 Manas, 2 relay sets\n")


def test_check_tells_one_fault_per_line_and_ends_with_2(tmp_path: Path) -> None:
    write(tmp_path, personas__a_md=persona("colour: blue", "mode: on"), host_yaml="pow: x\n")
    result = run("check", tmp_path)
    assert result.exit_code == 2
    assert [line.split(" ")[0] for line in result.stdout.splitlines()] == [
        f"{tmp_path}/host.yaml:1:6",
        f"{tmp_path}/personas/a.md:7:1",
        f"{tmp_path}/personas/a.md:8:7",
    ]


def test_check_marks_warnings_and_ends_with_0(tmp_path: Path) -> None:
    write(tmp_path, personas__a_md=persona(), personas__b_md=persona())
    result = run("check", tmp_path)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{tmp_path}/personas/b.md:3:11 warning: ")


def test_check_speaks_json(tmp_path: Path) -> None:
    write(tmp_path, personas__a_md=persona("colour: blue"))
    result = run("check", tmp_path, "--json")
    assert result.exit_code == 2
    found = json.loads(result.stdout)
    assert (found["ok"], found["warnings"]) == (False, [])
    (fault,) = found["faults"]
    assert (fault["file"], fault["line"], fault["column"]) == (f"{tmp_path}/personas/a.md", 7, 1)
    assert fault["message"].startswith("unknown key `colour`")


def test_check_looks_here_when_no_folder_is_named(bots: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bots)
    assert run("check").exit_code == 0


def test_check_of_what_is_no_project_folder_ends_with_2(tmp_path: Path) -> None:
    result = run("check", tmp_path / "nowhere")
    assert result.exit_code == 2
    assert "uniun-bots init DIR" in result.stdout


def test_init_does_not_overwrite(bots: Path) -> None:
    before = (bots / "host.yaml").read_bytes()
    result = run("init", bots)
    assert result.exit_code == 1
    assert "never overwritten" in result.stderr
    assert (bots / "host.yaml").read_bytes() == before


def test_a_new_key_is_told_by_its_npub_and_listed(bots: Path) -> None:
    made = run("keys", "new", "example", "--dir", bots, **OPEN)
    assert made.exit_code == 0
    npub = made.stdout.splitlines()[0]
    assert npub.startswith("npub1")
    assert "identity: key:example" in made.stdout
    assert run("keys", "list", "--dir", bots).stdout == f"example  {npub}\n"
    (listed,) = json.loads(run("keys", "list", "--dir", bots, "--json").stdout)
    assert (listed["name"], listed["npub"]) == ("example", npub)
    assert run("keys", "show", "example", "--dir", bots).stdout.splitlines()[0] == npub


@pytest.mark.parametrize("written", [NSEC, SECRET, f"{NSEC}\n"])
def test_a_key_is_imported_from_standard_input(bots: Path, written: str) -> None:
    result = run("keys", "import", "tide", "--dir", bots, typed=written, **OPEN)
    assert result.exit_code == 0
    assert run("keys", "show", "tide", "--dir", bots).stdout.splitlines()[1] == PUBKEY
    assert NSEC not in result.output and SECRET not in result.output


def test_a_key_on_the_command_line_is_not_taken(bots: Path) -> None:
    result = run("keys", "import", "tide", NSEC, "--dir", bots, typed="", **OPEN)
    assert result.exit_code == 2
    assert not (bots / "data").exists()


def test_the_secret_is_shown_only_after_asking(bots: Path) -> None:
    run("keys", "import", "tide", "--dir", bots, typed=NSEC, **OPEN)
    refused = run("keys", "show", "tide", "--secret", "--dir", bots, typed="n\n", **OPEN)
    assert refused.exit_code == 1
    assert NSEC not in refused.output
    shown = run("keys", "show", "tide", "--secret", "--dir", bots, typed="y\n", **OPEN)
    assert shown.stdout.splitlines()[-1] == NSEC
    assert NSEC not in run("keys", "show", "tide", "--dir", bots, **OPEN).output


def test_without_a_terminal_the_passphrase_must_be_given(bots: Path) -> None:
    result = run("keys", "new", "tide", "--dir", bots)
    assert result.exit_code == 2
    assert "UNIUN_BOTS_PASSPHRASE_FILE" in result.stderr
    assert not (bots / "data").exists()


def test_a_wrong_key_is_refused_without_repeating_it(bots: Path) -> None:
    broken = NSEC[:-1] + "q"
    result = run("keys", "import", "tide", "--dir", bots, typed=broken, **OPEN)
    assert result.exit_code == 2
    assert "checksum" in result.stderr
    assert broken[5:20] not in result.output


def test_keys_need_a_project_folder(tmp_path: Path) -> None:
    result = run("keys", "new", "tide", "--dir", tmp_path, **OPEN)
    assert result.exit_code == 2
    assert "is no project folder" in result.stderr


def test_a_name_that_leads_elsewhere_is_refused(bots: Path) -> None:
    assert run("keys", "new", "../evil", "--dir", bots, **OPEN).exit_code == 2


def commands(group: click.Group, *path: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name, command in group.commands.items():
        found.append((*path, name))
        if isinstance(command, click.Group):
            found += commands(command, *path, name)
    return found


@pytest.mark.parametrize(
    "path", [("init",), ("check",), *[("keys", n) for n in ("new", "import", "list", "show")]]
)
def test_help_shows_an_example(path: tuple[str, ...]) -> None:
    assert path in commands(main.loaded())
    assert "Example: uniun-bots " + " ".join(path) in run(*path, "--help").stdout
