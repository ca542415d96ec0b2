"""`uniun-bots skill search`: skills that others published."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from uniun_bots.cli.folder import console, folder_option, json_option
from uniun_bots.cli.listing import listing
from uniun_bots.cli.sharing.common import go, opened, relays_option, skill_form
from uniun_bots.clock import WallClock
from uniun_bots.errors import BadReference
from uniun_bots.nostr.reference import spell_npub
from uniun_bots.nostr.references import parse_reference
from uniun_bots.sharing.reference import spell_name
from uniun_bots.sharing.search import Offer, search
from uniun_bots.sharing.visible import visible_line
from uniun_bots.skills.load_skills import load_skills


@click.command("search", epilog="Example: uniun-bots skill search tides --json")
@click.argument("words", nargs=-1)
@click.option("--author", help="Of this person only: npub1…, nprofile1… or hex.")
@click.option("--tag", "topic", help="Under this topic only.")
@relays_option
@json_option
@folder_option
def search_skills(
    words: tuple[str, ...],
    author: str | None,
    topic: str | None,
    relay_set: str | None,
    as_json: bool,
    folder: Path,
) -> None:
    """Skills that others published, newest first. Only what verifies is listed; nothing is fetched by it."""
    try:
        key = parse_reference(author, "pubkey") if author else None
    except BadReference as fault:
        raise click.BadParameter(str(fault), param_hint="--author") from None
    form = skill_form(folder)

    async def main() -> int:
        now = WallClock().now()
        async with opened(folder, relay_set) as where:
            offers = await search(where, words, now, author=key, topic=topic, form=form)
        _list(offers, _installed_from(folder), now, as_json)
        return 0

    go(main())


def _installed_from(folder: Path) -> dict[str, str]:
    """Address to the version that is installed."""
    kept = load_skills(folder).installed
    return {one.origin.address: one.origin.version for one in kept if one.origin}


def _list(offers: Sequence[Offer], installed: dict[str, str], now: float, as_json: bool) -> None:
    rows = [_row(offer, installed, now) for offer in offers]
    if as_json:
        click.echo(json.dumps(rows))
        return
    headers = ("skill", "version", "author", "days old", "labels", "installed", "description")
    console().print(listing(headers, map(_cells, rows)))
    if not rows:
        click.echo("none of the relays has such a skill", err=True)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    author = f"{row['author_name']} {row['npub'][:12]}…".strip()
    labels = ", ".join(row["labels"])
    installed = row["installed"] or ""
    return row["name"], row["version"], author, str(row["days"]), labels, installed, row["description"]


def _row(offer: Offer, installed: dict[str, str], now: float) -> dict[str, Any]:
    manifest = offer.found.manifest
    labels = dict.fromkeys(word for label in offer.labels for word in label.said)
    return {
        "name": visible_line(manifest.name),
        "version": str(manifest.version),
        "npub": spell_npub(manifest.author),
        "author_name": visible_line(offer.author_name),
        "days": max(0, int((now - manifest.event.created_at) // 86_400)),
        "labels": [visible_line(word) for word in labels],
        "installed": installed.get(manifest.address),
        "description": visible_line(offer.found.skill.description),
        "reference": spell_name(manifest.author, manifest.name),
        "event_id": manifest.event.id,
    }
