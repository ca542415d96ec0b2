from __future__ import annotations

from pathlib import Path

import pytest

from tests.host.stage import Stage, decided
from tests.inference.gguf_file import gguf
from tests.personas.folder import persona, write
from tests.skills.samples import skill_file
from uniun_bots.errors import ConfigError
from uniun_bots.host.project_folder import check_folder, load_folder, load_to_host


def test_check_tells_skills_and_names_of_skills_with_their_lines(tmp_path: Path) -> None:
    write(
        tmp_path,
        personas__tide_md=persona("skills: [tone, nothing, broken]"),
        skills__tone_md=skill_file("tone", "version: 1"),
        skills__broken_md="---\nname: broken\n---\nx",
    )
    report, library = check_folder(tmp_path)
    assert report.project is None
    told = [f"{Path(fault.file).name}:{fault.line}:{fault.column}" for fault in report.faults]
    assert told == ["tide.md:7:16", "broken.md:2:1"]
    assert [Path(one.file).name for one in report.warnings] == ["tone.md"]
    assert set(library.texts) == {"tone"}


def test_a_key_that_is_not_there_is_told_in_its_line_before_a_host_needs_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        personas__tide_yaml="name: Tide\nidentity: key:tide\nmode: live\noutput: {type: feed}\ntrigger: on-schedule\n"
        "every: 1h\ntask: Tell the tide.\n",
    )
    report, _ = check_folder(tmp_path)
    assert report.faults == ()
    (told,) = [one for one in report.warnings if "keys new" in one.message]
    assert (Path(told.file).name, told.line, told.column) == ("tide.yaml", 2, 11)


def test_a_host_goes_on_without_a_broken_skill(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(
        tmp_path,
        personas__tide_md=persona("skills: [tone, broken]"),
        skills__tone_md=skill_file("tone"),
        skills__broken_md="---\nname: broken\n---\nx",
    )
    project, library = load_folder(tmp_path)
    assert [gana.id for gana in project.ganas] == ["tide"]
    assert set(library.texts) == {"tone"}
    assert "skill left out" in caplog.text and "broken.md" in caplog.text


def test_a_name_of_no_skill_stops_the_start(tmp_path: Path) -> None:
    write(tmp_path, personas__tide_md=persona("skills: [nothing]"))
    with pytest.raises(ConfigError, match="no skill `nothing`"):
        load_folder(tmp_path)


def test_a_persona_that_says_off_and_is_not_complete_keeps_nobody_from_running(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(tmp_path, personas__tide_md=persona(), personas__new_md="---\nname: New\nmode: off\n---\nTask.\n")
    project, _ = load_to_host(tmp_path)
    assert [gana.id for gana in project.ganas] == ["tide"]
    assert "persona left out, it is off" in caplog.text and "new.md" in caplog.text
    report, _ = check_folder(tmp_path)
    assert report.faults and {Path(fault.file).name for fault in report.faults} == {"new.md"}


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"personas__new_md": "---\nname: New\n---\nTask.\n"}, id="off is not written there"),
        pytest.param({"personas__new_md": "---\nname: New\nmode: live\n---\nTask.\n"}, id="live"),
        pytest.param({"personas__tide_yaml": "name: Two\nmode: off\ntask: Twice.\n"}, id="one name for two"),
        pytest.param({"host_yaml": "reylays: local\n"}, id="another file"),
    ],
)
def test_every_other_fault_stops_the_start(tmp_path: Path, more: dict[str, str]) -> None:
    write(tmp_path, personas__tide_md=persona(), **more)
    with pytest.raises(ConfigError):
        load_to_host(tmp_path)


async def test_a_one_shot_run_has_attached_skills_below_its_task(stage: Stage) -> None:
    stage.persona(skills="[tone, send-dm]")
    for name, body in (
        ("tone", "Be kind.<!-- unseen -->"),
        ("send-dm", "Write briefly."),
        ("other", "Not this."),
    ):
        write(stage.folder, **{f"skills__{name}_md": skill_file(name, body=body)})
    async with stage.host() as host:
        await decided(host, await stage.ask("When is high water?"))
    system = stage.engine.requests[0].messages[0].content
    blocks = "Say when the tide comes.\n\ntone:\nBe kind.\n\nuser-send-dm:\nWrite briefly.\n\n"
    assert system.startswith(blocks)
    assert "Not this." not in system


async def test_a_skill_that_was_edited_counts_after_a_reload(stage: Stage) -> None:
    stage.persona(skills="[tone]")
    write(stage.folder, skills__tone_md=skill_file("tone", body="Be kind."))
    async with stage.host() as host:
        write(stage.folder, skills__tone_md=skill_file("tone", body="Be brief."))
        await host.reload()
        await decided(host, await stage.ask("When is high water?"))
    assert "tone:\nBe brief." in stage.engine.requests[0].messages[0].content


def test_check_warns_of_model_files_that_are_missing_or_cut_off(tmp_path: Path) -> None:
    write(
        tmp_path,
        personas__tide_md=persona(),
        host_yaml="model: path:none.gguf\nengines:\n  big: {type: llama, model: path:cut.gguf}\n",
        cut_gguf=gguf()[:100],
    )
    report, _ = check_folder(tmp_path)
    assert report.project is not None
    told = [str(warning).removeprefix(f"{tmp_path}/") for warning in report.warnings]
    assert told[0].startswith("host.yaml:1:8 `path:none.gguf`: there is no file")
    assert told[1].startswith("host.yaml:3:29 ") and "cut.gguf is truncated" in told[1]
