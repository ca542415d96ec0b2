"""Ganas, notes and finished events that the tests of publishing and journal share."""

from __future__ import annotations

from typing import Any

from uniun_bots.graph.note import Note
from uniun_bots.inference.completion import Completion
from uniun_bots.inputs.turn import Turn
from uniun_bots.nostr.event import Draft, Event
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.publishing.pinned import Pinned
from uniun_bots.runs.outcome import Ending, Outcome, Step

NOW = 1_750_000_000
ALICE, BOB = "a1" * 32, "b0" * 32
GROUP = "4b7df1c9e5b40a4e7a3b0a2f6f0d1c5a8e9d2b3c4f5061728394a5b6c7d8e9f0"
RELAYS = ("wss://one.example", "wss://two.example")

SIGNER = LocalSigner(new_secret())


def note(
    number: int, *, root: str | None = None, parent: str | None = None, author: str = ALICE, kind: int = 42
) -> Note:
    return Note(
        seq=number,
        id=f"{number:064x}",
        author=author,
        kind=kind,
        created_at=NOW - 60,
        text=f"note {number}",
        origin="relay",
        heard_at=float(NOW - 60),
        root=root,
        parent=parent,
        deleted=False,
    )


def hosted(name: str = "tide", **changes: Any) -> HostedGana:
    given: dict[str, Any] = {
        "id": name,
        "file": f"personas/{name}.md",
        "name": name.title(),
        "identity": "env:TIDE_NSEC",
        "mode": "live",
        "input": {"type": "group", "ref": GROUP},
        "output": {"type": "group", "ref": "same", "reply": True},
        "trigger": "every-message",
        "task": "Say when the tide comes.",
    }
    gana = Gana.model_validate(given | changes)
    return HostedGana(gana, SIGNER.public_key, gana.input_surface(SIGNER.public_key), RELAYS, RELAYS)


def turn(*notes: Note, gana: str = "tide", due: int | None = None, attempt: int = 1) -> Turn:
    return Turn(gana, f"group:{GROUP}" if notes else "timer", notes, due, attempt)


def said(body: str, *references: str) -> Outcome:
    completion = Completion(body, "stop", "scripted", 10, 0, 10, 3, 0.1)
    return Outcome(Ending.SUCCEEDED, body, references, "", (Step(1, completion, "answered"),))


def failed(reason: str = "the engine is away") -> Outcome:
    return Outcome(Ending.FAILED, None, (), reason, ())


async def an_event(text: str = "High water at noon.", kind: int = 42, at: int = NOW) -> Event:
    return await SIGNER.sign(Draft(kind, text, (("e", GROUP, "", "root"),), at))


async def pinned(text: str = "High water at noon.", relays: tuple[str, ...] = RELAYS) -> Pinned:
    return Pinned(await an_event(text), relays, f"group:{GROUP}")
