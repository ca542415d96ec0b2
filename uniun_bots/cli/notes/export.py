"""`uniun-bots notes export`"""

from __future__ import annotations

import os
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import click

from uniun_bots.cli.folder import folder_option, manas_option, read_store
from uniun_bots.cli.manas.rows import check_manas
from uniun_bots.errors import AlreadyThere, BadReference
from uniun_bots.graph.dump import signed_events
from uniun_bots.graph.scope import Scope
from uniun_bots.nostr.references import normal_topic, parse_reference

PAGE = 2000


def day_or_second(ctx: click.Context, option: click.Parameter, written: str | None) -> int | None:
    """`2026-01-31` (its first second, UTC) or Unix seconds."""
    if written is None:
        return None
    if re.fullmatch(r"\d{1,12}", written):
        return int(written)
    try:
        return int(datetime.strptime(written, "%Y-%m-%d").replace(tzinfo=UTC).timestamp())
    except ValueError:
        raise click.BadParameter("write a day such as 2026-01-31, or Unix seconds") from None


def public_key(ctx: click.Context, option: click.Parameter, written: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return tuple(parse_reference(one, "pubkey") for one in written)
    except BadReference as fault:
        raise click.BadParameter(str(fault)) from None


@click.command("export", epilog="Example: uniun-bots notes export --manas life-lessons --out lessons.jsonl")
@manas_option
@click.option(
    "--author", "authors", multiple=True, callback=public_key, help="Only notes by this public key."
)
@click.option("--topic", "topics", multiple=True, help="Only notes with this topic.")
@click.option("--since", callback=day_or_second, help="A day (2026-01-31) or Unix seconds.")
@click.option("--until", callback=day_or_second, help="A day (its first second) or Unix seconds.")
@click.option("--out", type=click.Path(path_type=Path), help="A new file; default: standard output.")
@folder_option
def export(
    manas: tuple[str, ...],
    authors: tuple[str, ...],
    topics: tuple[str, ...],
    since: int | None,
    until: int | None,
    out: Path | None,
    folder: Path,
) -> None:
    """Write public notes as signed events, one JSON object on each line, in the order of their arrival.

    Drafts and private notes never come along: they are not signed, or not for others.
    """
    if out is not None and out.exists():
        raise AlreadyThere(str(out))
    check_manas(folder, manas)
    scope = Scope(
        manas=manas,
        everything=not manas,
        by=authors,
        topics=tuple(map(normal_topic, topics)),
        since=since,
        until=until,
    )
    if out is None:
        written = _write(folder, scope, sys.stdout.buffer)
    else:
        part = out.with_name(out.name + ".part")
        with part.open("wb") as opened:
            written = _write(folder, scope, opened)
        os.replace(part, out)
    click.echo(f"{written:,} notes written{f' to {out}' if out else ''}", err=True)


def _write(folder: Path, scope: Scope, opened: BinaryIO) -> int:
    written = after = 0
    while page := read_store(folder, lambda tx: signed_events(tx, scope, after, PAGE)):  # noqa: B023
        opened.writelines(raw + b"\n" for _, raw in page)
        written, after = written + len(page), page[-1][0]
    opened.flush()
    return written
