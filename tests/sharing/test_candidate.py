from __future__ import annotations

from pathlib import Path

import pytest

from tests.factory import NOW
from tests.sharing.samples import ADA, TEXT, published
from tests.sharing.town import Town
from tests.skills.samples import skill_file
from uniun_bots.errors import BadContent, NotText, TooLarge, Unresolved
from uniun_bots.sharing.candidate import is_local, look_up, read_local
from uniun_bots.sharing.event import LARGEST_BYTES, hash_of
from uniun_bots.sharing.reference import spell_event, spell_name


async def test_a_reference_becomes_a_verified_candidate(town: Town) -> None:
    of_version, of_name = await published()
    await town.put(of_version, of_name)
    found = await look_up(town.where, spell_name(ADA.public_key, "tide-table"), NOW)
    assert (found.name, found.text, found.event, found.relays) == ("tide-table", TEXT, of_name, town.urls)
    assert found.content_hash == hash_of(TEXT)


@pytest.mark.parametrize(
    "written", ["./SKILL.md", "SKILL.md", "/home/ada", "~/skill", "../skill", ".", "tone.MD"]
)
def test_paths_are_told_from_references(written: str) -> None:
    assert is_local(written)
    assert not is_local("npub1abc/tone") and not is_local("note1abc")
    relays = tuple(f"wss://relay{number}.example" for number in range(6))
    assert not is_local(spell_event("ab" * 32, ADA.public_key, 33400, relays))


def test_a_file_of_any_line_ends_is_taken_as_its_canonical_text(tmp_path: Path) -> None:
    file = tmp_path / "anything.md"
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    found = read_local(file)
    assert (found.name, found.text, found.event) == ("tide-table", TEXT, None)
    assert found.source == str(file.resolve())


def test_a_folder_is_its_skill_file_and_what_is_left_out_is_told(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text(TEXT)
    (tmp_path / "LICENSE").write_text("CC0")
    (tmp_path / "references").mkdir()
    (tmp_path / "references" / "ports.md").write_text("Ports")
    found = read_local(tmp_path)
    assert set(found.left_out) == {"LICENSE", "references/ports.md"}
    assert found.text == TEXT


@pytest.mark.parametrize(
    "inside", ["scripts/run.txt", "Scripts/a", "bin/x", "tool.py", "deep/er/tool.SH", "lib.wasm"]
)
def test_a_folder_with_something_to_run_is_refused_and_told_why(tmp_path: Path, inside: str) -> None:
    (tmp_path / "SKILL.md").write_text(TEXT)
    (tmp_path / inside).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / inside).write_text("x")
    with pytest.raises(NotText, match="nothing of one is ever run"):
        read_local(tmp_path)


def test_an_executable_file_is_something_to_run_whatever_its_name(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text(TEXT)
    (tmp_path / "notes").write_text("#!/bin/sh")
    (tmp_path / "notes").chmod(0o755)
    with pytest.raises(NotText):
        read_local(tmp_path)


def test_what_is_not_there_or_no_skill_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unresolved, match="there is no"):
        read_local(tmp_path / "nothing.md")
    with pytest.raises(Unresolved, match=r"has no SKILL\.md"):
        read_local(tmp_path)
    (tmp_path / "a.md").write_text(skill_file("tide-table", "type: js"))
    with pytest.raises(NotText):
        read_local(tmp_path / "a.md")
    (tmp_path / "b.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadContent, match="UTF-16"):
        read_local(tmp_path / "b.md")
    (tmp_path / "c.md").write_text(skill_file(body="x" * LARGEST_BYTES))
    with pytest.raises(TooLarge):
        read_local(tmp_path / "c.md")
