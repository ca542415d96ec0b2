"""Who is hosted: every Gana that is not off, with its identity, its relays and what it watches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from uniun_bots.inputs.enabled import Standing
from uniun_bots.inputs.guards import BEHIND_S
from uniun_bots.nostr.filter import Filter
from uniun_bots.nostr.secret import Spellings
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.nostr.surfaces import Surface, filter_of
from uniun_bots.personas.gana import Gana, Mode
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.personas.project import Project
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.interest import Interest
from uniun_bots.skills.library import Library
from uniun_bots.skills.provenance import Installed
from uniun_bots.skills.registry import Registration, register

OWN_KINDS = (1, 42)
LOOK_BACK_S = 86_400


@dataclass(frozen=True, slots=True)
class Roster:
    ganas: dict[str, HostedGana]
    signers: dict[str, LocalSigner]
    """By public key."""
    addresses: dict[str, RelayAddress]
    """Every relay that somebody reads or writes, by URL."""
    watchers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Surface to the Ganas that its notes wake."""
    by_key: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Public key to the Ganas that speak with it."""
    skills: dict[str, Registration] = field(default_factory=dict)
    """By Gana id."""
    unspoken: tuple[Spellings, ...] = ()
    """Secrets that are no keys of personas."""
    left_out: tuple[str, ...] = ()
    """Skills that cannot be used, each with the reason."""
    installed: tuple[Installed, ...] = ()
    """Skills of others, usable or not."""

    def secrets(self) -> list[Spellings]:
        """None of them may leave in anybody's words."""
        return [*(signer.spellings for signer in self.signers.values()), *self.unspoken]

    def longest_max_age_s(self) -> float:
        inputs = [hosted.gana.input for hosted in self.ganas.values()]
        return max((given.max_age_s for given in inputs if given), default=0)

    def relays(self) -> list[str]:
        return list(self.addresses)


def enlist(
    project: Project,
    library: Library,
    signers: Mapping[str, LocalSigner],
    unspoken: tuple[Spellings, ...] = (),
) -> Roster:
    """`signers`: by Gana id, for each one whose mode is not off."""
    ganas: dict[str, HostedGana] = {}
    addresses: dict[str, RelayAddress] = {}
    watchers: defaultdict[str, list[str]] = defaultdict(list)
    by_key: defaultdict[str, list[str]] = defaultdict(list)
    for gana in hosted_ganas(project):
        signer = signers[gana.id]
        relays = project.relays_of(gana).relays
        for address in relays:
            addresses.setdefault(address.url, address)
        surface = gana.input_surface(signer.public_key)
        ganas[gana.id] = HostedGana(
            gana=gana,
            pubkey=signer.public_key,
            surface=surface,
            reads=tuple(address.url for address in relays if address.read),
            writes=tuple(address.url for address in relays if address.write),
        )
        by_key[signer.public_key].append(gana.id)
        if surface and gana.trigger.by_message:
            watchers[surface].append(gana.id)
    for address in _relays_of_unused_manas(project, ganas.values()):
        addresses.setdefault(address.url, address)
    return Roster(
        ganas,
        {signer.public_key: signer for signer in signers.values()},
        addresses,
        {surface: tuple(ids) for surface, ids in watchers.items()},
        {key: tuple(ids) for key, ids in by_key.items()},
        {name: register(hosted.gana, library) for name, hosted in ganas.items()},
        unspoken,
        (*map(str, library.faults), *(f"{name}: {why}" for name, why in library.disabled.items())),
        library.installed,
    )


def host_relays(project: Project) -> list[RelayAddress]:
    """What is read by nobody in particular, is read from these."""
    return [address for address in project.relay_sets[project.settings.relays].relays if address.read]


def _relays_of_unused_manas(project: Project, ganas: Iterable[HostedGana]) -> list[RelayAddress]:
    used = {name for hosted in ganas for name in hosted.gana.manas}
    wanted = any(manas.is_remote and manas.name not in used for manas in project.manas)
    return host_relays(project) if wanted else []


def hosted_ganas(project: Project) -> Iterator[Gana]:
    return (gana for gana in project.ganas if gana.mode is not Mode.OFF)


def interests(roster: Roster, standings: Mapping[str, Standing], now: float) -> list[Interest]:
    """What to read from relays, and how far back: from where each Gana was turned on, at most its max_age."""
    wanted: list[Interest] = []
    for hosted in roster.ganas.values():
        since = _since(hosted, standings[hosted.id], now)
        if hosted.surface:
            wanted.append(Interest(filter_of(hosted.surface), hosted.reads, since))
            ref = Surface.parse(hosted.surface)
            if ref.kind == "user":
                wanted.append(Interest(Filter(kinds=(5,), authors=(ref.ref,)), hosted.reads, since))
        # Our own keys are read too: a reply that we did not make here means that its input is answered.
        own = Filter(kinds=OWN_KINDS, authors=(hosted.pubkey,))
        wanted.append(Interest(own, hosted.reads, int(now - LOOK_BACK_S)))
    return wanted


def _since(hosted: HostedGana, standing: Standing, now: float) -> int:
    max_age = hosted.gana.input.max_age_s if hosted.gana.input else LOOK_BACK_S
    oldest = now - max_age
    return int(oldest if standing.catch_up else max(oldest, standing.enabled_at - BEHIND_S))
