"""Templates pass the steps that skills pass, and name skills that anybody can fetch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.factory import NOW
from tests.sharing.hostile import Liar, forged
from tests.sharing.samples import ADA, EVE, YEAR_S, deletion, published, signed, with_tag
from tests.sharing.town import Town
from tests.skills.samples import skill_file
from uniun_bots.errors import (
    BadContent,
    BadManifest,
    Deleted,
    Expired,
    NotFetched,
    SharingRefused,
    TooLarge,
    Unresolved,
    WrongHash,
    WrongKind,
    WrongSignature,
)
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.sharing.event import LARGEST_BYTES, SKILL, Release, drafts, hash_of
from uniun_bots.sharing.persona_template import TEMPLATE
from uniun_bots.sharing.reference import spell_name
from uniun_bots.sharing.template_candidate import (
    look_up_template,
    read_local_template,
    verified_template,
)
from uniun_bots.sharing.template_skills import skill_references
from uniun_bots.sharing.versions import Version
from uniun_bots.skills.provenance import Installed, Origin

HEAD = "name: Tide Teller\ndescription: Tells the tide\noutput: {type: feed}\ntrigger: once-on-enable\n"
TEXT = f"---\n{HEAD}---\nSay it.\n"
NAME = spell_name(ADA.public_key, "tide-teller")


def template_draft(text: str = TEXT, **changes: object) -> Draft:
    release = Release("tide-teller", Version("1.0.0"), "Tells the tide", text, NOW + YEAR_S, NOW - 60)
    return drafts(replace(release, **changes), ADA.public_key, TEMPLATE)[1]  # type: ignore[arg-type]


async def test_a_template_is_found_by_its_name_and_read(town: Town) -> None:
    event = await signed(template_draft())
    await town.put(event)
    found = await look_up_template(town.where, NAME, NOW)
    assert (found.name, found.template.name, found.template.task) == ("tide-teller", "Tide Teller", "Say it.")
    assert found.content_hash == hash_of(TEXT) and found.manifest and found.manifest.event == event


async def test_a_skill_in_place_of_a_template_is_told_with_the_command_for_it() -> None:
    with pytest.raises(WrongKind, match="`uniun-bots skill inspect`"):
        verified_template(await skill_event(), NOW)


async def skill_event() -> Event:
    return (await published())[1]


async def changed() -> Event:
    return forged(await signed(template_draft()), content=TEXT + "!")


async def by_kind() -> Event:
    """A skill's kind around a template's text: one of them must not pass for the other."""
    return await signed(
        drafts(Release("x", Version("1.0.0"), "x", TEXT, NOW + 9, NOW), ADA.public_key, SKILL)[1]
    )


@pytest.mark.parametrize(
    ("build", "refused"),
    [
        (skill_event, WrongKind),
        (by_kind, WrongKind),
        (changed, WrongSignature),
        (lambda: signed(with_tag(template_draft(), "t", "agent-skill")), BadManifest),
        (lambda: signed(with_tag(template_draft(), "manifest_hash", "0" * 64)), WrongHash),
        (lambda: signed(with_tag(template_draft(), "d", "../x")), BadManifest),
        (lambda: signed(template_draft(expires_at=NOW)), Expired),
        (lambda: signed(template_draft(TEXT + "x" * LARGEST_BYTES)), TooLarge),
        (lambda: signed(template_draft(TEXT.replace("---\nSay", "identity: env:X\n---\nSay"))), BadContent),
        (lambda: signed(template_draft(TEXT.replace("---\nSay", "relays: evil\n---\nSay"))), BadContent),
        (lambda: signed(template_draft(TEXT.replace("Say", "Say \u202e"))), BadContent),
        (lambda: signed(template_draft(skill_file("tide-teller"))), BadContent),
    ],
)
async def test_a_template_passes_the_steps_of_a_skill(build: object, refused: type[SharingRefused]) -> None:
    event = await build()  # type: ignore[operator]
    with pytest.raises(refused):
        verified_template(event, NOW)


async def test_relays_that_lie_about_a_template_are_not_believed() -> None:
    event = await signed(template_draft())
    for relays, refused in (
        ([[forged(event, created_at=NOW)]], NotFetched),
        ([[await signed(template_draft(), EVE)]], NotFetched),
        ([[event], [await deletion(("e", event.id))]], Deleted),
    ):
        with pytest.raises(refused):
            await look_up_template(Liar(relays).where, NAME, NOW)


def test_a_local_template_is_made_normal_and_read(tmp_path: Path) -> None:
    file = tmp_path / "tide-teller.md"
    file.write_bytes(TEXT.replace("\n", "\r\n").encode())
    found = read_local_template(file)
    assert (found.name, found.text, found.manifest) == ("tide-teller", TEXT, None)
    with pytest.raises(Unresolved):
        read_local_template(tmp_path / "nothing.md")
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(BadContent):
        read_local_template(file)


async def test_a_skill_is_named_by_the_version_whose_id_stays(town: Town) -> None:
    of_version, of_name = await published()
    await town.put(of_version, of_name)
    texts = {"tide-table": hash_of(of_name.content)}
    (found,) = await skill_references(town.where, ADA.public_key, texts, [], SKILL)
    assert (found.event, found.hash) == (of_version.id, f"sha256:{hash_of(of_name.content)}")


async def test_an_installed_skill_is_named_by_the_event_of_its_author(town: Town) -> None:
    of_version, of_name = await published()
    origin = Origin(of_name.id, ADA.public_key, "", "1.0.0", NOW, (), (), NOW, of_name.raw)
    kept = Installed("tide-table", of_name.content, hash_of(of_name.content), "x", "eve", NOW, origin)
    texts = {"tide-table": kept.content_hash}
    (gone,) = await skill_references(town.where, EVE.public_key, texts, [kept], SKILL)
    assert gone.event == of_name.id
    await town.put(of_version)
    await town.put(of_name)
    (found,) = await skill_references(town.where, EVE.public_key, texts, [kept], SKILL)
    assert found.event == of_version.id


async def test_a_skill_that_nobody_else_can_fetch_as_it_is_here_is_refused(town: Town) -> None:
    await town.put(*await published())
    for texts in ({"tide-table": hash_of("changed since")}, {"unknown": hash_of("x")}):
        with pytest.raises(SharingRefused, match="is not published as it is here"):
            await skill_references(town.where, ADA.public_key, texts, [], SKILL)


def test_the_kinds_and_topics_of_skills_and_templates_differ() -> None:
    assert TEMPLATE.kind != SKILL.kind and TEMPLATE.topic != SKILL.topic
