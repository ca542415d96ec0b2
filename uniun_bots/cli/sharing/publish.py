"""What `skill publish` and `persona publish` have in common: their options, and the way from a text to relays."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from uniun_bots.cli.folder import duration, folder_option, json_option
from uniun_bots.cli.sharing.common import (
    agree_to_publish,
    difficulty_here,
    identity_option,
    relays_named,
    signer_of,
    to_option,
    yes_to_relays_option,
)
from uniun_bots.nostr.event import Draft
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.relays.receipt import Receipt
from uniun_bots.sharing.event import Form, Release, drafts, hash_of, normal
from uniun_bots.sharing.fetch import Where
from uniun_bots.sharing.preview import preview, warnings_told
from uniun_bots.sharing.publish import (
    Before,
    Published,
    published_before,
    send,
    sign_release,
    strangers_among,
)
from uniun_bots.sharing.reference import spell_address, spell_event, spell_name
from uniun_bots.sharing.visible import visible_line

SHORTEST_S, LONGEST_S = 3600, 3650 * 86_400


@dataclass(frozen=True, slots=True)
class Order:
    """What a person said of a publication, whatever is published."""

    version: str | None
    good_for_s: float
    relay_set: str | None
    identity: str | None
    dry_run: bool
    yes: bool
    as_json: bool
    folder: Path

    def signer(self) -> LocalSigner:
        return signer_of(self.folder, self.identity)

    @property
    def relays(self) -> tuple[str, ...]:
        return writes(self.folder, self.relay_set)


def _seconds(context: click.Context, parameter: click.Parameter, written: str) -> float:
    seconds = duration(context, parameter, written)
    if not SHORTEST_S <= seconds <= LONGEST_S:
        raise click.BadParameter("must be from 1h to 3650d")
    return seconds


_OPTIONS = (
    click.option("--version", help="Such as 1.2.0; default: that of a skill's metadata, or one patch up."),
    click.option(
        "--expires", "good_for_s", metavar="DURATION", default="180d", show_default=True, callback=_seconds,
        help="How long this version is good.",
    ),
    to_option,
    identity_option,
    click.option("--dry-run", is_flag=True, help="Show the events and send nothing."),
    yes_to_relays_option,
    json_option,
    folder_option,
)  # fmt: skip


def publish_options(command: Callable[..., None]) -> Callable[..., None]:
    """Of every `publish`; the command gets them as one `order`."""

    @functools.wraps(command)
    def gathered(**given: Any) -> None:
        own = {name: given.pop(name) for name in list(given) if name not in Order.__slots__}
        command(order=Order(**given), **own)

    for option in reversed(_OPTIONS):
        gathered = option(gathered)
    return gathered


def lint(text: str, name: str, form: Form, known: Iterable[str] = ()) -> None:
    """What our own installer would warn readers about."""
    for told in warnings_told(preview(text, name, what=form.what, known=known)):
        click.echo(f"readers will be warned: {told}", err=True)


async def publish(
    order: Order,
    where: Where,
    signer: LocalSigner,
    name: str,
    form: Form,
    release_after: Callable[[Before], Release],
) -> int:
    """Exit code. Nothing leaves the own network without a yes, and nothing at all in a dry run."""
    before = await published_before(where, signer.public_key, name, form)
    release = release_after(before)
    if before.of_name and before.of_name.content_hash == hash_of(release.text):
        click.echo(f"the text is the same as in {before.of_name.version}", err=True)
    if order.dry_run:
        _show(drafts(release, signer.public_key, form, before.of_name, before.of_version), order.relays)
        return 0
    agree_to_publish(f"the {form.what} {name} {release.version}", form.kind, order.relays, order.yes)
    bits = await difficulty_here(order.folder, order.relay_set, where)
    signed = await sign_release(release, signer, before, form, bits)
    receipts = await send(where.door, (signed.of_version, signed.of_name), order.relays)
    return _tell(signed, receipts, order.as_json)


def text_to_sign(file: Path) -> str:
    return normal(file.read_bytes().decode("utf-8", errors="replace"))


def writes(folder: Path, relay_set: str | None) -> tuple[str, ...]:
    return tuple(one.url for one in relays_named(folder, relay_set).relays if one.write)


def _show(made: Sequence[Draft], relays: Sequence[str]) -> None:
    for draft in made:
        said = {
            "kind": draft.kind,
            "created_at": draft.created_at,
            "tags": draft.tags,
            "content": draft.content,
        }
        click.echo(json.dumps(said, ensure_ascii=False, indent=2))
    click.echo(f"nothing was sent; it would go to {', '.join(relays)}", err=True)


def _tell(signed: Published, receipts: list[list[Receipt]], as_json: bool) -> int:
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
        tell_receipts(receipts[1])
    return 0 if all(any(one.fate.delivered for one in some) for some in receipts) else 1


def tell_receipts(receipts: Sequence[Receipt]) -> None:
    for one in receipts:
        why = f" ({visible_line(one.message)})" if one.message and not one.fate.delivered else ""
        click.echo(f"  {one.relay}: {one.fate}{why}")
