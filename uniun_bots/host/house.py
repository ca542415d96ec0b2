"""The steps of the flow, each handed to the room that does it. What only one run needs stands in Progress."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace

from uniun_bots.clock import monotonic
from uniun_bots.context.context import Context
from uniun_bots.context.gather import gather
from uniun_bots.context.knowledge import NOTHING, Knowledge, look_up_knowledge, scope_of_turn
from uniun_bots.context.packing import Costs
from uniun_bots.errors import EngineError, NoModel
from uniun_bots.graph.citable import citable
from uniun_bots.graph.scope import Scope
from uniun_bots.host.agentic import run_rounds
from uniun_bots.host.engines import engine_name
from uniun_bots.host.premises import Premises
from uniun_bots.host.progress import tell
from uniun_bots.host.taking import Taking
from uniun_bots.host.tending.embedding import Embedding
from uniun_bots.host.tending.keeping import keep_and_notice, keep_until_kept
from uniun_bots.host.tending.librarian import Librarian
from uniun_bots.host.tending.remembering import Remembering
from uniun_bots.host.tending.reminding import Reminding
from uniun_bots.host.tending.skill_watch import SkillWatch
from uniun_bots.inference.allowance import Allowance
from uniun_bots.inference.engine import Engine, EngineInfo
from uniun_bots.inputs.cursors import own_keys
from uniun_bots.inputs.decided import AlreadyDecided, hold
from uniun_bots.inputs.held import Held
from uniun_bots.inputs.turn import Turn
from uniun_bots.journal.attempt import skip_attempt
from uniun_bots.journal.close import Abandoned, Closed, Ended, Withdrawn, close
from uniun_bots.nostr.surfaces import audience_of
from uniun_bots.personas.gana import Gana, Mode
from uniun_bots.personas.settings import OnForeignPublish
from uniun_bots.publishing.deliver import Delivery
from uniun_bots.publishing.pin import draft_reply, finish
from uniun_bots.publishing.pinned import Pinned, Post
from uniun_bots.relays.heard import Heard
from uniun_bots.runs.asking import asking_of, gate_for
from uniun_bots.runs.one_shot import run_one_shot
from uniun_bots.runs.outcome import Ending, Outcome
from uniun_bots.runs.prepare import prepare, rules_of
from uniun_bots.runs.withhold import withhold
from uniun_bots.triggers.match import match, write_wakeups
from uniun_bots.triggers.wakeup import Wakeup

log = logging.getLogger("uniun_bots.flow")

RUN_ENGINE_S = 600.0
"""What a run may take of its engine; time in the queue is not counted."""
REST = 19
"""Of twenty parts of the loop's time those that waking leaves, however many Ganas are on one busy surface."""
NO_MODEL_RETRY_S = 30.0
LONG_RUN_S = 2.0
"""After a run this long its input may be gone: deletions are asked for before publishing."""


class House(Premises):
    def __post_init__(self) -> None:
        super().__post_init__()
        self.taking = Taking(self)
        self.remembering = Remembering(self)
        self.reminding = Reminding(self, self.hand_over)
        self.skill_watch = SkillWatch(self)
        self.embedding = Embedding(self, lambda: bool(self.gateway.backlog() or self.keeping))
        self._costs = Costs()
        self.librarian = Librarian(self.store, self.clock)
        self.deliveries: dict[str, Delivery] = {}
        self.arrived = asyncio.Event()
        self.keeping = 0
        """Batches that were heard and are not in the store yet."""

    # receive ------------------------------------------------------------------------------------------

    async def hear(self) -> Sequence[Heard]:
        return await self.gateway.hear()

    async def keep(self, heard: Sequence[Heard]) -> None:
        self.keeping += 1
        try:
            await keep_until_kept(heard, self._keep, self._refuse)
        finally:
            self.keeping -= 1

    def _refuse(self, heard: Heard, fault: Exception) -> None:
        self.counters["refused"] += 1
        log.error("refused: %s cannot be kept: %s", heard.event.id, fault)

    async def _keep(self, heard: Sequence[Heard]) -> None:
        sightings = self.gateway.sightings()
        now = self.clock.now()
        by_key, cautious = self.roster.by_key, self.settings.foreign_publish is OnForeignPublish.PAUSE
        kept, foreign = await self.store.write(
            lambda tx: keep_and_notice(tx, heard, sightings, by_key, now, pauses=cautious)
        )
        self.counters.update(heard=len(heard), kept=len(kept.new), known=kept.known, expired=kept.expired)
        log.debug("kept: %d of %d", len(kept.new), len(heard))
        self.skill_watch.notice(heard)
        self.counters["foreign"] += foreign.fresh
        for name in foreign.ganas:
            self._look_again(name)
        if kept.new:
            self.arrived.set()
            self.remembering.look()
            self.embedding.look(len(kept.new))

    def _look_again(self, gana: str) -> None:
        """What waited for this Gana may be answered by now."""
        hosted = self.roster.ganas.get(gana)
        if hosted and hosted.surface and hosted.gana.trigger.by_message:
            self.wakeups.not_later(gana, hosted.surface, self.clock.now())

    # wake ---------------------------------------------------------------------------------------------

    async def match(self) -> None:
        more = True
        while more:
            roster, now = self.roster, self.clock.now()
            matched = await self.store.read(lambda tx: match(tx, roster.watchers, roster.by_key.keys()))  # noqa: B023
            more = matched.more
            began = monotonic()
            fresh = [key for key in matched.keys if not self.wakeups.stands(*key)]
            for gana, surface in matched.keys:
                self.wakeups.by_notes(gana, surface, roster.ganas[gana].gana.debounce_s * self.debounce)
            log.debug("woke: %d Ganas by %d notes", len(matched.keys), matched.notes)
            rest_s = REST * (monotonic() - began)
            if matched.notes:
                await self.store.write(lambda tx: write_wakeups(tx, fresh, matched.upto, now))  # noqa: B023
            await asyncio.sleep(rest_s)

    # answer -------------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def take(self, wakeup: Wakeup) -> AsyncIterator[Turn | None]:
        """Yields the turn, or None when nothing is to do; a step that raises becomes a failed run."""
        hosted = self.roster.ganas.get(wakeup.gana)
        if hosted and hosted.gana.agentic and self.defers_agentic:
            self.deferred.add(hosted.id)
            hosted = None
        turn = await self.taking.next_turn(hosted, wakeup) if hosted else None
        if turn is None:
            yield None
            return
        try:
            yield turn
        except (AlreadyDecided, Abandoned) as over:
            log.info("dropped: %s", over)
            await self._skip(turn, str(over))
            self.wakeups.not_later(turn.gana, turn.surface, self.clock.now() + 1.0)
        except Withdrawn as over:
            await self._skip(turn, str(over))
            await self._withdraw(turn, over)
        except NoModel as fault:
            log.warning("held: %s waits: %s", turn.gana, fault)
            await self._skip(turn, f"no model: {fault}")
            self.wakeups.not_later(turn.gana, turn.surface, self.clock.now() + NO_MODEL_RETRY_S, turn.due)
        except Exception as fault:
            log.exception("failed: %s on %s", turn.gana, turn.key)
            await self._close_failed(turn, fault)
        finally:
            self.taking.over(turn)

    async def _skip(self, turn: Turn, why: str) -> None:
        run, now = self.taking.progress(turn).run, self.clock.now()
        if run is not None:
            await self.store.write(lambda tx: skip_attempt(tx, run, why, now))

    async def _close_failed(self, turn: Turn, fault: Exception) -> None:
        outcome = Outcome(Ending.FAILED, None, (), f"{type(fault).__name__}: {fault}", ())
        with contextlib.suppress(AlreadyDecided, Abandoned):
            await self.close(turn, outcome, None)

    async def _withdraw(self, turn: Turn, over: Withdrawn) -> None:
        held = [Held(turn.latest.id, str(over), over.setting)]
        await self.store.write(lambda tx: hold(tx, turn.gana, held, self.clock.now()))
        self.wakeups.not_later(turn.gana, turn.surface, self.clock.now())

    async def gather(self, turn: Turn) -> Context:
        progress = self.taking.progress(turn)
        gana = progress.hosted.gana
        engine, _ = await self._model_of(gana)
        find = self.finder.for_ancestors(progress.hosted.reads)
        scope = scope_of_turn(progress.hosted, turn)
        progress.around = await gather(self.store, turn, progress.hosted.pubkey, find, scope)
        known = await self._known(turn, scope if progress.around.knows else None)
        context = await prepare(
            turn,
            progress.hosted,
            self.roster.skills[gana.id],
            progress.around,
            known,
            engine=engine,
            settings=self.settings,
            now=self.clock.now(),
            costs=self._costs,
        )
        progress.knowledge = tuple(note.id for note in context.knowledge)
        return context

    async def _known(self, turn: Turn, scope: Scope | None) -> Knowledge:
        """`scope`: None when there is nothing in it, which then costs nothing."""
        return NOTHING if scope is None else await look_up_knowledge(self.store, turn, scope, self.search)

    async def _model_of(self, gana: Gana) -> tuple[Engine, EngineInfo]:
        """Nothing is loaded for it: that is for the scheduler, when the turn's job comes up."""
        engine = self.engines[engine_name(gana, self.engines)]
        try:
            return engine, await engine.info()
        except EngineError as fault:
            raise NoModel(str(fault)) from fault

    async def run(self, context: Context) -> Outcome:
        turn = context.turn
        progress = self.taking.progress(turn)
        gana = progress.hosted.gana
        last_reply = progress.around.last_reply if progress.around else None
        rules = rules_of(gana, self.roster.skills[gana.id])
        gate = gate_for(gana, last_reply, self.roster.secrets(), rules)
        engine, info = await self._model_of(gana)
        asking = asking_of(gana, self.settings, engine_name(gana, self.engines), info.context_tokens)
        allowance = Allowance(RUN_ENGINE_S)
        if gana.agentic:
            outcome = await run_rounds(
                self, context, progress, engine=engine, asking=asking, gate=gate, allowance=allowance
            )
        else:
            outcome = await run_one_shot(
                context, scheduler=self.scheduler, asking=asking, gate=gate, allowance=allowance
            )
        return await self._citing(withhold(outcome, gate.is_secret), audience_of(turn.surface))

    async def _citing(self, outcome: Outcome, audience: str | None) -> Outcome:
        """Only signed public notes are named in public, whatever the model was shown."""
        if not outcome.references:
            return outcome
        known = await self.store.read(lambda tx: citable(tx, outcome.references, audience))
        return replace(outcome, references=tuple(note for note in outcome.references if note in known))

    async def pin(self, turn: Turn, outcome: Outcome) -> Post | None:
        """None when nothing is to be sent: silence, a failure, or shadow mode. Unsigned when a person is to say yes."""
        progress = self.taking.progress(turn)
        hosted = progress.hosted
        if outcome.body is None or hosted.gana.mode not in (Mode.APPROVE, Mode.LIVE):
            return None
        if turn.notes and monotonic() - progress.began > LONG_RUN_S:
            await self.finder.look_for_deletion(turn.latest, hosted.reads)
            await self.taking.look_for_stop(turn)
        unsigned = draft_reply(hosted, turn, outcome)
        if hosted.gana.mode is Mode.APPROVE:
            return unsigned
        return await finish(
            unsigned,
            self.roster.signers[hosted.pubkey],
            difficulty=await self.finder.difficulty(hosted, self.roster.addresses, self.settings.pow),
            now=self.clock.now(),
        )

    async def close(self, turn: Turn, outcome: Outcome, pinned: Post | None) -> None:
        progress = self.taking.progress(turn)
        ended = Ended(
            hosted=progress.hosted,
            turn=turn,
            outcome=outcome,
            pinned=pinned,
            thread=progress.running.thread,
            own=own_keys(self.roster.by_key.keys()),
            started_at=progress.started_at,
            knowledge=progress.knowledge,
            ended_at=self.clock.now(),
            run=progress.run,
        )
        # A run that is done is not lost to a shutdown: the store ends what it began, whatever happens to this task.
        closed = await self.store.write(lambda tx: close(tx, ended))
        self.counters[outcome.ending] += 1
        self.counters["dead letters"] += closed.dead
        tell(turn, outcome, closed)
        if isinstance(pinned, Pinned):
            self.hand_over(pinned.relays)
            self.embedding.look(1)
        await self._after_close(turn, closed)

    async def _after_close(self, turn: Turn, closed: Closed) -> None:
        now = self.clock.now()
        if closed.again_at is not None:
            self.wakeups.not_later(turn.gana, turn.surface, closed.again_at, turn.due)
        elif turn.due is not None:
            await self.taking.move_timer_on(turn.gana, turn.surface, turn.due)
        hosted = self.roster.ganas.get(turn.gana)
        if closed.more and hosted and hosted.gana.trigger.by_message:
            self.wakeups.not_later(turn.gana, turn.surface, now)

    # deliver ------------------------------------------------------------------------------------------

    def hand_over(self, relays: Iterable[str]) -> None:
        """Something was put into the outbox for these."""
        for url in relays:
            if url in self.deliveries:
                self.deliveries[url].wake()

    async def send(self, relay: str) -> int:
        return await self.deliveries[relay].once()
