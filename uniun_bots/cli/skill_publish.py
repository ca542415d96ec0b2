"""`uniun-bots skill publish`, `revoke` and `search`: skills as signed events on relays."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from uniun_bots.cli.folder import console, folder_option, json_option
from uniun_bots.cli.listing import listing
from uniun_bots.cli.sharing import (
    agree_to_publish,
    difficulty_here,
    go,
    identity_option,
    opened,
    relays_named,
    relays_option,
    signer_of,
    skill_form,
    to_option,
    yes_to_relays_option,
)
from uniun_bots.clock import WallClock
from uniun_bots.errors import BadReference, NotFound
from uniun_bots.nostr.event import Draft
from uniun_bots.nostr.reference import spell_npub
from uniun_bots.nostr.references import parse_reference
from uniun_bots.personas.scalars import duration_s
from uniun_bots.relays.receipt import Receipt
from uniun_bots.sharing.event import drafts, hash_of, normal
from uniun_bots.sharing.publish import (
    Before,
    Published,
    published_before,
    release_of,
    revocation,
    send,
    sign_release,
    strangers_among,
)
from uniun_bots.sharing.reference import spell_address, spell_event, spell_name
from uniun_bots.sharing.search import Offer, search
from uniun_bots.sharing.verify import skill_of
from uniun_bots.sharing.visible import visible_line
from uniun_bots.sharing.warnings import warnings_in
from uniun_bots.skills.load_skills import load_skills, own_files


@click.command("publish", epilog="Example: uniun-bots skill publish tone-of-voice --to public --dry-run")
@click.argument("name")
@click.option("--version", help="Such as 1.2.0; default: that of the file's metadata, or one patch up.")
@click.option("--expires", default="180d", show_default=True, help="How long this version is good.")
@click.option("--topic", "topics", multiple=True, help="A word under which others find it; may be repeated.")
@to_option
@identity_option
@click.option("--dry-run", is_flag=True, help="Show the events and send nothing.")
@yes_to_relays_option
@json_option
@folder_option
def publish_skill(
    name: str,
    version: str | None,
    expires: str,
    topics: tuple[str, ...],
    relay_set: str | None,
    identity: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    folder: Path,
) -> None:
    """Give a skill of your own to others, as two signed events: this version for ever, and the newest by name."""
    text = _own_text(folder, name)
    try:
        good_for_s = duration_s(expires)
    except ValueError as fault:
        raise click.BadParameter(str(fault), param_hint="--expires") from None
    signer, form = signer_of(folder, identity), skill_form(folder)

    async def main() -> int:
        async with opened(folder, relay_set, signer) as where:
            before = await published_before(where, signer.public_key, name, form)
            release = release_of(
                skill_of(text, name),
                text,
                before,
                version=version,
                good_for_s=good_for_s,
                now=WallClock().now(),
                topics=topics,
            )
            _lint(text, before)
            writes = _writes(folder, relay_set)
            if dry_run:
                made = drafts(release, signer.public_key, form, before.of_name, before.of_version)
                show_drafts(made, writes)
                return 0
            agree_to_publish(f"{name} {release.version}", form.kind, writes, yes)
            bits = await difficulty_here(folder, relay_set, where)
            signed = await sign_release(release, signer, before, form, bits)
            receipts = await send(where.door, (signed.of_version, signed.of_name), writes)
            return tell_published(signed, receipts, as_json)

    go(main())


@click.command("revoke", epilog="Example: uniun-bots skill revoke tone-of-voice --reason 'wrong advice'")
@click.argument("name")
@click.option("--reason", default="", help="Shown to those who have it installed.")
@to_option
@identity_option
@yes_to_relays_option
@folder_option
def revoke_skill(
    name: str, reason: str, relay_set: str | None, identity: str | None, yes: bool, folder: Path
) -> None:
    """Take back every version of a skill that you published (NIP-09). Hosts that have it installed disable it."""
    signer, form = signer_of(folder, identity), skill_form(folder)

    async def main() -> int:
        async with opened(folder, relay_set, signer) as where:
            bits = await difficulty_here(folder, relay_set, where)
            event = await revocation(where, signer, name, reason, WallClock().now(), form, bits)
            writes = _writes(folder, relay_set)
            agree_to_publish(f"that {name} is taken back", 5, writes, yes)
            (receipts,) = await send(where.door, [event], writes)
            taken = len(event.tag_values("e"))
            click.echo(f"{name}: {taken} {'event is' if taken == 1 else 'events are'} taken back")
            _tell_receipts(receipts)
            return 0 if any(one.fate.delivered for one in receipts) else 1

    go(main())


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


def _own_text(folder: Path, name: str) -> str:
    """Raises NotFound for what is no skill file of the project."""
    found = next((path for path in own_files(folder / "skills") if path.stem == name), None)
    if found is None:
        raise NotFound(f"there is no skills/{name}.md: only skills of your own can be published")
    return normal(found.read_bytes().decode("utf-8", errors="replace"))


def _lint(text: str, before: Before) -> None:
    """What our own installer would warn readers about."""
    for warned in warnings_in(text):
        click.echo(f"readers will be warned: {warned}", err=True)
    if before.of_name and before.of_name.content_hash == hash_of(text):
        click.echo(f"the text is the same as in {before.of_name.version}", err=True)


def _writes(folder: Path, relay_set: str | None) -> tuple[str, ...]:
    return tuple(one.url for one in relays_named(folder, relay_set).relays if one.write)


def show_drafts(made: Sequence[Draft], relays: Sequence[str]) -> None:
    for draft in made:
        said = {
            "kind": draft.kind,
            "created_at": draft.created_at,
            "tags": draft.tags,
            "content": draft.content,
        }
        click.echo(json.dumps(said, ensure_ascii=False, indent=2))
    click.echo(f"nothing was sent; it would go to {', '.join(relays)}", err=True)


def tell_published(signed: Published, receipts: list[list[Receipt]], as_json: bool) -> int:
    of_version, of_name = signed.of_version, signed.of_name
    d, name = of_version.tag_values("d")[0], of_name.tag_values("d")[0]
    # Whoever follows a hint must be able to reach it.
    took = tuple(strangers_among([one.relay for one in receipts[0] if one.fate.delivered]))
    told = {
        "name": name,
        "version": of_name.tag_values("version")[0],
        "this_version": spell_event(of_version.id, of_version.author, of_version.kind, took),
        "newest": spell_address(of_name.kind, of_name.author, name, took),
        "newest_by_name": spell_name(of_name.author, name),
        "hash": f"sha256:{hash_of(of_name.content)}",
        "event_id": of_version.id,
        "relays": {one.relay: str(one.fate) for one in receipts[1]},
    }
    if as_json:
        click.echo(json.dumps(told))
    else:
        click.echo(f"published {d}")
        click.echo(
            f"  this version, for ever: {told['this_version']}\n    (share this one: it names exactly these bytes)"
        )
        click.echo(
            f"  the newest version:     {told['newest_by_name']}\n    {told['newest']}\n    (these follow your updates)"
        )
        click.echo(f"  hash:                   {told['hash']}")
        _tell_receipts(receipts[1])
    return 0 if all(any(one.fate.delivered for one in some) for some in receipts) else 1


def _tell_receipts(receipts: Sequence[Receipt]) -> None:
    for one in receipts:
        why = f" ({visible_line(one.message)})" if one.message and not one.fate.delivered else ""
        click.echo(f"  {one.relay}: {one.fate}{why}")


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
