"""Load installed skills from the store: each is verified again, and what changed since the yes is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from uniun_bots.database.read_file import read_file
from uniun_bots.database.store import FILE
from uniun_bots.errors import BadEvent, Changed, Fault, StoreError
from uniun_bots.nostr.read import read_event, verify
from uniun_bots.personas.load_settings import load_settings
from uniun_bots.skills.installed import installed_skills
from uniun_bots.skills.provenance import Installed, Origin, State
from uniun_bots.skills.skill import Skill, Source
from uniun_bots.skills.skill_file import read_skill


@dataclass(frozen=True, slots=True)
class Shelved:
    """What the store has, and what of it may be used."""

    kept: tuple[Installed, ...] = ()
    skills: tuple[Skill, ...] = ()
    disabled: dict[str, str] = field(default_factory=dict)
    """Name to why."""
    faults: tuple[Fault, ...] = ()


def load_installed(project: Path, now: float) -> Shelved:
    """Blocking. What cannot be read is told and left out."""
    reading, _ = load_settings(project / "host.yaml")
    path = reading.value.data_folder(project) / FILE if reading.value else None
    if path is None or not path.exists():
        return Shelved()
    try:
        return shelved(read_file(path, installed_skills), now)
    except (StoreError, ValueError) as fault:
        return Shelved(faults=(Fault(str(path), 1, 1, f"installed skills cannot be read: {fault}"),))


def shelved(kept: Iterable[Installed], now: float) -> Shelved:
    found = Shelved(tuple(kept))
    skills: list[Skill] = []
    faults: list[Fault] = []
    for one in found.kept:
        try:
            usable = verified_again(one)
        except Changed as changed:
            faults.append(Fault(told_as(one.name), 1, 1, str(changed)))
            continue
        if (state := one.state_now(now)) is State.ACTIVE:
            skills.append(usable)
        else:
            found.disabled[one.name] = notice(one, state, one.reason)
    return Shelved(found.kept, tuple(skills), found.disabled, tuple(faults))


def told_as(name: str) -> str:
    return f"installed/{name}.md"


def notice(one: Installed, state: State, reason: str) -> str:
    why = f": {reason}" if reason else ""
    told = {
        State.REVOKED: f"its author took it back{why}",
        State.EXPIRED: "it is over, as its author said",
        State.LABELLED: f"it is called malicious{why}",
    }.get(state, str(state))
    return (
        f"{told}; `skill update {one.name}` looks for a newer version, `skill remove {one.name}` removes it"
    )


def verified_again(one: Installed) -> Skill:
    """Raises Changed unless these are the bytes that were said yes to, in the event that its author signed."""
    if hashlib.sha256(one.content.encode(errors="replace")).hexdigest() != one.content_hash:
        raise Changed(_told("its text is not the one that was said yes to"))
    if one.origin is not None:
        _check_origin(one, one.origin)
    read = read_skill(one.content, told_as(one.name), Source.INSTALLED)
    if read.skill is None or read.skill.name != one.name:
        why = read.faults[0].message if read.faults else "it has another name"
        raise Changed(_told(why))
    return read.skill


def _check_origin(one: Installed, origin: Origin) -> None:
    try:
        event = read_event(origin.raw)
    except BadEvent:
        raise Changed(_told("its event is gone or damaged")) from None
    named = (event.id, event.author, event.content) == (origin.event_id, origin.author, one.content)
    dated = event.tag_values("expiry") == [str(origin.expires_at)]
    addressed = origin.address == f"{event.kind}:{event.author}:{one.name}"
    if not (verify(event) and named and dated and addressed):
        raise Changed(_told("it is not what its author signed"))


def _told(why: str) -> str:
    return f"was changed since it was installed, and is not used: {why}; remove it and install it again"
