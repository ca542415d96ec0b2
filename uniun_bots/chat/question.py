"""What a person asks, and how."""

from __future__ import annotations

from dataclasses import dataclass, replace

from uniun_bots.errors import UniunError
from uniun_bots.nostr.text import clean

LONGEST_CHARS = 8000


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    conversation: int | None = None
    """None begins one."""
    manas: tuple[str, ...] | None = None
    """None: those of the conversation; without any, everything that is not private."""
    engine: str = "default"
    deep: bool = False
    """The model looks things up by itself, round by round, before it answers."""
    skills: tuple[str, ...] = ()
    """Text skills for this question."""

    def checked(self) -> Question:
        """Without control characters. Raises UniunError for one that cannot be asked."""
        text = clean(self.text).strip()
        if not text:
            raise UniunError("ask something: the question is empty")
        if len(text) > LONGEST_CHARS:
            raise UniunError(f"the question has {len(text)} characters; at most {LONGEST_CHARS} are taken")
        return replace(self, text=text)
