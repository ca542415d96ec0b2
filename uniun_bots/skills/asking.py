"""The device skills: they ask a person, and nothing happens before the answer is yes."""

from __future__ import annotations

from uniun_bots.approvals.payload import Payload, Reminder, Share
from uniun_bots.approvals.propose import Proposal, propose
from uniun_bots.personas.gana import Mode
from uniun_bots.skills.arguments import RemindMe, ShareExternal
from uniun_bots.skills.effect import Answer
from uniun_bots.skills.reach import Reach
from uniun_bots.skills.shown_notes import fault, line


async def ask_owner(given: RemindMe | ShareExternal, reach: Reach) -> Answer:
    if reach.hosted is None or reach.turn is None:
        return fault("there is nobody to ask here")
    if reach.hosted.gana.mode is not Mode.SHADOW:
        turn, payload = reach.turn, _payload(given, reach.now)
        latest = turn.latest if turn.notes else None
        proposal = Proposal(
            gana=turn.gana,
            surface=turn.surface,
            key=turn.key,
            payload=payload,
            answers=latest.id if latest else None,
            asker=latest.author if latest else "",
        )
        await reach.store.write(lambda tx: propose(tx, proposal, reach.now))
    return Answer(line({"asked": "your owner will be asked; it is not done yet and may never be"}))


def _payload(given: RemindMe | ShareExternal, now: float) -> Payload:
    if isinstance(given, ShareExternal):
        return Share(given.text.strip())
    return Reminder(given.text.strip(), now + 60 * given.in_minutes)
