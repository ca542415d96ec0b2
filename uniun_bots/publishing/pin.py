"""pin: Outcome -> finished bytes. The model supplied a body and handles; everything else is decided here.

Outside any transaction; thrown away if close does not commit. In mode `approve` the last step, `finish`, waits
for a person.
"""

from __future__ import annotations

from uniun_bots.approvals.payload import Unsigned
from uniun_bots.inputs.turn import Turn
from uniun_bots.nostr.event import Draft
from uniun_bots.nostr.references import make_inert
from uniun_bots.nostr.signer import Signer, mine
from uniun_bots.personas.gana import OutputType
from uniun_bots.personas.hosted import HostedGana
from uniun_bots.publishing.pinned import Pinned
from uniun_bots.publishing.tags import reference_tags, thread_tags
from uniun_bots.runs.outcome import Outcome

KINDS = {OutputType.FEED: 1, OutputType.GROUP: 42}


def draft_reply(hosted: HostedGana, turn: Turn, outcome: Outcome) -> Unsigned:
    output = hosted.gana.output
    answered = turn.latest if turn.notes and output.reply else None
    hint = hosted.writes[0] if hosted.writes else ""
    group = output.ref if output.type is OutputType.GROUP else None
    people = {note.author for note in turn.notes}
    return Unsigned(
        author=hosted.pubkey,
        kind=KINDS[output.type],
        content=make_inert(outcome.body or "", people),
        tags=thread_tags(output.type, group, answered, hint)
        + reference_tags(output.type, output.references, outcome.references, hint),
        relays=hosted.writes,
        surface=hosted.surface,
        people=tuple(sorted(people)),
    )


async def finish(unsigned: Unsigned, signer: Signer, *, difficulty: int, now: float) -> Pinned:
    """Stamped, mined and signed, with nothing else in it changed.

    `difficulty`: leading zero bits (NIP-13) to mine, decided from settings and the relays' NIP-11.
    """
    draft = Draft(unsigned.kind, unsigned.content, unsigned.tags, int(now))
    if difficulty:
        draft = await mine(draft, signer.public_key, difficulty)
    return Pinned(await signer.sign(draft), unsigned.relays, unsigned.surface)
