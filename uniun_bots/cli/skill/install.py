"""`uniun-bots skill install` and `update`: look at what somebody shared, and take it when a person says yes."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from uniun_bots import failpoints
from uniun_bots.cli.folder import data_dir, folder_option, read_store, require_project
from uniun_bots.cli.sharing.common import (
    accept_option,
    go,
    opened,
    or_what_replaced_it,
    relays_option,
    skill_form,
    terminal,
    whoever,
)
from uniun_bots.cli.sharing.gate import gate_of, show_gate
from uniun_bots.cli.skill.shelf import tell_host_fault
from uniun_bots.clock import WallClock
from uniun_bots.database.store import FILE, Store
from uniun_bots.errors import AlreadyThere, Deleted, NotFound, SharingRefused
from uniun_bots.host.control.ask import ask_host
from uniun_bots.host.control.shelf import shelve
from uniun_bots.host.lease import holder, lease
from uniun_bots.nostr.read import read_event
from uniun_bots.sharing.candidate import Candidate, is_local, look_up, read_local
from uniun_bots.sharing.consent import ask_consent
from uniun_bots.sharing.fetch import Where
from uniun_bots.sharing.gate import Gate
from uniun_bots.sharing.reference import spell_name
from uniun_bots.sharing.take import parcel_of
from uniun_bots.sharing.update import News, difference, news
from uniun_bots.sharing.visible import visible_line
from uniun_bots.skills.catalogue import BUILTINS
from uniun_bots.skills.editing import Shelf
from uniun_bots.skills.installed import author_of_event, installed_skills
from uniun_bots.skills.load_skills import load_skills
from uniun_bots.skills.provenance import Installed, State


@click.command(
    "install",
    epilog="Example: uniun-bots skill install npub1vs642m636evzf2h49nqrqc9ruanmxzqtxupzf9u9n3u37m3r5pjszt3cuy/tone",
)
@click.argument("reference", metavar="REF")
@accept_option
@relays_option
@folder_option
def install_skill(reference: str, accept: str | None, relay_set: str | None, folder: Path) -> None:
    """Install a skill: look at the whole of it, then say yes or no. No persona has it before you write so.

    REF is note1…, nevent1…, naddr1…, hex, npub1…/name or npub1…/name@version; or a path: a file, or a folder with
    a SKILL.md. Without a terminal nothing is installed, unless --accept names exactly these bytes.
    """
    require_project(folder)
    go(_install(folder, reference, accept, relay_set))


async def _install(folder: Path, reference: str, accept: str | None, relay_set: str | None) -> int:
    if is_local(reference):
        return await _offer(folder, read_local(Path(reference)), None, accept)
    async with opened(folder, relay_set) as where:
        candidate = await find(folder, where, reference, asks=accept is None)
        return await _offer(folder, candidate, where, accept)


async def find(folder: Path, where: Where, reference: str, *, asks: bool) -> Candidate:
    """Resolved, fetched, verified. Raises SharingRefused of the step that failed."""
    form, author_of = skill_form(folder), _authors(folder)

    async def look(at: str) -> Candidate:
        return await look_up(where, at, WallClock().now(), form, author_of)

    return await or_what_replaced_it(reference, look, asks=asks)


async def _offer(folder: Path, candidate: Candidate, where: Where | None, accept: str | None) -> int:
    before = _installed_before(folder, candidate)
    gate = await skill_gate(folder, candidate, where)
    show_gate(gate)
    if before is not None:
        _show_difference(before, candidate)
    return await _take(folder, candidate, gate, accept, before)


async def skill_gate(folder: Path, candidate: Candidate, where: Where | None) -> Gate:
    """Everything that a person is to know before a yes; `where` is None for a local file."""
    known = {*BUILTINS, *load_skills(folder).texts} - {candidate.name}
    return await gate_of(folder, candidate, where, known)


async def _take(
    folder: Path, candidate: Candidate, gate: Gate, accept: str | None, before: Installed | None
) -> int:
    if not ask_consent(gate.preview, accept, terminal(), "Update" if before else "Install"):
        click.echo("nothing was changed" if before else "nothing was installed")
        return 1
    failpoints.hit("agreed")
    parcel = parcel_of(candidate, gate.preview.hash, whoever(accept), gate.warned_by)
    done = await write(folder, "install", asdict(parcel))
    _tell_taken(candidate, before)
    tell_host_fault(done)
    return 0


def _tell_taken(candidate: Candidate, before: Installed | None) -> None:
    name, version = candidate.name, f" {candidate.manifest.version}" if candidate.manifest else ""
    if before is not None:
        click.echo(f"{name} is updated{version and f' to{version}'}")
        return
    click.echo(
        f"{name}{version} is installed; write `skills: [{name}]` into a persona file to give it to one"
    )


async def write(folder: Path, word: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Through the running host when there is one; else under the lease, with our own hands."""
    where = data_dir(folder)
    if holder(where) is not None:
        answer: dict[str, Any] = await ask_host(where, "POST", f"/skills/{word}", asked)
        return answer
    where.mkdir(parents=True, exist_ok=True)
    with lease(where):
        async with Store(where / FILE) as store:
            return await shelve(store, word, asked, WallClock().now(), skill_form(folder))


def _installed_before(folder: Path, candidate: Candidate) -> Installed | None:
    """The one that this would take the place of. Raises AlreadyThere and SharingRefused for what must not be."""
    if (
        own := Shelf(folder / "skills", data_dir(folder)).path(candidate.name)
    ).exists() and candidate.name not in BUILTINS:
        raise AlreadyThere(str(own))
    before = next((one for one in installed(folder) if one.name == candidate.name), None)
    author = candidate.manifest.author if candidate.manifest else None
    if before and before.origin and before.origin.author != author:
        of = spell_name(before.origin.author, before.name)
        raise SharingRefused(
            f"{before.name} is installed from {of}: `skill remove {before.name}` makes room for this one"
        )
    return before


def _show_difference(before: Installed, candidate: Candidate) -> None:
    click.echo(f"\n{before.name} is installed already; what would change:")
    for line in difference(before, candidate):
        click.echo(line)


def installed(folder: Path) -> list[Installed]:
    with contextlib.suppress(NotFound):
        return read_store(folder, installed_skills)
    return []


def _authors(folder: Path) -> Callable[[str], str | None]:
    """Who signed what was installed before."""

    def author_of(event_id: str) -> str | None:
        if not installed(folder):
            return None
        query: Callable[[sqlite3.Connection], str | None] = lambda tx: author_of_event(tx, event_id)  # noqa: E731
        return read_store(folder, query)

    return author_of


# update ----------------------------------------------------------------------------------------------


@click.command("update", epilog="Example: uniun-bots skill update tone-of-voice")
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="Every installed skill.")
@click.option(
    "--accept",
    "accepts",
    multiple=True,
    metavar="sha256:HASH",
    help="Say yes beforehand, to exactly these bytes; may be repeated.",
)
@relays_option
@folder_option
def update_skill(
    name: str | None, everything: bool, accepts: tuple[str, ...], relay_set: str | None, folder: Path
) -> None:
    """Follow the authors of installed skills: shows what changed, and asks again."""
    if (name is None) == (not everything):
        raise click.UsageError("name one skill, or give --all")
    require_project(folder)
    wanted = [one for one in installed(folder) if everything or one.name == name]
    if name and not wanted:
        raise NotFound(f"{name} is not installed; see `uniun-bots skill list`")
    go(_update(folder, wanted, accepts, relay_set))


async def _update(
    folder: Path, wanted: Sequence[Installed], accepts: Iterable[str], relay_set: str | None
) -> int:
    codes = [0]
    async with opened(folder, relay_set) as where:
        for one in wanted:
            try:
                codes.append(await _update_one(folder, where, one, tuple(accepts)))
            except SharingRefused as refused:
                click.echo(f"{one.name}: {refused}", err=True)
                codes.append(1)
    return max(codes)


async def _update_one(folder: Path, where: Where, before: Installed, accepts: tuple[str, ...]) -> int:
    origin = before.origin
    if origin is None:
        click.echo(
            f"{before.name}: came from {visible_line(before.source)}: `skill install` it again after a change"
        )
        return 0
    reference = spell_name(origin.author, before.name)
    try:
        candidate = await look_up(
            await where.with_hints(origin.relays), reference, WallClock().now(), skill_form(folder)
        )
    except Deleted as deleted:
        await write(folder, "disable", _revoked(before, deleted.reason))
        click.echo(
            f"{before.name}: {deleted}; it is disabled, `skill remove {before.name}` removes it", err=True
        )
        return 1
    found = news(before, candidate, read_event(origin.raw).created_at)
    if found in (News.SAME, News.OLDER):
        state = before.state_now(WallClock().now())
        stays = "" if state is State.ACTIVE else f"; it stays {state}"
        click.echo(f"{before.name}: {found} ({origin.version}){stays}")
        return 0
    gate = await skill_gate(folder, candidate, where)
    show_gate(gate)
    _show_difference(before, candidate)
    accept = next(
        (given for given in accepts if given == gate.preview.spelled_hash), next(iter(accepts), None)
    )
    return await _take(folder, candidate, gate, accept, before)


def _revoked(before: Installed, reason: str) -> dict[str, Any]:
    event_id = before.origin.event_id if before.origin else ""
    return {"name": before.name, "event_id": event_id, "state": str(State.REVOKED), "reason": reason}
