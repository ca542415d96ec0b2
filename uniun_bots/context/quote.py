"""Other people's text as data: every line of it marked, so that it cannot pass for ours."""

from __future__ import annotations

from uniun_bots.graph.note import Note


def quote(note: Note, handle: str, label: str, age: str, max_chars: int) -> str:
    """The label comes behind the text: small models go on in the pattern of what they read last.

    `handle`: empty for a note that is not there to be cited.
    """
    text = quoted(cut(note.text.strip(), max_chars))
    return f"{text}\n({handle}{', ' if handle else ''}{label}, {age})"


def quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines() or [""])


def cut(text: str, max_chars: int) -> str:
    """The beginning of the text, with a visible mark where it ends early."""
    if len(text) <= max_chars:
        return text
    return f"{text[:max_chars].rstrip()} […{len(text) - max_chars} more characters cut]".lstrip()


def age_of(created_at: int, now: float) -> str:
    seconds = max(0, int(now) - created_at)
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if (count := seconds // size) >= 1:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
