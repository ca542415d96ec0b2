from __future__ import annotations

import json

import pytest

from tests.factory import NOW
from tests.sharing.samples import ADA, EVE, deletion, head_draft, published, release, signed, with_tag
from tests.sharing.town import Town
from tests.skills.samples import skill_file
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.sharing.search import LONGEST_WORD, MOST_LABELS, MOST_WORDS, read_labels, search


async def other(name: str, description: str, by: LocalSigner = ADA, at: int = NOW) -> tuple[Event, Event]:
    text = skill_file(name, description=description)
    made = release(text, name=name, description=description, created_at=at, topics=("sea",))
    return await published(made, by=by)


async def test_search_finds_the_newest_of_each_name_and_no_versions(town: Town) -> None:
    await town.put(*await published(), *await published(release(version="1.1.0", created_at=NOW)))
    await town.put(*await other("knots", "Tie things", at=NOW + 1))
    found = await search(town.where, (), NOW)
    assert [(one.found.skill.name, str(one.found.manifest.version)) for one in found] == [
        ("knots", "1.0.0"),
        ("tide-table", "1.1.0"),
    ]


async def test_words_author_and_topic_narrow_it(town: Town) -> None:
    await town.put(
        *await published(), *await other("knots", "Tie ropes"), *await other("bread", "Bake", by=EVE)
    )

    async def names(*words: str, author: str | None = None, topic: str | None = None) -> set[str]:
        found = await search(town.where, words, NOW, author=author, topic=topic)
        return {one.found.skill.name for one in found}

    assert await names("ROPES", "tie") == {"knots"}
    assert await names("sea") == {"knots", "bread"}
    assert await names(author=EVE.public_key) == {"bread"}
    assert await names(topic="sea") == {"knots", "bread"}
    assert await names("nothing") == set()


async def test_what_was_taken_back_is_not_offered_although_a_relay_still_has_it(two_relays: Town) -> None:
    await two_relays.put(*await published(), at=[0])
    gone = await deletion(("a", f"33400:{ADA.public_key}:tide-table"))
    assert len(await search(two_relays.where, (), NOW)) == 1
    await two_relays.put(gone, at=[1])
    assert await search(two_relays.where, (), NOW) == []


async def test_what_could_not_be_installed_is_not_offered(town: Town) -> None:
    expired = (await published(release(expires_at=NOW)))[1]
    wrong = await signed(with_tag(head_draft(), "manifest_hash", "0" * 64), EVE)
    knots = await other("knots", "Tie ropes")
    await town.put(expired, wrong, *knots)
    await town.put(await deletion(("a", f"33400:{ADA.public_key}:knots"), at=NOW + 5))
    assert await search(town.where, (), NOW) == []


async def test_author_names_and_labels_are_shown(town: Town) -> None:
    of_version, of_name = await published()
    profile = await ADA.sign(Draft(0, json.dumps({"name": "Ada"}), (), NOW))
    label = await EVE.sign(label_draft(("e", of_name.id)))
    elsewhere = await EVE.sign(label_draft(("e", "0" * 64)))
    await town.put(of_version, of_name, profile, label, elsewhere)
    (offer,) = await search(town.where, (), NOW)
    assert offer.author_name == "Ada"
    assert [(one.by, one.said) for one in offer.labels] == [(EVE.public_key, ("malicious-confirmed",))]


async def test_a_flood_of_labels_is_cut_short(town: Town) -> None:
    _, of_name = await published()
    words = tuple(("l", f"{number:03d}" + "x" * 500, "skill-security") for number in range(50))
    made = [
        await EVE.sign(Draft(1985, "", (("L", "skill-security"), *words, ("e", of_name.id)), NOW + number))
        for number in range(MOST_LABELS + 1)
    ]
    await town.put(of_name, *made)
    (offer,) = await search(town.where, (), NOW)
    assert [len(label.said) for label in offer.labels] == [MOST_WORDS] * MOST_LABELS
    assert {len(word) for label in offer.labels for word in label.said} == {LONGEST_WORD}


def label_draft(*targets: tuple[str, str], namespace: str = "skill-security") -> Draft:
    tags = (("L", namespace), ("l", "malicious-confirmed", namespace), *targets)
    return Draft(1985, "", tags, NOW)


@pytest.mark.parametrize(
    "draft",
    [
        label_draft(("e", "0" * 64), namespace="ugc"),
        Draft(1985, "", (("l", "malicious-confirmed"), ("e", "0" * 64)), NOW),
        Draft(1985, "", (("L", "skill-security"), ("l", "scan-clean", "other"), ("e", "0" * 64)), NOW),
        Draft(1, "", label_draft(("e", "0" * 64)).tags, NOW),
        label_draft(),
    ],
)
async def test_labels_of_other_things_say_nothing(draft: Draft) -> None:
    assert read_labels(await EVE.sign(draft)) == []
