"""The event against the NIP-SKL draft (v3), field by field, and what a reader makes of it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.docs.pages import DOCS
from tests.factory import NOW
from tests.sharing.samples import ADA, TEXT, YEAR_S, head_draft, published, release, signed, with_tag
from uniun_bots.errors import BadManifest, NotText
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.read import read_event
from uniun_bots.sharing.event import SKILL, drafts, hash_of, normal, read_manifest
from uniun_bots.sharing.reference import read_wanted
from uniun_bots.sharing.verify import verified_skill
from uniun_bots.skills.skill import Source
from uniun_bots.skills.skill_file import read_skill

KEY = ADA.public_key
DRAFT_OF_NIP_SKL: dict[str, Callable[[Event], bool]] = {
    "2: an addressable event of kind 33400": lambda e: e.kind == 33400 and 30_000 <= e.kind < 40_000,
    "2: keyed by `d`": lambda e: len(e.tag_values("d")) == 1,
    "2.1: `d` is a stable slug": lambda e: e.tag_values("d")[0].partition("@")[0] == "tide-table",
    "2.1: `name`": lambda e: e.tag_values("name") == ["tide-table"],
    "2.1: `version` is a semantic version": lambda e: bool(
        re.fullmatch(r"\d+\.\d+\.\d+", e.tag_values("version")[0])
    ),
    "2.1: `description` is a short summary": lambda e: e.tag_values("description") == ["Tides"],
    "2.1: `capability` is a single `none`": lambda e: e.tag_values("capability") == ["none"],
    "2.1: `expiry` is a Unix time": lambda e: e.tag_values("expiry") == [str(NOW + YEAR_S)],
    "2.1: `t` includes agent-skill": lambda e: "agent-skill" in e.tag_values("t"),
    "2.2: `t` of further keywords": lambda e: e.tag_values("t")[1:] == ["tides"],
    "1.2: `skill_scope_id` is kind, key, d and version": lambda e: (
        e.tag_values("skill_scope_id") == [f"33400:{KEY}:{e.tag_values('d')[0]}:1.1.0"]
    ),
    "2.4: `manifest_hash` is the SHA-256 of the bytes": lambda e: (
        e.tag_values("manifest_hash") == [hashlib.sha256(e.content.encode()).hexdigest()]
    ),
    "2.4: no byte order mark, LF line ends": lambda e: (
        not e.content.startswith("\ufeff") and "\r" not in e.content
    ),
    "2.4: the exact bytes that are loaded": lambda e: (
        read_skill(e.content, "x", Source.INSTALLED).skill is not None
    ),
}


@pytest.mark.parametrize("field", DRAFT_OF_NIP_SKL)
async def test_both_events_of_a_version_follow_the_draft(field: str) -> None:
    for event in await published(release(version="1.1.0", topics=("tides",))):
        assert DRAFT_OF_NIP_SKL[field](event), event.tags


async def test_a_version_is_published_under_its_name_and_under_name_and_version() -> None:
    of_version, of_name = map(read_manifest, await published())
    assert [of_version.event.tag_values("d"), of_name.event.tag_values("d")] == [
        ["tide-table@1.0.0"],
        ["tide-table"],
    ]
    assert (of_version.pinned, of_name.pinned) == (True, False)
    assert of_version.address == of_name.address == f"33400:{KEY}:tide-table"
    assert of_version.pinned_address == of_name.pinned_address == f"33400:{KEY}:tide-table@1.0.0"
    assert of_version.text == of_name.text == TEXT


async def test_a_version_names_the_one_before_it() -> None:
    old_version, old_name = await published()
    later = drafts(release(version="1.1.0"), KEY, SKILL, read_manifest(old_name), read_manifest(old_version))
    of_version, of_name = [read_manifest(await signed(draft)) for draft in later]
    assert of_version.previous == (old_version.id, old_name.id)
    assert of_name.previous == (old_name.id,)
    assert all(not read_manifest(event).previous for event in (old_version, old_name))


@pytest.mark.parametrize("text", ["a\r\nb\rc\n", "\ufeffa\nb\nc\n"])
def test_the_text_is_made_normal_before_it_is_hashed(text: str) -> None:
    assert normal(text) == "a\nb\nc\n"
    assert hash_of(normal(text)) == hashlib.sha256(b"a\nb\nc\n").hexdigest()


BROKEN: dict[str, tuple[str, tuple[str | None, ...], str]] = {
    "no d": ("d", (None,), "`d` is missing"),
    "two d": ("d", ("tide-table", "other"), "`d` stands there more than once"),
    "a path": ("d", ("../tide-table",), "`d` must be a name"),
    "a name in capitals": ("d", ("Tide-Table",), "`d` must be a name"),
    "the version of another": ("d", ("tide-table@2.0.0",), "`d` must be a name, or name@1.0.0"),
    "a blank name": ("name", (" ",), "`name` is blank"),
    "no version": ("version", (None,), "`version` is missing"),
    "no semver": ("version", ("1.0",), "`version` must be a version"),
    "no description": ("description", (None,), "`description` is missing"),
    "no hash": ("manifest_hash", (None,), "`manifest_hash` is missing"),
    "two hashes": ("manifest_hash", ("a" * 64, "b" * 64), "`manifest_hash` stands there more than once"),
    "a hash in capitals": ("manifest_hash", ("A" * 64,), "64 lower-case hex"),
    "no capability": ("capability", (None,), "`capability` is missing"),
    "no expiry": ("expiry", (None,), "`expiry` is missing"),
    "an expiry in words": ("expiry", ("never",), "`expiry` must be seconds"),
    "an endless expiry": ("expiry", ("9" * 40,), "`expiry` must be seconds"),
    "an expiry in other digits": ("expiry", ("١٢٣",), "`expiry` must be seconds"),
    "no topic": ("t", ("tides",), "`t` agent-skill is missing"),
    "the scope of another": (
        "skill_scope_id",
        (f"33400:{KEY}:other:1.0.0",),
        "`skill_scope_id` names something else",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_manifest_that_says_it_otherwise_is_refused(name: str) -> None:
    tag, values, told = BROKEN[name]
    with pytest.raises(BadManifest, match=re.escape(told)):
        read_manifest(await signed(with_tag(head_draft(), tag, *values)))


@pytest.mark.parametrize("rights", [("shell:exec",), ("none", "http:outbound"), ("None",)])
async def test_a_manifest_that_asks_for_rights_is_no_text(rights: tuple[str, ...]) -> None:
    with pytest.raises(NotText, match="asks for the right"):
        read_manifest(await signed(with_tag(head_draft(), "capability", *rights)))


async def test_too_many_tags_are_not_read() -> None:
    draft = head_draft()
    with pytest.raises(BadManifest, match="at most 200"):
        read_manifest(await signed(replace(draft, tags=draft.tags + (("x", "y"),) * 200)))


async def test_a_bare_tag_is_missing_and_no_crash() -> None:
    draft = head_draft()
    tags = (("d",), *draft.tags[1:])
    with pytest.raises(BadManifest, match="`d` is missing"):
        read_manifest(await signed(replace(draft, tags=tags)))


async def test_the_example_of_the_specification_is_a_skill_of_the_reference_below_it() -> None:
    page = (DOCS / "spec" / "skill-event.md").read_text()
    found = re.search(r"```text\n(\{.+?\})\n```\n\nIts reference is `(nevent1\w+)`", page, re.DOTALL)
    assert found
    event = read_event(found[1])
    assert verified_skill(event, NOW).skill.name == "tide-table"
    wanted = read_wanted(found[2])
    assert (wanted.event_id, wanted.author) == (event.id, event.author)
