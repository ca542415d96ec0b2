from __future__ import annotations

from pathlib import Path

import pytest

from tests.personas.folder import NPUB, NSEC, persona, write
from uniun_bots.errors import ConfigError
from uniun_bots.personas.project import check_project, load_project

REPOSITORY = Path(__file__).parents[2]


def twelve_faults(folder: Path) -> Path:
    """Twelve faults in four files, several of them of the kind that only shows across files."""
    return write(
        folder,
        host_yaml="relays: publik\ntimezone: Europe/Belin\nengines:\n  a: {type: scripted, replies: hello}\n",
        personas__lessons_md=persona(
            "mode: on", "colour: blue", "temperature: .nan", identity=NSEC, output="{type: group}"
        ),
        personas__tide_yaml="name: Tide\nidentity: key:tide\noutput: {type: feed}\n"
        "trigger: every-message\nmodel: bg\ntask: x\ntask: y\n",
        relays__mine_yaml="relays:\n  - https://a.example\n",
    )


def test_twelve_faults_in_four_files_are_all_told_with_their_lines(tmp_path: Path) -> None:
    report = check_project(twelve_faults(tmp_path))
    found = [(str(Path(fault.file).relative_to(tmp_path)), fault.line) for fault in report.faults]
    assert found == [
        ("host.yaml", 1),
        ("host.yaml", 2),
        ("host.yaml", 4),
        ("personas/lessons.md", 3),
        ("personas/lessons.md", 5),
        ("personas/lessons.md", 7),
        ("personas/lessons.md", 8),
        ("personas/lessons.md", 9),
        ("personas/tide.yaml", 4),
        ("personas/tide.yaml", 5),
        ("personas/tide.yaml", 7),
        ("relays/mine.yaml", 2),
    ]
    assert NSEC[5:20] not in str(report)


def test_loading_raises_with_all_faults(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_project(twelve_faults(tmp_path))
    assert len(caught.value.faults) == 12
    assert len(str(caught.value).splitlines()) == 12


def test_the_repository_is_a_sound_project_folder() -> None:
    report = check_project(REPOSITORY)
    assert (report.faults, report.warnings) == ((), ())
    assert report.project is not None
    assert {gana.mode for gana in report.project.ganas} == {"off"}
    assert "life-lessons-replier" in [gana.id for gana in report.project.ganas]


def test_a_folder_that_is_no_project_is_told(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        (fault,) = check_project(folder).faults
        assert "is no project folder" in fault.message
        assert fault.file == str(folder)


def test_a_relay_set_of_the_folder_goes_before_the_one_that_comes_with_the_package(tmp_path: Path) -> None:
    write(
        tmp_path,
        personas__a_md=persona("relays: public"),
        relays__public_yaml="relays: ['wss://own.example']",
    )
    project = load_project(tmp_path)
    assert [relay.url for relay in project.relays_of(project.ganas[0]).relays] == ["wss://own.example"]
    assert "local" in project.relay_sets


def test_a_persona_without_relays_has_those_of_the_host(tmp_path: Path) -> None:
    write(tmp_path, host_yaml="relays: public", personas__a_md=persona())
    project = load_project(tmp_path)
    assert project.relays_of(project.ganas[0]).name == "public"


def test_names_that_lead_nowhere_are_told_with_what_there_is(tmp_path: Path) -> None:
    write(tmp_path, personas__a_md=persona("relays: publc", "model: big"))
    messages = [fault.message for fault in check_project(tmp_path).faults]
    assert messages == [
        "no relay set `publc` (did you mean `public`?): write relays/publc.yaml, or use one of local, public",
        "no engine `big` in host.yaml: write `default`, or add it under `engines`",
    ]


def test_a_faulty_relay_set_is_not_called_unknown_too(tmp_path: Path) -> None:
    write(tmp_path, personas__a_md=persona("relays: mine"), relays__mine_yaml="relays: [x]")
    (fault,) = check_project(tmp_path).faults
    assert fault.file == str(tmp_path / "relays/mine.yaml")


def test_relays_that_cannot_be_written_or_read_are_told(tmp_path: Path) -> None:
    write(
        tmp_path,
        personas__a_md=persona("relays: deaf"),
        personas__b_md=persona("relays: dumb"),
        relays__deaf_yaml="relays: [{url: 'wss://a.example', read: false}]",
        relays__dumb_yaml="relays: [{url: 'wss://a.example', write: false}]",
    )
    messages = [fault.message for fault in check_project(tmp_path).faults]
    assert messages == [
        "relay set `deaf` has no relay with `read: true`: nothing can be heard",
        "relay set `dumb` has no relay with `write: true`: nothing can be published",
    ]


def test_one_identity_on_one_surface_twice_is_a_warning(tmp_path: Path) -> None:
    write(
        tmp_path, personas__a_md=persona(), personas__b_md=persona(), personas__c_md=persona(identity="env:C")
    )
    report = check_project(tmp_path)
    assert report.faults == ()
    (warning,) = report.warnings
    assert (warning.file, warning.line) == (str(tmp_path / "personas/b.md"), 3)
    assert "`a` watches the same place with the same identity" in warning.message


def test_one_identity_on_two_surfaces_is_fine(tmp_path: Path) -> None:
    write(tmp_path, personas__a_md=persona(), personas__b_md=persona(input=f"{{type: user, ref: {NPUB}}}"))
    assert check_project(tmp_path).warnings == ()


def test_two_files_cannot_have_one_id(tmp_path: Path) -> None:
    as_yaml = persona().split("---\n")[1] + "task: x\n"
    write(tmp_path, personas__a_md=persona(), personas__a_yaml=as_yaml)
    (fault,) = check_project(tmp_path).faults
    assert fault.message == "`a` is taken by a.md: rename one of them"


def test_files_that_would_be_passed_over_are_told(tmp_path: Path) -> None:
    write(tmp_path, host_yml="{}", personas__a_yml="name: x", relays__mine_yml="x: 1", docker_yml="x: 1")
    names = [Path(fault.file).name for fault in check_project(tmp_path).faults]
    assert names == ["host.yml", "a.yml", "mine.yml"]


def test_readmes_hidden_files_and_others_are_nobodys(tmp_path: Path) -> None:
    write(tmp_path, personas__README_md="# hi", personas__a_txt="x", personas__a_md=persona())
    (tmp_path / "personas/.a.md").write_text("x")
    (tmp_path / "personas/b.md~").write_text("x")
    assert [gana.id for gana in load_project(tmp_path).ganas] == ["a"]


def test_one_faulty_file_hides_no_other(tmp_path: Path) -> None:
    write(
        tmp_path, host_yaml="a: [", personas__a_md="", personas__b_md=b"\xff", personas__c_md=persona("x: 1")
    )
    assert [Path(fault.file).name for fault in check_project(tmp_path).faults] == [
        "host.yaml", "a.md", "b.md", "c.md"
    ]  # fmt: skip
