"""What others than the author say of the author, and only those whose word counts."""

from __future__ import annotations

import json

import pytest

from tests.factory import NOW
from tests.sharing.samples import ADA, EVE, published, signed
from tests.sharing.town import Town
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.reference import spell_npub
from uniun_bots.nostr.secret import read_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.relays.nip05 import Nip05, Nip05Name, Standing
from uniun_bots.sharing.event import Manifest, read_manifest
from uniun_bots.sharing.signer_info import SignerInfo, signer_lines, who_signed

OWNER, FRIEND = LocalSigner(read_secret("0a" * 32)), LocalSigner(read_secret("fb" * 32))
SKILL_SECURITY = ("L", "skill-security")


class Domain(Nip05):
    """Confirms ada@tides.example for ADA and nothing else."""

    def __init__(self) -> None:
        super().__init__(proxied=True)

    async def standing(self, name: Nip05Name, public_key: str) -> Standing:
        known = (str(name), public_key) == ("ada@tides.example", ADA.public_key)
        return Standing.CONFIRMED if known else Standing.DENIED


async def profile(by: LocalSigner = ADA, at: int = NOW, **said: object) -> Event:
    return await signed(Draft(0, json.dumps(said), (), at), by)


async def contacts(*keys: str, by: LocalSigner = OWNER, at: int = NOW) -> Event:
    return await signed(Draft(3, "", tuple(("p", key) for key in keys), at), by)


async def label(
    said: str, *targets: tuple[str, str], by: LocalSigner = FRIEND, space: str = "skill-security"
) -> Event:
    return await signed(Draft(1985, "", (("L", space), ("l", said, space), *targets), NOW), by)


async def skill(town: Town) -> Manifest:
    of_version, of_name = await published()
    await town.put(of_version, of_name)
    return read_manifest(of_name)


async def asked(town: Town, manifest: Manifest, owner: str | None = OWNER.public_key) -> SignerInfo:
    return await who_signed(town.where, manifest, owner, Domain())


async def test_a_stranger_is_told_as_one(town: Town) -> None:
    info = await asked(town, await skill(town))
    assert (info.name, info.nip05, info.followed, info.labels, info.is_owner) == ("", None, None, (), False)
    assert list(signer_lines(info)) == [
        f"signed by {spell_npub(ADA.public_key)}",
        "  has no name of a domain (NIP-05)",
        "  whether you follow them is not known: write `owner: npub1…` into host.yaml",
    ]


async def test_a_friend_with_a_confirmed_name_is_told_as_one(town: Town) -> None:
    manifest = await skill(town)
    await town.put(await profile(name="Ada", about="Tides", nip05="Ada@tides.example"))
    await town.put(await contacts(ADA.public_key, FRIEND.public_key))
    assert list(signer_lines(await asked(town, manifest)))[1:] == [
        "  calls themselves Ada",
        "  says of themselves Tides",
        "  ada@tides.example: the domain confirms it",
        "  you follow them",
    ]


async def test_a_name_that_the_domain_does_not_confirm_is_never_shown_as_confirmed(town: Town) -> None:
    manifest = await skill(town)
    await town.put(await profile(nip05="jack@tides.example"))
    info = await asked(town, manifest)
    assert info.standing is Standing.DENIED
    assert "  claims to be jack@tides.example, and the domain does NOT confirm it" in list(signer_lines(info))


async def test_a_name_that_was_not_checked_is_told_as_that(town: Town) -> None:
    manifest = await skill(town)
    await town.put(await profile(nip05="ada@tides.example"))
    async with Nip05(proxied=True) as names:
        info = await who_signed(town.where, manifest, None, names)
    assert "  claims to be ada@tides.example, which could not be checked" in list(signer_lines(info))


@pytest.mark.parametrize(
    "claim", ["ada@127.0.0.1", "ada@localhost", "not a name", 5, "ada@tid\u0435s.example"]
)
async def test_what_is_no_name_of_a_domain_is_not_asked(town: Town, claim: object) -> None:
    manifest = await skill(town)
    await town.put(await profile(nip05=claim))
    assert (await asked(town, manifest)).nip05 is None


async def test_the_owners_newest_list_decides_whom_they_follow(town: Town) -> None:
    manifest = await skill(town)
    await town.put(await contacts(ADA.public_key, at=NOW - 10), await contacts(FRIEND.public_key, at=NOW))
    await town.put(await contacts(ADA.public_key, by=EVE, at=NOW + 5))
    assert (await asked(town, manifest)).followed is False


async def test_ones_own_skill_is_told_as_that(town: Town) -> None:
    info = await asked(town, await skill(town), owner=ADA.public_key)
    assert info.is_owner
    assert next(signer_lines(info)).endswith(", which is you")


async def test_labels_count_when_somebody_whom_the_owner_follows_gave_them(town: Town) -> None:
    manifest = await skill(town)
    of_event, of_address = ("e", manifest.event.id), ("a", manifest.address)
    good = [
        await label("malicious", of_event),
        await label("safe", of_address),
        await label("malware", ("p", ADA.public_key)),
        await label("scam", ("a", manifest.pinned_address), by=OWNER),
    ]
    useless = [
        await label("malicious", of_event, by=EVE),
        await label("safe", of_event, by=ADA),
        await label("malicious", ("e", "00" * 32), ("p", ADA.public_key)),
        await label("malicious", of_event, space="mood"),
    ]
    await town.put(*good, *useless, await contacts(FRIEND.public_key, ADA.public_key))
    info = await asked(town, manifest)
    assert sorted(one.said for one in info.labels) == [("malicious",), ("malware",), ("safe",), ("scam",)]
    assert {one.event_id for one in info.malicious} == {good[0].id, good[2].id, good[3].id}
    lines = "\n".join(signer_lines(info))
    assert f"{spell_npub(FRIEND.public_key)}, whom you trust, calls it malicious" in lines
    assert "calls the author malware" in lines


async def test_without_an_owner_no_label_counts(town: Town) -> None:
    manifest = await skill(town)
    await town.put(await label("malicious", ("e", manifest.event.id)), await contacts(FRIEND.public_key))
    assert (await asked(town, manifest, owner=None)).labels == ()


async def test_no_field_of_a_stranger_reaches_the_terminal_as_it_is(town: Town) -> None:
    manifest = await skill(town)
    evil = "A\u202ed\x1b[2J\na\nsigned by you"
    await town.put(await profile(name=evil + "p\u0430ypal", about=evil, nip05="_@tides.example"))
    await town.put(await label(evil, ("e", manifest.event.id)), await contacts(FRIEND.public_key))
    lines = list(signer_lines(await asked(town, manifest)))
    assert all(line.isprintable() for line in lines), lines
    assert sum(line.startswith("signed by") for line in lines) == 1
    assert "\u0430⟦CYRILLIC SMALL LETTER A⟧" in lines[1]
