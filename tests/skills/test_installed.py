"""Installed skills in the store, and loading them again: only what was said yes to, as its author signed it."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tests.factory import NOW, gana
from tests.sharing.samples import TEXT, published, release
from tests.skills.samples import skill_file
from tests.stores import count
from uniun_bots.database.migrate import migrate
from uniun_bots.database.store import FILE, Store, connect
from uniun_bots.errors import NotFound
from uniun_bots.sharing.event import hash_of, read_manifest
from uniun_bots.skills.catalogue import BUILTINS
from uniun_bots.skills.installed import author_of_event, disable, install, installed_skills, uninstall
from uniun_bots.skills.load_installed import shelved
from uniun_bots.skills.load_skills import load_skills
from uniun_bots.skills.provenance import Installed, Origin, State
from uniun_bots.skills.skill import Source

LOCAL = Installed("tone", skill_file("tone"), hash_of(skill_file("tone")), "/home/ada/tone.md", "ada", NOW)


async def from_relay(text: str = TEXT, name: str = "tide-table") -> Installed:
    event = (await published(release(text, name=name)))[1]
    found = read_manifest(event)
    origin = Origin(
        event.id, event.author, found.address, "1.0.0", found.expires_at, ("ws://here",), (), NOW, event.raw
    )
    return Installed(name, text, hash_of(text), "npub1…/tide-table", "ada", NOW, origin)


def filled(folder: Path, *skills: Installed, change: str = "") -> Path:
    """A project whose store has these, and then something else happened to it."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    with contextlib.closing(connect(folder / "data" / FILE)) as conn:
        migrate(conn)
        for one in skills:
            install(conn, one)
        if change:
            conn.execute(change)
    return folder


async def test_what_is_installed_is_loaded_as_text_with_where_it_came_from(tmp_path: Path) -> None:
    one = await from_relay()
    found = load_skills(filled(tmp_path, one, LOCAL), NOW)
    assert (found.faults, found.warnings) == ((), ())
    assert {name: skill.source for name, skill in found.texts.items()} == {
        "tide-table": Source.INSTALLED,
        "tone": Source.INSTALLED,
    }
    assert found.texts["tide-table"].text == "Say when the tide comes."
    assert found.installed == (replace(one, state_at=NOW), replace(LOCAL, state_at=NOW))


CHANGES = [
    "UPDATE skills SET content = replace(content, 'comes', 'went')",
    "UPDATE skills SET content = content || ' '",
    "UPDATE skills SET hash = '" + "0" * 64 + "'",
    "UPDATE skills SET event_id = '" + "0" * 64 + "'",
    "UPDATE skills SET name = 'other'; ",
    "DELETE FROM skill_events",
    "UPDATE skill_events SET author = '" + "0" * 64 + "'",
    "UPDATE skill_events SET expires_at = expires_at + 1",
    "UPDATE skill_events SET address = address || 's'",
    "UPDATE skill_events SET raw = CAST(replace(CAST(raw AS TEXT), 'comes', 'went!') AS BLOB)",
    "UPDATE skill_events SET raw = x'00'",
    'UPDATE skill_events SET raw = CAST(replace(CAST(raw AS TEXT), \'"sig":"\', \'"sig":"0\') AS BLOB)',
]


@pytest.mark.parametrize("change", CHANGES)
async def test_a_changed_row_is_refused_and_told(tmp_path: Path, change: str) -> None:
    found = load_skills(filled(tmp_path, await from_relay(), change=change), NOW)
    assert found.texts == {}
    (told,) = found.faults
    assert "was changed since it was installed" in told.message
    assert not list(found.complaints(gana(skills=[Path(told.file).stem]), None))


async def test_text_and_hash_that_were_changed_together_do_not_fit_the_signature(tmp_path: Path) -> None:
    """The one that is harder to see: all that stands in the row of the skill fits together."""
    one, forged = await from_relay(), TEXT.replace("comes", "went")
    change = f"UPDATE skills SET content = '{forged}', hash = '{hash_of(forged)}'"  # noqa: S608
    found = load_skills(filled(tmp_path, one, change=change), NOW)
    assert found.texts == {} and "not what its author signed" in found.faults[0].message


async def test_every_flipped_byte_of_a_stored_event_is_found(tmp_path: Path) -> None:
    one = await from_relay()
    assert one.origin is not None
    for at in range(0, len(one.origin.raw), 7):
        raw = bytearray(one.origin.raw)
        raw[at] ^= 1
        found = shelved([replace(one, origin=replace(one.origin, raw=bytes(raw)))], NOW)
        assert (found.skills, len(found.faults)) == ((), 1), at


async def test_what_is_over_or_disabled_is_told_and_not_used(tmp_path: Path) -> None:
    one = await from_relay()
    assert one.origin is not None
    folder = filled(tmp_path, one)
    assert load_skills(folder, one.origin.expires_at - 1).texts
    found = load_skills(folder, one.origin.expires_at)
    assert (found.texts, found.faults) == ({}, ()) and "it is over" in found.disabled["tide-table"]
    with contextlib.closing(connect(folder / "data" / FILE)) as conn:
        assert disable(conn, "tide-table", one.origin.event_id, State.REVOKED, "wrong port", NOW)
    found = load_skills(folder, NOW)
    assert "its author took it back: wrong port" in found.disabled["tide-table"]
    assert [fault.file for fault in found.warnings] == ["installed/tide-table.md"]
    assert not list(found.complaints(gana(skills=["tide-table"]), None))


async def test_disabling_is_for_the_version_that_is_installed(tx: sqlite3.Connection) -> None:
    one = await from_relay()
    install(tx, one)
    assert one.origin is not None
    assert not disable(tx, "tide-table", "0" * 64, State.REVOKED, "", NOW)
    assert disable(tx, "tide-table", one.origin.event_id, State.REVOKED, "", NOW)
    assert not disable(tx, "tide-table", one.origin.event_id, State.LABELLED, "", NOW)
    install(tx, one)
    assert installed_skills(tx)[0].state is State.ACTIVE


async def test_removing_leaves_nothing(tx: sqlite3.Connection) -> None:
    one = await from_relay()
    install(tx, one)
    assert one.origin is not None and author_of_event(tx, one.origin.event_id) == one.origin.author
    uninstall(tx, "tide-table")
    assert (count(tx, "skills"), count(tx, "skill_events")) == (0, 0)
    with pytest.raises(NotFound):
        uninstall(tx, "tide-table")


async def test_a_file_of_the_project_goes_before_an_installed_skill_and_that_is_told(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "tone.md").write_text(skill_file("tone", body="Mine."))
    found = load_skills(filled(tmp_path, LOCAL), NOW)
    assert found.texts["tone"].text == "Mine."
    assert "an installed skill has this name too" in found.warnings[0].message


async def test_an_installed_skill_never_takes_a_predefined_name(tmp_path: Path) -> None:
    taken = await from_relay(skill_file("send-dm"), "send-dm")
    found = load_skills(filled(tmp_path, taken), NOW)
    assert set(found.texts) == {"user-send-dm"}
    assert found.predefined["send-dm"].source is Source.PREDEFINED and set(found.predefined) == set(BUILTINS)


async def test_a_store_of_a_version_without_installed_skills_has_none(tmp_path: Path) -> None:
    filled(tmp_path, change="DROP TABLE skills")
    assert load_skills(tmp_path, NOW).faults == ()


async def test_a_damaged_store_is_told_and_the_files_go_on(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "tone.md").write_text(skill_file("tone"))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / FILE).write_bytes(b"no database" * 1000)
    found = load_skills(tmp_path, NOW)
    assert set(found.texts) == {"tone"}
    assert "installed skills cannot be read" in found.faults[0].message


async def test_skill_and_origin_are_written_together_or_not_at_all(store: Store) -> None:
    one = await from_relay()
    assert one.origin is not None
    broken = replace(one, origin=replace(one.origin, version=None))  # type: ignore[arg-type]
    with pytest.raises(sqlite3.IntegrityError):
        await store.write(lambda tx: install(tx, broken))
    assert await store.read(installed_skills) == []
