"""Installed skills are put onto the shelf, taken off it and disabled: each in one unit, by whoever holds the lease."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from uniun_bots.errors import ConfigError, NotFound
from uniun_bots.host.running import Running
from uniun_bots.host.tending.skill_watch import without
from uniun_bots.sharing.event import SKILL, Form
from uniun_bots.sharing.take import read_parcel, take
from uniun_bots.skills.installed import disable, uninstall
from uniun_bots.skills.provenance import State

if TYPE_CHECKING:
    from uniun_bots.database.store import Store


async def shelve(store: Store, word: str, asked: dict[str, Any], now: float, form: Form) -> dict[str, Any]:
    """`install`, `remove` or `disable`. Raises SharingRefused and NotFound, and then nothing is changed."""
    match word:
        case "install":
            return {"name": (await take(store, read_parcel(asked), now, form)).name}
        case "remove":
            await store.write(lambda tx: uninstall(tx, asked["name"]))
            return {"name": asked["name"]}
        case "disable":
            name, event_id, state = asked["name"], asked["event_id"], State(asked["state"])
            why = asked.get("reason", "")
            changed = await store.write(lambda tx: disable(tx, name, event_id, state, why, now))
            return {"name": name, "changed": changed}
    raise NotFound(f"nothing is done by the name of {word}")


async def shelve_in_host(host: Running, word: str, asked: dict[str, Any]) -> dict[str, Any]:
    """And read the folder again, so that personas have it or lose it at once.

    A folder that cannot be read now keeps nobody from losing it.
    """
    form = replace(SKILL, kind=host.house.settings.skill_kind)
    done = await shelve(host.store, word, asked, host.clock.now(), form)
    if word != "install":
        host.house.roster = without(host.house.roster, {done["name"]})
    try:
        await host.reload()
    except ConfigError as fault:
        done["told"] = f"the running host goes on with the files that it had:\n{fault}"
    return done
