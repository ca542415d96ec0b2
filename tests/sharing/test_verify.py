"""Each step of the verification refuses with its own error, and lets what is honest pass."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from tests.factory import NOW
from tests.sharing.samples import ADA, EVE, TEXT, deletion, head_draft, published, release, signed, with_tag
from tests.skills.samples import skill_file
from uniun_bots.errors import (
    BadContent,
    BadManifest,
    Deleted,
    Expired,
    NotText,
    SharingRefused,
    TooLarge,
    WrongHash,
    WrongKind,
    WrongSignature,
)
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.read import read_event
from uniun_bots.sharing.event import LARGEST_BYTES, Form, hash_of
from uniun_bots.sharing.verify import verified_skill


async def head(text: str = TEXT) -> Event:
    return (await published(release(text)))[1]


def changed(event: Event, **fields: object) -> Event:
    """The same signature over something else."""
    return read_event(json.dumps(json.loads(event.raw) | fields))


async def test_an_honest_skill_passes_with_its_text() -> None:
    for event in await published():
        found = verified_skill(event, NOW)
        assert (found.skill.name, found.skill.text) == ("tide-table", "Say when the tide comes.")
        assert (found.manifest.author, found.manifest.text) == (ADA.public_key, TEXT)


@pytest.mark.parametrize(
    "fields",
    [
        {"content": TEXT + "!"},
        {"created_at": NOW},
        {"pubkey": EVE.public_key},
        {"id": "0" * 64},
        {"sig": "0" * 128},
    ],
    ids=lambda fields: next(iter(fields)),
)
async def test_a_changed_event_has_the_wrong_signature(fields: dict[str, object]) -> None:
    with pytest.raises(WrongSignature):
        verified_skill(changed(await head(), **fields), NOW)


async def test_fields_that_are_not_those_of_the_bytes_have_the_wrong_signature() -> None:
    with pytest.raises(WrongSignature):
        verified_skill(replace(await head(), content=TEXT + "!"), NOW)


async def test_another_kind_is_refused_and_the_kind_is_a_setting() -> None:
    event = await signed(replace(with_tag(head_draft(), "skill_scope_id", None), kind=33999))
    with pytest.raises(WrongKind, match="kind 33999"):
        verified_skill(event, NOW)
    assert verified_skill(event, NOW, form=Form("skill", "agent-skill", 33999)).skill.name == "tide-table"


def of_size(size: int) -> str:
    """Three bytes a character, so that bytes and not characters are counted; the lines are of usual length."""
    start = skill_file(body="")
    left = size - len(start.encode())
    return start + "€" * (left // 3) + "x" * (left % 3)


async def test_64_kib_are_read_and_not_one_byte_more() -> None:
    assert len(of_size(LARGEST_BYTES).encode()) == LARGEST_BYTES
    assert verified_skill(await head(of_size(LARGEST_BYTES)), NOW).manifest.text
    with pytest.raises(TooLarge, match="65,537 bytes"):
        verified_skill(await head(of_size(LARGEST_BYTES + 1)), NOW)


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8-sig"])
async def test_a_hash_over_another_encoding_is_wrong(encoding: str) -> None:
    text = skill_file(body="Où est la marée ?")
    wrong = hashlib.sha256(text.encode(encoding)).hexdigest()
    with pytest.raises(WrongHash):
        verified_skill(await signed(with_tag(head_draft(text), "manifest_hash", wrong)), NOW)


@pytest.mark.parametrize("text", ["\ufeff" + TEXT, TEXT.replace("\n", "\r\n"), TEXT + "\r"])
async def test_a_text_that_is_not_normal_is_refused_although_its_hash_fits(text: str) -> None:
    event = await signed(with_tag(head_draft(text), "manifest_hash", hash_of(text)))
    with pytest.raises(WrongHash, match="byte order mark or CR"):
        verified_skill(event, NOW)


async def test_what_is_over_is_refused_to_the_second() -> None:
    event = (await published(release(expires_at=NOW)))[1]
    assert verified_skill(event, NOW - 1)
    with pytest.raises(Expired):
        verified_skill(event, NOW)


async def test_what_its_author_took_back_is_refused() -> None:
    of_version, of_name = await published()
    by_id = await deletion(("e", of_name.id), why="it was wrong")
    by_address = await deletion(("a", f"33400:{ADA.public_key}:tide-table"))
    with pytest.raises(Deleted, match="it was wrong"):
        verified_skill(of_name, NOW, [by_id])
    assert verified_skill(of_version, NOW, [by_id])
    for event in (of_version, of_name):
        with pytest.raises(Deleted):
            verified_skill(event, NOW, [by_address])


async def test_a_deletion_counts_from_the_author_alone_and_not_for_what_came_after_it() -> None:
    event = await head()
    address = f"33400:{ADA.public_key}:tide-table"
    by_eve = await deletion(("e", event.id), ("a", address), by=EVE)
    before = await deletion(("a", address), at=event.created_at - 1)
    assert verified_skill(event, NOW, [by_eve, before])


async def test_a_manifest_of_one_name_with_the_text_of_another_is_refused() -> None:
    with pytest.raises(BadManifest, match="says that it is `other`"):
        verified_skill(await head(skill_file("other")), NOW)


SMUGGLED = [
    "type: js",
    "Type: JavaScript",
    "TYPE: mcp",
    "'type ': native",
    "\uff54\uff59\uff50\uff45: js",
    "metadata: {type: js}",
    "scripts: [a.sh]",
    "allowed-tools: Bash",
    "mcp_servers: x",
]


@pytest.mark.parametrize("line", SMUGGLED)
async def test_a_skill_that_asks_for_more_than_text_has_its_own_error(line: str) -> None:
    with pytest.raises(NotText):
        verified_skill(await head(skill_file("tide-table", line)), NOW)


@pytest.mark.parametrize(
    "text",
    [
        "no frontmatter",
        skill_file("tide-table", body=""),
        skill_file("../x"),
        skill_file() + "\0",
        skill_file() + "\u202e",
    ],
)
async def test_a_text_that_is_no_skill_tells_its_faults(text: str) -> None:
    with pytest.raises(BadContent) as caught:
        verified_skill(await head(text), NOW)
    assert caught.value.faults and isinstance(caught.value, SharingRefused)
