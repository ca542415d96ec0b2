"""Installed skills, as `skill list` and `skill remove` have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from uniun_bots.cli.folder import act, when
from uniun_bots.clock import WallClock
from uniun_bots.nostr.reference import spell_npub
from uniun_bots.skills.installed import uninstall
from uniun_bots.skills.library import Library
from uniun_bots.skills.provenance import Installed

CHANGED = "changed"


def installed_rows(library: Library, users: Callable[[str], list[str]]) -> Iterator[dict[str, Any]]:
    """Each with where it came from, who said yes to it, and whether it may be used."""
    faults = {Path(fault.file).stem: fault.message for fault in library.faults}
    spoken = {skill.name: name for name, skill in library.texts.items()}
    for one in library.installed:
        if one.name in library.broken:
            state, told = CHANGED, faults.get(one.name, "")
        else:
            state = str(one.state_now(WallClock().now()))
            told = library.disabled.get(one.name) or _description(library, spoken.get(one.name))
        yield {
            "name": spoken.get(one.name, one.name),
            "is": "installed",
            "description": told,
            "personas": users(one.name),
            "state": state,
            "from": _from(one),
            "approved": f"{one.approved_by}, {when(one.approved_at)}",
            "hash": f"sha256:{one.content_hash}",
            **_origin(one),
        }


def _description(library: Library, spoken: str | None) -> str:
    return library.texts[spoken].description if spoken else "a file of the project has its name"


def _from(one: Installed) -> str:
    if one.origin is None:
        return one.source
    return (
        f"{spell_npub(one.origin.author)[:16]}… {one.origin.version}"
        if one.origin.author
        else "nobody any more"
    )


def _origin(one: Installed) -> dict[str, Any]:
    if one.origin is None:
        return {}
    return {
        "author": one.origin.author,
        "address": one.origin.address,
        "version": one.origin.version,
        "event_id": one.origin.event_id,
        "expires": when(one.origin.expires_at),
        "relays": list(one.origin.relays),
        "received": when(one.origin.received_at),
    }


def provenance(library: Library, spoken: str) -> dict[str, Any]:
    """Where an installed skill came from and who said yes to it, by the name that the model calls."""
    row = next(row for row in installed_rows(library, lambda _: []) if row["name"] == spoken)
    return {key: value for key, value in row.items() if key not in ("name", "is", "description", "personas")}


def remove_installed(folder: Path, name: str) -> None:
    done = act(folder, "/skills/remove", {"name": name}, lambda tx: uninstall(tx, name))
    click.echo(f"{name} is removed, with everything that was known of it")
    tell_host_fault(done)


def tell_host_fault(done: dict[str, Any]) -> None:
    """What was asked for is done, and the host could not read the folder again."""
    if told := done.get("told"):
        click.echo(told, err=True)
