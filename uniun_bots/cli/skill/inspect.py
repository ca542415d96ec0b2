"""`uniun-bots skill inspect`: look at a skill of somebody else, and leave it at that."""

from __future__ import annotations

from pathlib import Path

import click

from uniun_bots.cli.folder import folder_option, json_option
from uniun_bots.cli.sharing.common import go, opened, relays_option
from uniun_bots.cli.sharing.gate import show_gate
from uniun_bots.cli.skill.install import find, skill_gate
from uniun_bots.sharing.candidate import is_local, read_local


@click.command(
    "inspect",
    epilog="Example: uniun-bots skill inspect npub1vs642m636evzf2h49nqrqc9ruanmxzqtxupzf9u9n3u37m3r5pjszt3cuy/tone",
)
@click.argument("reference", metavar="REF")
@relays_option
@json_option
@folder_option
def inspect_skill(reference: str, relay_set: str | None, as_json: bool, folder: Path) -> None:
    """Look at a skill that somebody shared: the whole of it, warnings, who signed it, the hash. Nothing is written.

    REF is what `skill install` takes: a reference, or a path. The hash is what its --accept takes.
    """
    go(_inspect(folder, reference, relay_set, as_json))


async def _inspect(folder: Path, reference: str, relay_set: str | None, as_json: bool) -> int:
    if is_local(reference):
        show_gate(await skill_gate(folder, read_local(Path(reference)), None), as_json=as_json)
        return 0
    async with opened(folder, relay_set) as where:
        candidate = await find(folder, where, reference, asks=not as_json)
        show_gate(await skill_gate(folder, candidate, where), as_json=as_json)
    return 0
