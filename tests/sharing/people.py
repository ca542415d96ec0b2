"""An author and a reader, each with a project folder and the command line, on one local relay."""

from __future__ import annotations

import asyncio
import os
import pty
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cli.child import WITHIN_S, Child, Ended, cli
from tests.host.stage import nsec
from tests.skills.samples import skill_file
from uniun_bots.cli.skill.shelf import installed_rows
from uniun_bots.clock import WallClock
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.relay_set import RelayAddress
from uniun_bots.relays.gateway import Gateway
from uniun_bots.relays.options import GatewayOptions
from uniun_bots.sharing.event import hash_of
from uniun_bots.sharing.fetch import Where
from uniun_bots.sharing.publish import published_before, release_of, send, sign_release
from uniun_bots.sharing.reference import spell_name
from uniun_bots.sharing.verify import skill_of
from uniun_bots.skills.load_skills import load_skills


@dataclass
class Person:
    folder: Path
    relay: str
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        secret = new_secret()
        self.signer = LocalSigner(secret)
        self.environ["ME_NSEC"] = nsec(secret)
        (self.folder / "relays").mkdir(parents=True)
        (self.folder / "relays" / "local.yaml").write_text(f"relays: [{self.relay}]\n")
        self.settings()

    def settings(self, *lines: str) -> None:
        (self.folder / "host.yaml").write_text("\n".join(("author: env:ME_NSEC", "embedder: none", *lines)))

    def skill(self, body: str, name: str = "tide-table", *more: str) -> None:
        (self.folder / "skills").mkdir(exist_ok=True)
        (self.folder / "skills" / f"{name}.md").write_text(skill_file(name, *more, body=body))

    async def says(self, *words: str, env: Mapping[str, str] | None = None) -> Ended:
        """`uniun-bots skill …`, with nobody at a terminal."""
        return await cli("skill", *words, "--dir", self.folder, env={**self.environ, **(env or {})})

    async def publishes(
        self, name: str = "tide-table", version: str | None = None, topics: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """As `skill publish --json` would, without a process of its own."""
        text, now = (self.folder / "skills" / f"{name}.md").read_text(), WallClock().now()
        async with Gateway(GatewayOptions(relays=(RelayAddress(url=self.relay),)), WallClock()) as door:
            before = await published_before(Where(door, (self.relay,)), self.signer.public_key, name)
            about = skill_of(text, name).description
            made = release_of(
                name, about, text, before, version=version, good_for_s=86_400, now=now, topics=topics
            )
            signed = await sign_release(made, self.signer, before)
            for receipts in await send(door, (signed.of_version, signed.of_name), [self.relay]):
                assert all(one.fate.delivered for one in receipts)
        return {
            "event_id": signed.of_version.id,
            "name_id": signed.of_name.id,
            "newest_by_name": spell_name(self.signer.public_key, name),
            "hash": f"sha256:{hash_of(text)}",
        }

    def has(self, name: str = "tide-table") -> dict[str, Any]:
        """As `skill list --json` tells it."""
        rows = {one["name"]: one for one in installed_rows(load_skills(self.folder), lambda _: [])}
        return rows.get(name, {})


async def typed(person: Person, answers: Sequence[str], *words: str) -> Ended:
    """`uniun-bots skill …` with somebody at a terminal who types one of these at each question."""
    master, slave = pty.openpty()
    try:
        process = await asyncio.create_subprocess_exec(
            *Child.command("skill", *words, "--dir", person.folder),
            env=Child.environment(person.environ),
            stdin=slave,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(WITHIN_S):
            out = await _conversation(process, master, list(answers))
            err = await process.stderr.read() if process.stderr else b""
            code = await process.wait()
    finally:
        os.close(slave)
        os.close(master)
    return Ended(code, out.decode(), err.decode())


async def _conversation(process: asyncio.subprocess.Process, keyboard: int, answers: list[str]) -> bytes:
    out, asked = b"", 0
    while process.stdout and (piece := await process.stdout.read(4096)):
        out += piece
        while answers and out.count(b"[y/N]") > asked:
            asked += 1
            os.write(keyboard, answers.pop(0).encode() + b"\n")
    return out
