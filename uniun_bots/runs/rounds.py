"""The rules of an agentic run, without a model and without a store: what each answer of the model leads to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace

from uniun_bots.context.quote import cut, quoted
from uniun_bots.inference.sanitize import sanitize
from uniun_bots.runs.citations import handles_in, take_citations
from uniun_bots.runs.gate import Gate, Refused, pass_gate
from uniun_bots.runs.one_shot import NOOP
from uniun_bots.runs.outcome import Ending, Outcome
from uniun_bots.runs.shorten import shorten
from uniun_bots.skills.arguments import Post
from uniun_bots.skills.call import BadCall, Call, Wrong
from uniun_bots.skills.catalogue import Role
from uniun_bots.skills.effect import Answer, Effect, Publish, Silence

RESULT_CHARS = 4000
"""No result takes more of the prompt, whatever a skill gives; a text skill is given whole, as far as it fits."""

LAST_CALL = "1 call is left: it should publish or stay silent."


@dataclass(frozen=True, slots=True)
class Told:
    """The run goes on: what the model is told before its next call."""

    text: str
    note: str
    """What became of the round, for people."""


@dataclass(frozen=True, slots=True)
class Over:
    outcome: Outcome
    """Without its steps."""
    note: str


class Rounds:
    """One run. `read` and, for a call that it lets through, `result` are asked once a round, in turn."""

    def __init__(
        self,
        most: int,
        *,
        answered: Collection[str] = (),
        speaker: str = "",
        last_call: str = LAST_CALL,
    ) -> None:
        """`answered`: ids of the turn's notes, which are answered and not cited."""
        self.left = self._most = most
        self._answered, self._speaker, self._last_call = answered, speaker, last_call
        self._asked: Counter[str] = Counter()
        self._refused = self._wrong = False

    def read(self, found: Call | BadCall) -> Call | Told | Over:
        self.left -= 1
        if isinstance(found, BadCall):
            return self._bad(found)
        if isinstance(found.arguments, Post):
            return replace(found, arguments=_with_inline_handles(found.arguments))
        self._asked[found.key] += 1
        match self._asked[found.key]:
            case 1:
                return found
            case 2:
                said = "You made this call before; its result stands above."
                return self._go_on(said, "the same call again: not carried out")
        reason = f"called {found.skill.name} with the same arguments again and again"
        return _over(Ending.EXHAUSTED, reason)

    def result(self, call: Call, effect: Effect, gate: Gate) -> Told | Over:
        match effect:
            case Silence():
                return _over(Ending.SILENT, "the model chose to say nothing")
            case Publish():
                return self._publish(effect, gate)
            case Answer():
                whole = call.skill.role is Role.TEXT
                text = quoted(effect.text if whole else cut(effect.text, RESULT_CHARS))
                note = "could not be carried out" if effect.is_fault else "carried out"
                return self._go_on(f"Result of {call.skill.name}:\n{text}", note)

    def _bad(self, found: BadCall) -> Told | Over:
        """What is no call at all ends the run; a wrong name or argument may be put right once."""
        if found.wrong is Wrong.NO_CALL or self._wrong:
            return _over(Ending.MALFORMED, f"no usable call: {found.told}")
        self._wrong = True
        return self._go_on(f"That call cannot be used: {found.told}.", f"not usable: {found.told}")

    def _publish(self, wanted: Publish, gate: Gate) -> Told | Over:
        cleaned = sanitize(wanted.body, "stop", self._speaker)
        if NOOP.fullmatch(cleaned.text):
            return _over(Ending.SILENT, "the model chose to say nothing")
        body = take_citations(cleaned.text, {}).text
        passed = pass_gate(_whole(body, gate.max_chars), gate)
        if isinstance(passed, Refused):
            return self._refuse(passed)
        references = tuple(note_id for note_id in wanted.references if note_id not in self._answered)
        dropped = f"; dropped {', '.join(wanted.dropped)}" if wanted.dropped else ""
        note = f"published {len(passed.body)} characters{dropped}"
        return Over(Outcome(Ending.SUCCEEDED, passed.body, references, "", ()), note)

    def _refuse(self, refused: Refused) -> Told | Over:
        note = f"refused: {refused.reason}"
        if self._refused or not self.left:
            return _over(Ending.MALFORMED, refused.reason, note)
        self._refused = True
        return self._go_on(f"Your text was not published: {refused.reason}.", note)

    def _go_on(self, text: str, note: str) -> Told | Over:
        if not self.left:
            return _over(Ending.EXHAUSTED, f"all {self._most} rounds are used up", note)
        calls = self._last_call if self.left == 1 else f"{self.left} calls are left."
        return Told(f"{text}\n{calls}", note)


def _with_inline_handles(post: Post) -> Post:
    """What a model cites in the middle of its text counts as cited, under the same rules."""
    named = dict.fromkeys((*post.referenceNoteIds, *handles_in(post.body)))
    return post.model_copy(update={"referenceNoteIds": tuple(named)})


def _over(ending: Ending, reason: str, note: str = "") -> Over:
    return Over(Outcome(ending, None, (), reason, ()), note or reason)


def _whole(body: str, max_chars: int) -> str:
    """A text that is as long as it may be was cut off by that bound: it ends with its last whole sentence, if any."""
    return (shorten(body, max_chars) or body) if len(body) == max_chars else body
