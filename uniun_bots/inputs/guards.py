"""The guards, in the order in which they are asked: each holds a note with a reason, or lets it pass.

They run before any inference is spent. What they know of a note stands in Facts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from uniun_bots.graph.note import Note
from uniun_bots.inputs.enabled import Standing
from uniun_bots.inputs.held import Held
from uniun_bots.nostr.profile import Profile
from uniun_bots.nostr.references import own_words, pubkeys_named
from uniun_bots.personas.hosted import HostedGana

FUTURE_S = 15 * 60
"""How far ahead of us a sender's clock may be."""
BEHIND_S = 60
"""How far behind: a note stamped a little before the Gana was turned on may still be new."""


@dataclass(frozen=True, slots=True)
class Facts:
    hosted: HostedGana
    standing: Standing
    now: float
    profile: Profile | None
    parent: Note | None
    parent_mentioned_us: bool
    """Whether the parent already carried our `p` tag: then the tag here may be copied along."""
    ancestors: tuple[Note, ...]
    muted: bool


def first_held(note: Note, facts: Facts) -> Held | None:
    for guard in GUARDS:
        if (verdict := guard(note, facts)) is not None:
            reason, setting = verdict
            return Held(note.id, reason, setting)
    return None


Verdict = tuple[str, str] | None


def _gone(note: Note, facts: Facts) -> Verdict:
    return ("its author deleted it", "NIP-09 deletion") if note.deleted else None


def _too_early(note: Note, facts: Facts) -> Verdict:
    if facts.standing.catch_up or note.created_at >= facts.standing.enabled_at - BEHIND_S:
        return None
    return "it was posted before this Gana was turned on", "mode (turn it on with --catch-up)"


def _too_old(note: Note, facts: Facts) -> Verdict:
    given = facts.hosted.gana.input
    if given is None or note.created_at >= facts.now - given.max_age_s:
        return None
    hours = (facts.now - note.created_at) / 3600
    return f"it is {hours:.1f} h old", "input.max_age"


def _from_the_future(note: Note, facts: Facts) -> Verdict:
    ahead = note.created_at - facts.now
    return (f"it is dated {ahead / 60:.0f} min ahead", "clock (15 min)") if ahead > FUTURE_S else None


def _spent(note: Note, facts: Facts) -> Verdict:
    if not facts.standing.spent:
        return None
    return "this Gana's once-trigger has had its run", "trigger (re-arm with `persona enable`)"


def _denied(note: Note, facts: Facts) -> Verdict:
    given = facts.hosted.gana.input
    if given and note.author in given.deny:
        return "its author is on the deny list", "input.deny"
    if given and given.allow and note.author not in given.allow:
        return "its author is not on the allow list", "input.allow"
    return None


def _muted(note: Note, facts: Facts) -> Verdict:
    return ("its author asked us to stop", "mutes") if facts.muted else None


def _bot(note: Note, facts: Facts) -> Verdict:
    given = facts.hosted.gana.input
    if not facts.profile or (given and note.author in given.allow_bots):
        return None
    if facts.profile.is_bot:
        return "its author's profile says `bot: true`", "input.allow_bots"
    return None


def _no_bots_please(note: Note, facts: Facts) -> Verdict:
    about = facts.profile.about if facts.profile else ""
    words = f"{note.text}\n{about}".lower()
    return ("its author asks bots to stay away (#nobot)", "#nobot") if "#nobot" in words else None


def _over_long(note: Note, facts: Facts) -> Verdict:
    given = facts.hosted.gana.input
    if given is None or len(note.text) <= given.max_chars:
        return None
    return f"it has {len(note.text)} characters", "input.max_chars"


def _only_a_quotation(note: Note, facts: Facts) -> Verdict:
    # Quoted material is not the speaker's words: answering it is how two bots start to echo each other.
    if own_words(note.text).strip():
        return None
    return "it has no words of its own", "input"


def _not_meant(note: Note, facts: Facts) -> Verdict:
    """A `p` tag is copied along a thread; only naming or answering us means us."""
    surface, us = facts.hosted.surface or "", facts.hosted.pubkey
    if not surface.startswith("mentions:") or us in pubkeys_named(note.text):
        return None
    if facts.parent is None:
        return None
    if facts.parent.author == us or not facts.parent_mentioned_us:
        return None
    return "the mention was copied along from the note it answers", "input.type mentions"


def _too_deep(note: Note, facts: Facts) -> Verdict:
    limit = facts.hosted.gana.limits.depth
    depth = len(facts.ancestors) + 1
    return (f"the thread is {depth} notes deep (limit {limit})", "limits.depth") if depth > limit else None


GUARDS: tuple[Callable[[Note, Facts], Verdict], ...] = (
    _gone,
    _too_early,
    _too_old,
    _from_the_future,
    _spent,
    _denied,
    _muted,
    _bot,
    _no_bots_please,
    _over_long,
    _only_a_quotation,
    _not_meant,
    _too_deep,
)


def asks_to_stop(note: Note, facts: Facts) -> bool:
    """`stop` as the whole message, but for our name, by someone who names or answers us."""
    if "stop" not in note.text.lower():
        return False
    us = facts.hosted.pubkey
    words = [word for word in own_words(note.text).split() if us not in pubkeys_named(word)]
    if " ".join(words).strip(".,:! ").lower() != "stop":
        return False
    answers_us = facts.parent is not None and facts.parent.author == us
    tagged = facts.hosted.surface == f"mentions:{us}" and _not_meant(note, facts) is None
    return answers_us or tagged or us in pubkeys_named(note.text)
