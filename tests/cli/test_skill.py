from __future__ import annotations

import asyncio
import json
import shlex
import sys
from pathlib import Path

import pytest

from tests.cli.test_check_init_keys import run
from tests.host.stage import Stage, decided
from tests.personas.folder import persona, write
from tests.skills.samples import skill_file
from uniun_bots.skills.catalogue import BUILTINS

TONE = skill_file("tone", body="Be kind.<!-- for people -->")


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    return write(
        tmp_path,
        personas__tide_md=persona("skills: [tone]"),
        skills__tone_md=TONE,
        skills__broken_md="---\nname: broken\n---\nx",
        host_yaml="{}",
    )


def editor(folder: Path, *texts: str) -> str:
    """A program for $EDITOR that writes these texts, one at each start."""
    for number, text in enumerate(texts):
        (folder / f"text-{number}").write_text(text)
    script = folder / "editor.py"
    script.write_text(
        "import pathlib, sys\n"
        f"texts = sorted(pathlib.Path({str(folder)!r}).glob('text-*'))\n"
        "pathlib.Path(sys.argv[1]).write_text(texts[0].read_text())\n"
        "texts[0].unlink()\n"
        "import os, time; os.utime(sys.argv[1], (2e9, 2e9))\n"
    )
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}"


def test_list_shows_own_broken_and_predefined_skills(bots: Path) -> None:
    found = {one["name"]: one for one in json.loads(run("skill", "list", "--dir", bots, "--json").stdout)}
    assert set(found) == {"tone", "broken", *BUILTINS}
    assert (found["tone"]["is"], found["tone"]["personas"]) == ("text", ["tide"])
    assert (found["broken"]["is"], found["send-dm"]["is"]) == ("broken", "output")
    assert "`description` is missing" in found["broken"]["description"]
    assert "tone" in run("skill", "list", "--dir", bots).stdout


def test_show_tells_what_people_see_and_what_the_model_gets(bots: Path) -> None:
    shown = run("skill", "show", "tone", "--dir", bots).stdout
    assert "Be kind.<!-- for people -->" in shown
    assert shown.endswith("The model does not get the comments:\n\nBe kind.\n")
    found = json.loads(run("skill", "show", "tone", "--dir", bots, "--json").stdout)
    assert (found["body"], found["text"]) == ("Be kind.<!-- for people -->", "Be kind.")
    assert run("skill", "show", "send-dm", "--dir", bots).exit_code == 0


def test_metadata_cannot_pass_for_what_we_say(bots: Path) -> None:
    (bots / "skills" / "tone.md").write_text(skill_file("tone", "metadata: {is: predefined}"))
    shown = run("skill", "show", "tone", "--dir", bots).stdout
    assert "metadata.is    predefined" in shown and "is             text" in shown


def test_show_tells_what_is_wrong_with_a_broken_skill(bots: Path) -> None:
    result = run("skill", "show", "broken", "--dir", bots)
    assert result.exit_code == 2
    assert "broken.md:2:1 `description` is missing" in result.stderr
    assert run("skill", "show", "nothing", "--dir", bots).exit_code == 1


def test_new_opens_a_template_and_saves_what_is_right(bots: Path, tmp_path: Path) -> None:
    text = skill_file("greeting", body="Say hello.")
    result = run("skill", "new", "greeting", "--dir", bots, typed="y\n", EDITOR=editor(tmp_path, text))
    assert result.exit_code == 0, result.output
    assert (bots / "skills" / "greeting.md").read_text() == text
    assert "write `skills: [greeting]`" in result.stdout


def test_a_faulty_text_opens_again(bots: Path, tmp_path: Path) -> None:
    good = skill_file("greeting")
    texts = editor(tmp_path, skill_file("greeting", "type: js"), good)
    result = run("skill", "new", "greeting", "--dir", bots, typed="y\ny\n", EDITOR=texts)
    assert "never JavaScript" in result.stderr
    assert (bots / "skills" / "greeting.md").read_text() == good


def test_a_faulty_text_is_not_saved(bots: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_text("no skill")
    result = run("skill", "new", "greeting", "--dir", bots, "--from", tmp_path / "bad.md", "--yes")
    assert result.exit_code == 2 and "no frontmatter" in result.stderr
    texts = editor(tmp_path, "no skill")
    assert run("skill", "edit", "tone", "--dir", bots, typed="n\n", EDITOR=texts).exit_code == 2
    assert (bots / "skills" / "tone.md").read_text() == TONE


def test_a_text_may_come_from_standard_input(bots: Path) -> None:
    text = skill_file("greeting")
    result = run("skill", "new", "greeting", "--dir", bots, "--from", "-", "--yes", typed=text)
    assert result.exit_code == 0, result.output
    assert (bots / "skills" / "greeting.md").read_text() == text


def test_without_a_yes_nothing_changes(bots: Path, tmp_path: Path) -> None:
    texts = editor(tmp_path, skill_file("tone"))
    assert run("skill", "edit", "tone", "--dir", bots, typed="n\n", EDITOR=texts).exit_code == 1
    (bots / "personas" / "tide.md").write_text(persona())
    assert run("skill", "remove", "tone", "--dir", bots, typed="n\n").exit_code == 1
    assert (bots / "skills" / "tone.md").read_text() == TONE


def test_edit_shows_the_change_and_undo_takes_it_back(bots: Path, tmp_path: Path) -> None:
    changed = skill_file("tone", body="Be brief.")
    result = run("skill", "edit", "tone", "--dir", bots, typed="y\n", EDITOR=editor(tmp_path, changed))
    assert "-Be kind.<!-- for people -->\n+Be brief.\n" in result.stdout
    assert (bots / "skills" / "tone.md").read_text() == changed
    assert run("skill", "undo", "tone", "--dir", bots).exit_code == 0
    assert (bots / "skills" / "tone.md").read_text() == TONE


def test_a_skill_that_is_in_use_is_not_removed(bots: Path) -> None:
    result = run("skill", "remove", "tone", "--dir", bots, "--yes")
    assert (result.exit_code, "used by tide" in result.stderr) == (1, True)
    (bots / "personas" / "tide.md").write_text(persona())
    assert run("skill", "remove", "tone", "--dir", bots, "--yes").exit_code == 0
    assert not (bots / "skills" / "tone.md").exists()
    run("skill", "undo", "tone", "--dir", bots)
    assert (bots / "skills" / "tone.md").read_text() == TONE


def test_what_comes_with_the_package_is_not_changed(bots: Path) -> None:
    for command in ("edit", "remove"):
        result = run("skill", command, "send-dm", "--dir", bots, "--yes")
        assert (result.exit_code, "comes with the package" in result.stderr) == (1, True)


def test_a_skill_of_a_predefined_name_is_told_how_it_is_called(bots: Path) -> None:
    (bots / "mine.md").write_text(skill_file("send-dm"))
    result = run("skill", "new", "send-dm", "--dir", bots, "--from", bots / "mine.md", "--yes")
    assert "the model calls yours user-send-dm" in result.stdout


def test_check_covers_skills(bots: Path) -> None:
    result = run("check", bots)
    assert result.exit_code == 2
    assert f"{bots}/skills/broken.md:2:1 `description` is missing" in result.stdout
    (bots / "skills" / "broken.md").unlink()
    assert run("check", bots).stdout.endswith("ok: 1 persona, 1 skill, 2 relay sets\n")


def test_persona_show_tells_what_is_registered(bots: Path) -> None:
    one_shot = json.loads(run("persona", "show", "tide", "--dir", bots, "--json").stdout)
    assert one_shot["registered"] == {"text": ["tone"]}
    write(bots, personas__tide_md=persona("skills: [tone]", "agentic: true"))
    agentic = json.loads(run("persona", "show", "tide", "--dir", bots, "--json").stdout)
    assert agentic["registered"] == {
        "knowledge": ["search-notes", "expand-graph", "get-memories", "read-note"],
        "input": ["read-thread", "read-mentions-input"],
        "output": ["publish-feed-note"],
        "text": ["tone"],
        "silence": ["stay-silent"],
    }
    told = run("persona", "show", "tide", "--dir", bots).stdout
    assert "; input read-thread, read-mentions-input; output publish-feed-note" in told
    assert "measured     its model was not measured" in told


async def test_a_running_host_takes_the_change_over(stage: Stage) -> None:
    stage.persona(skills="[tone]")
    write(stage.folder, skills__tone_md=skill_file("tone", body="Be kind."))
    (stage.folder / "new.md").write_text(skill_file("tone", body="Be brief."))
    async with stage.host() as host:
        arguments = (
            "skill",
            "edit",
            "tone",
            "--dir",
            stage.folder,
            "--from",
            stage.folder / "new.md",
            "--yes",
        )
        result = await asyncio.to_thread(run, *arguments)
        assert result.exit_code == 0, result.output
        await decided(host, await stage.ask("When is high water?"))
    assert "tone:\nBe brief." in stage.engine.requests[0].messages[0].content
