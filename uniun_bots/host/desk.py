"""Where a person decides about approvals: in a running host, or with the folder's lease and nothing else running."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from uniun_bots import failpoints
from uniun_bots.approvals.approval import Approval, State
from uniun_bots.approvals.payload import Reminder, Share, Unsigned
from uniun_bots.approvals.queue import finish as write_down
from uniun_bots.approvals.queue import reword, settle, waiting
from uniun_bots.clock import Clock
from uniun_bots.context.gather import last_reply
from uniun_bots.database.store import Store
from uniun_bots.errors import NotFound, UniunError
from uniun_bots.graph.find import note_by_id
from uniun_bots.host.finder import Finder
from uniun_bots.host.roster import Roster
from uniun_bots.host.webhook import NotTaken, post
from uniun_bots.inputs.cursors import own_keys
from uniun_bots.inputs.stopped import find_stop, mute
from uniun_bots.inputs.taken import Asked
from uniun_bots.inputs.turn import Turn
from uniun_bots.journal.accept import accept
from uniun_bots.nostr.references import make_inert
from uniun_bots.personas.gana import Mode
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.personas.settings import HostSettings
from uniun_bots.personas.webhook import resolve_webhook
from uniun_bots.publishing.pin import finish
from uniun_bots.publishing.pinned import Pinned
from uniun_bots.runs.asking import gate_for
from uniun_bots.runs.gate import Gate, Refused, pass_gate

log = logging.getLogger("uniun_bots.flow")


class NotSaved(UniunError):
    """The text gate refuses the new text."""


@dataclass(frozen=True, kw_only=True)
class Desk:
    store: Store
    clock: Clock
    roster: Roster
    settings: HostSettings
    finder: Finder
    environ: Mapping[str, str]
    hand_over: Callable[[Iterable[str]], None]
    """Told which relays have mail now."""
    remind: Callable[[], None]
    """Told that there is another reminder."""

    async def accept(self, number: int) -> Approval:
        """Do it, if it still can be done; else the approval as it is settled, with what stood in the way.

        Raises NotFound, Settled, and UniunError when something must be changed first: then it still waits.
        """
        found = await self.store.read(lambda tx: waiting(tx, number))
        hosted = self._hosted(found)
        await self._look_again(found, hosted)
        pinned, webhook = await self._made_ready(found, hosted)
        settled = await self.store.write(
            lambda tx: accept(tx, number, found.payload, pinned, self.clock.now())
        )
        failpoints.hit("accepted")
        log.info("approval %d of %s is %s %s", number, found.gana, settled.state, settled.reason)
        if settled.state is State.ACCEPTED:
            if pinned:
                self.hand_over(pinned.relays)
            if isinstance(settled.payload, Reminder):
                self.remind()
            if webhook:
                return await self._share(settled, webhook)
        return settled

    async def edit(self, number: int, text: str) -> Approval:
        """Another text, through the same gate as the model's. Raises NotFound, Settled and NotSaved."""
        found = await self.store.read(lambda tx: waiting(tx, number))
        hosted = self._hosted(found)
        last = await self.store.read(lambda tx: last_reply(tx, found.surface, hosted.pubkey))
        passed = pass_gate(text.strip(), self._gate(hosted, last))
        if isinstance(passed, Refused):
            raise NotSaved(f"not saved: {passed.reason}")
        body = passed.body
        if isinstance(found.payload, Unsigned):
            body = make_inert(body, set(found.payload.people))
        return await self.store.write(lambda tx: reword(tx, number, body))

    async def reject(self, number: int, reason: str) -> Approval:
        """Raises NotFound and Settled."""
        why = reason or "a person said no"
        return await self.store.write(lambda tx: settle(tx, number, State.REJECTED, why, self.clock.now()))

    def _hosted(self, found: Approval) -> HostedGana:
        hosted = self.roster.ganas.get(found.gana)
        if hosted is None:
            raise NotFound(f"{found.gana} is off or its file is gone: turn it on first (`persona enable`)")
        return hosted

    def _gate(self, hosted: HostedGana, last: str | None) -> Gate:
        return gate_for(hosted.gana, last, self.roster.secrets())

    async def _look_again(self, found: Approval, hosted: HostedGana) -> None:
        """Relays tell of a deletion when they are asked, and a `stop` may stand in line behind other notes."""
        note = await self.store.read(lambda tx: note_by_id(tx, found.answers or ""))
        if note is None:
            return
        await self.finder.look_for_deletion(note, hosted.reads)
        turn = Turn(found.gana, found.surface, (note,), None, 1)
        asked = Asked(hosted, found.surface, None, self.clock.now(), own_keys(self.roster.by_key.keys()))
        if stop := await self.store.read(lambda tx: find_stop(tx, asked, turn)):
            await self.store.write(lambda tx: mute(tx, found.gana, stop, self.clock.now()))

    async def _made_ready(self, found: Approval, hosted: HostedGana) -> tuple[Pinned | None, str | None]:
        """Signed bytes, or the address of the webhook; neither for a reminder. Raises UniunError."""
        name, payload = found.gana, found.payload
        if hosted.gana.mode is Mode.SHADOW:
            raise UniunError(
                f"{name} is in mode shadow, which sends nothing: turn it to approve or live first"
            )
        if self._gate(hosted, None).is_secret(found.text):
            raise UniunError(f"approval {found.number} spells a secret key: edit it or reject it")
        match payload:
            case Unsigned():
                return await self._signed(payload, hosted), None
            case Share():
                return None, self._webhook_of(hosted)
            case Reminder() if self.settings.owner is None:
                raise UniunError("nobody to remind: write `owner: npub1…` into host.yaml")
        return None, None

    async def _signed(self, unsigned: Unsigned, hosted: HostedGana) -> Pinned:
        if hosted.pubkey != unsigned.author:
            raise UniunError(f"{hosted.id} has another identity since: reject the draft")
        return await finish(
            unsigned,
            self.roster.signers[unsigned.author],
            difficulty=await self.finder.difficulty(hosted, self.roster.addresses, self.settings.pow),
            now=self.clock.now(),
        )

    def _webhook_of(self, hosted: HostedGana) -> str:
        written = hosted.gana.webhook or self.settings.webhook
        if written is None:
            raise UniunError("nowhere to share: write `webhook: https://…` into host.yaml or the persona")
        return resolve_webhook(written, self.environ)

    async def _share(self, settled: Approval, webhook: str) -> Approval:
        """At most once: what is not known to have arrived is told, and not sent again."""
        body: dict[str, object] = {
            "gana": settled.gana,
            "text": settled.text,
            "approval": settled.number,
            "answers": settled.answers,
        }
        try:
            state, said = State.DONE, await post(webhook, body, f"{settled.gana}-{settled.number}")
        except NotTaken as fault:
            state, said = State.FAILED, str(fault)
        await self.store.write(lambda tx: write_down(tx, settled.number, state, said))
        log.info("approval %d of %s: %s", settled.number, settled.gana, said)
        return replace(settled, state=state, reason=said)


async def decide(desk: Desk, word: str, number: int, text: str) -> Approval:
    """`word`: accept, edit or reject; `text`: the new text, or why not. Raises NotFound and UniunError."""
    match word:
        case "accept":
            return await desk.accept(number)
        case "edit":
            return await desk.edit(number, text)
        case "reject":
            return await desk.reject(number, text)
    raise NotFound(f"nothing can be done by the name of {word!r}: accept, edit or reject")
