"""Who signed what is shared, as far as others than themselves can tell: a signature alone says nothing of a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from uniun_bots.nostr.event import Event
from uniun_bots.nostr.event_id import is_id
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.profile import read_profile
from uniun_bots.nostr.reference import spell_npub
from uniun_bots.nostr.text import cut
from uniun_bots.relays.nip05 import Nip05, Nip05Name, Standing, read_name
from uniun_bots.sharing.event import Manifest
from uniun_bots.sharing.fetch import Where, newest
from uniun_bots.sharing.look_alikes import marked_name
from uniun_bots.sharing.search import LABELS, MOST_IN_ONE, Label, read_labels
from uniun_bots.sharing.visible import visible_line

MOST_FOLLOWED = 5_000
_LONGEST_ABOUT = 280
MALICIOUS = frozenset(
    ("malicious", "malware", "dangerous", "scam", "unsafe", "compromised", "prompt-injection")
    + ("malicious-confirmed", "credential-exfil", "capability-violation")
)


@dataclass(frozen=True, slots=True)
class SignerInfo:
    author: str
    name: str
    """As the author calls themselves; empty when no relay has a profile."""
    about: str
    nip05: Nip05Name | None
    """What the profile claims."""
    standing: Standing
    """What the domain says to it."""
    followed: bool | None
    """By the owner; None when nobody is named as owner, or no relay has whom they follow."""
    is_owner: bool
    labels: tuple[Label, ...]
    """Of this version, its address or its author, by people whom the owner follows, and the owner."""

    @property
    def malicious(self) -> tuple[Label, ...]:
        return tuple(label for label in self.labels if is_malicious(label))


def is_malicious(label: Label) -> bool:
    return any(said.strip().casefold() in MALICIOUS for said in label.said)


async def who_signed(where: Where, manifest: Manifest, owner: str | None, names: Nip05) -> SignerInfo:
    """Asks relays and the domain of the author's name; what does not answer is told as not known."""
    asked = [Filter(kinds=(0,), authors=(manifest.author,))]
    if owner:
        asked.append(Filter(kinds=(3,), authors=(owner,)))
    events = await _found(where, *asked)
    profile = newest(one for one in events if one.kind == 0)
    follows = followed_by(newest(one for one in events if one.kind == 3))
    claimed = read_name(read_profile(profile).nip05) if profile else None
    return SignerInfo(
        author=manifest.author,
        name=read_profile(profile).name if profile else "",
        about=read_profile(profile).about if profile else "",
        nip05=claimed,
        standing=await names.standing(claimed, manifest.author) if claimed else Standing.UNKNOWN,
        followed=None if follows is None else manifest.author in follows,
        is_owner=manifest.author == owner,
        labels=await trusted_labels(where, manifest, owner, follows or frozenset()),
    )


def followed_by(contacts: Event | None) -> frozenset[str] | None:
    """Whom a kind 3 names. None without one: nothing is known then, which is not the same as nobody."""
    if contacts is None:
        return None
    return frozenset([key for key in contacts.tag_values("p") if is_id(key)][:MOST_FOLLOWED])


async def trusted_labels(
    where: Where, manifest: Manifest, owner: str | None, follows: frozenset[str]
) -> tuple[Label, ...]:
    """The author's own word about themselves is none of them."""
    trusted = sorted({*follows, *([owner] if owner else [])} - {manifest.author})
    events = await _found(where, *_label_filters(manifest, trusted)) if trusted else []
    targets = {manifest.event.id, manifest.address, manifest.pinned_address}
    labels = [label for event in events if event.author in trusted for label in read_labels(event)]
    of_author = [
        label for event in events if event.author in trusted for label in _of_author(event, manifest)
    ]
    return tuple(label for label in labels if label.target in targets) + tuple(of_author)


def _label_filters(manifest: Manifest, trusted: Sequence[str]) -> Iterator[Filter]:
    wanted = (
        ("e", (manifest.event.id,)),
        ("a", (manifest.address, manifest.pinned_address)),
        ("p", (manifest.author,)),
    )
    for start in range(0, len(trusted), MOST_IN_ONE):
        for tag in wanted:
            yield Filter(kinds=(1985,), authors=tuple(trusted[start : start + MOST_IN_ONE]), tags=(tag,))


def _of_author(event: Event, manifest: Manifest) -> Iterator[Label]:
    """A label of a person names them alone: beside an event, `p` says only whose it is."""
    said = tuple(tag[1] for tag in event.tags if tag[:1] == ("l",) and len(tag) > 2 and tag[2] == LABELS)
    names_something = event.tag_values("e") or event.tag_values("a")
    of_skills = event.kind == 1985 and LABELS in event.tag_values("L")
    if of_skills and said and not names_something and manifest.author in event.tag_values("p"):
        yield Label(event.id, event.author, said, manifest.author)


async def _found(where: Where, *filters: Filter) -> list[Event]:
    answers = await where.ask(*filters)
    return list({one.id: one for events in answers.values() for one in events}.values())


# for people -----------------------------------------------------------------------------------------


def signer_lines(info: SignerInfo) -> Iterator[str]:
    """Each on one line. The key comes first: names are what somebody wrote."""
    yield f"signed by {spell_npub(info.author)}{', which is you' if info.is_owner else ''}"
    if info.name:
        yield f"  calls themselves {marked_name(info.name)}"
    if info.about:
        yield f"  says of themselves {visible_line(cut(info.about, _LONGEST_ABOUT))}"
    yield f"  {_name_told(info)}"
    if not info.is_owner:
        yield f"  {_following_told(info.followed)}"
    for label in info.labels:
        said = ", ".join(visible_line(word) for word in label.said)
        of = "the author" if label.target == info.author else "it"
        yield f"  {spell_npub(label.by)}, whom you trust, calls {of} {said}"


def _name_told(info: SignerInfo) -> str:
    if info.nip05 is None:
        return "has no name of a domain (NIP-05)"
    name = marked_name(str(info.nip05))
    return {
        Standing.CONFIRMED: f"{name}: the domain confirms it",
        Standing.DENIED: f"claims to be {name}, and the domain does NOT confirm it",
        Standing.UNKNOWN: f"claims to be {name}, which could not be checked",
    }[info.standing]


def _following_told(followed: bool | None) -> str:
    if followed is None:
        return "whether you follow them is not known: write `owner: npub1…` into host.yaml"
    return "you follow them" if followed else "you do not follow them"
