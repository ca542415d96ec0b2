"""What strangers wrote, as a person must see it: nothing is hidden, and nothing speaks to the terminal.

`⟦…⟧` is a mark of ours and stands for what would not be seen. The bracket itself is marked where a text has it, so
no text can make a mark. Joiners, directions and selectors stay as they are where their script needs them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from uniun_bots.personas.frontmatter import split_frontmatter
from uniun_bots.skills.hidden import comment_spans, flag_spans

OPEN, CLOSE = "⟦", "⟧"
COMMENT_BEGINS, COMMENT_ENDS = (
    f"{OPEN}comment, the model does not get it{CLOSE}",
    f"{OPEN}end of comment{CLOSE}",
)
MOST_COMBINING = 5
"""Marks on one letter; more of them cover what stands around it."""

_CONTROLS = {0x07: "BELL", 0x08: "BACKSPACE", 0x0D: "CARRIAGE RETURN", 0x1B: "ESCAPE", 0x7F: "DELETE"}
_CONTROLS |= {0x85: "NEXT LINE", 0x90: "DEVICE CONTROL", 0x9B: "CONTROL SEQUENCE", 0x9D: "SYSTEM COMMAND"}
# Blank or zero wide although they count as letters, marks or symbols.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2028\u2029\u2800\u3164\uffa0\ufffc")
_COUNTING_MARKS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2")
"""Format characters of Arabic and Syriac that are drawn."""
_NON_JOINER, _JOINER = "\u200c", "\u200d"
_DIRECTIONS = "\u200e\u200f\u061c"
_JOINING = ("ARABIC", "SYRIAC", "MONGOLIAN", "NKO", "MANDAIC", "PHAGS-PA")
_EMOJI_BASES = "#*0123456789©®‼⁉™ℹ〰〽㊗㊙\U0001f170\U0001f171\U0001f17e\U0001f17f"


@dataclass(frozen=True, slots=True)
class Mark:
    start: int
    end: int
    """Of what is not seen."""
    shown: str
    what: str
    """In words, for a warning."""


def visible(text: str) -> str:
    """The whole text over its lines; `\\n` and tab stay."""
    return with_marks(text, marks(text))


def visible_line(text: str, more: Iterable[Mark] = ()) -> str:
    """One field on one line: line ends and tabs are marked as well."""
    shown = with_marks(text, [*marks(text), *more]).replace("\n", f"{OPEN}line end{CLOSE}")
    return shown.replace("\t", f"{OPEN}tab{CLOSE}")


def visible_file(text: str) -> str:
    """A skill file: with its comments marked as well, which a reader of the rendered text would not see."""
    found = list(marks(text))
    for start, end in comments_in(text):
        found += [Mark(start, start, COMMENT_BEGINS, ""), Mark(end, end, COMMENT_ENDS, "")]
    return with_marks(text, found)


def comments_in(text: str) -> list[tuple[int, int]]:
    """Spans of what the model does not get, in a skill file or in the body of one."""
    try:
        body = split_frontmatter(text).body
    except ValueError:
        body = text
    begins = text.rfind(body)
    return [(begins + start, begins + end) for start, end in comment_spans(body)]


def marks(text: str) -> Iterator[Mark]:
    """In order. Characters of one kind that stand together are one mark."""
    if text.isascii() and text.isprintable():
        return
    flags = dict(flag_spans(text))
    at = 0
    while at < len(text):
        if at in flags:
            at = flags[at]
        elif hidden := _hidden(text, at):
            end = at + 1
            while end < len(text) and end not in flags and _same_run(text, at, end, hidden):
                end += 1
            yield Mark(at, end, f"{OPEN}{_shown(text[at:end], hidden)}{CLOSE}", hidden)
            at = end
        else:
            at += 1


def with_marks(text: str, found: Iterable[Mark]) -> str:
    parts: list[str] = []
    at = 0
    for mark in sorted(found, key=lambda mark: (mark.start, mark.end)):
        parts += [text[at : mark.start], mark.shown]
        at = max(at, mark.end)
    return "".join([*parts, text[at:]])


def _hidden(text: str, at: int) -> str:
    """What is hidden about this character, in words; empty when it is seen, or at home here."""
    char = text[at]
    if char.isascii():
        return "" if char.isprintable() or char in "\n\t" else "a control character"
    if char in (OPEN, CLOSE):
        return "a bracket that this view uses for its own marks"
    if _is_tag(char):
        return "hidden text in tag characters"
    if _is_selector(char):
        return "" if _selects(text, at) else "hidden data in variation selectors"
    if char in (_NON_JOINER, _JOINER):
        return "" if _joins(text, at) else "an invisible joiner"
    if char in _DIRECTIONS:
        return "" if _has_right_to_left(text, at) else "an invisible mark of direction"
    return _hidden_by_category(text, at)


def _hidden_by_category(text: str, at: int) -> str:
    char = text[at]
    category = unicodedata.category(char)
    if category == "Mn" and char not in _BLANK:
        piled = text[max(0, at - MOST_COMBINING) : at]
        covers = len(piled) == MOST_COMBINING and all(unicodedata.category(one) == "Mn" for one in piled)
        return "combining marks piled up over each other" if covers else ""
    if category == "Cc":
        return "a control character"
    if unicodedata.bidirectional(char) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"):
        return "a character that changes the direction of writing"
    # Emoji are newer than our tables of Unicode.
    if category in ("Co", "Cs") or (category == "Cn" and not _is_emoji(char)):
        return "a character without a meaning of its own"
    blank = char in _BLANK or (category == "Cf" and char not in _COUNTING_MARKS)
    return "an invisible character" if blank else ""


def _same_run(text: str, first: int, at: int, hidden: str) -> bool:
    if _is_tag(text[first]):
        return _is_tag(text[at])
    if _is_selector(text[first]):
        return _is_selector(text[at])
    return text[at] == text[first] and _hidden(text, at) == hidden


def _shown(run: str, hidden: str) -> str:
    if _is_tag(run[0]):
        said = "".join(chr(ord(char) - 0xE0000) for char in run if 0xE0020 <= ord(char) < 0xE007F)
        return f"tag characters: {said}"
    if _is_selector(run[0]) and len(run) > 1:
        return f"variation selectors: {_bytes_in(run)}"
    times = f" x{len(run)}" if len(run) > 1 else ""
    name = _CONTROLS.get(ord(run[0])) or unicodedata.name(run[0], "")
    return f"U+{ord(run[0]):04X}{name and ' '}{name}{times}"


def _bytes_in(run: str) -> str:
    """Each of the 256 selectors can stand for a byte."""
    codes = [ord(char) - (0xFE00 if ord(char) < 0xFE10 else 0xE0100 - 16) for char in run]
    said = bytes(codes).decode("utf-8", errors="replace")
    return said if said.isprintable() and OPEN not in said and CLOSE not in said else f"{len(codes)} bytes"


def _is_tag(char: str) -> bool:
    return "\U000e0000" <= char <= "\U000e007f"


def _is_selector(char: str) -> bool:
    return (
        "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef" or "\u180b" <= char <= "\u180d"
    )


def _selects(text: str, at: int) -> bool:
    """Whether one selector stands behind a character that has variants."""
    before = text[at - 1] if at else ""
    if not before or _is_selector(before) or (at + 1 < len(text) and _is_selector(text[at + 1])):
        return False
    if text[at] in "\ufe0e\ufe0f":
        return (
            before in _EMOJI_BASES or _is_emoji(before) or unicodedata.category(before) in ("So", "Sm", "Sk")
        )
    name = unicodedata.name(before, "")
    if "\u180b" <= text[at] <= "\u180d":
        return name.startswith("MONGOLIAN")
    return name.startswith(("CJK", "MYANMAR", "PHAGS-PA")) or unicodedata.category(before) == "Sm"


def _joins(text: str, at: int) -> bool:
    """Whether a joiner stands where writing or an emoji needs it: behind a joining letter, a virama or a symbol."""
    before, after = text[at - 1] if at else "", text[at + 1] if at + 1 < len(text) else ""
    if not before or before in _NON_JOINER + _JOINER or after in ("", _NON_JOINER, _JOINER):
        return False
    if unicodedata.combining(before) == 9:  # virama
        return True
    if text[at] == _JOINER and (_is_pictured(before) or before == "\ufe0f"):
        return _is_pictured(after)
    while at and unicodedata.category(text[at - 1]) == "Mn":
        at -= 1
    return at > 0 and unicodedata.name(text[at - 1], "").startswith(_JOINING)


def _is_pictured(char: str) -> bool:
    return _is_emoji(char) or unicodedata.category(char) in ("So", "Sk")


def _is_emoji(char: str) -> bool:
    return "\U0001f000" <= char <= "\U0001faff"


def _has_right_to_left(text: str, at: int) -> bool:
    """In the same line, where such marks keep punctuation in its place. More than two in a row do nothing more."""
    if at >= 2 and text[at - 1] in _DIRECTIONS and text[at - 2] in _DIRECTIONS:
        return False
    line = text[text.rfind("\n", 0, at) + 1 : (text.find("\n", at) + 1 or len(text) + 1) - 1]
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in line if char not in _DIRECTIONS)
