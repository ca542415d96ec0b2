"""What a reader should look at twice before a yes. A warning is no proof, and no warning is no promise.

The same function tells an author before publishing and a reader before installing.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from uniun_bots.inference.marks import marks_in
from uniun_bots.nostr.references import references_in
from uniun_bots.nostr.secret import spells_a_secret
from uniun_bots.sharing.flat import Flat, flat
from uniun_bots.sharing.look_alikes import look_alikes
from uniun_bots.sharing.phrase_book import ELSEWHERE, OTHER_OVERRIDES, OVERRIDES, SECRETS, Phrase
from uniun_bots.sharing.phrases import phrases_in
from uniun_bots.sharing.visible import comments_in, marks, visible_line
from uniun_bots.skills.catalogue import DEVICE, PUBLISHING
from uniun_bots.skills.hidden import hidden_markup

MOST_OF_A_KIND = 50
_LONGEST_QUOTE = 100


class Kind(StrEnum):
    HIDDEN = "hidden"
    SHELL = "shell"
    BLOB = "blob"
    URL = "url"
    ORDER = "order"
    TURN = "turn"
    KEY = "key"
    ELSEWHERE = "elsewhere"
    LETTERS = "letters"


@dataclass(frozen=True, slots=True, order=True)
class Warned:
    line: int
    """Of the whole text, from 1."""
    kind: Kind
    message: str
    """On one line, and safe for a terminal."""

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


_SHELL = re.compile(
    r"\|\s*(?:sudo\s+)?(?:env\s+)?(?:/(?:usr/)?bin/)?(?:(?:ba|z|da|k|c|fi)?sh|python[\d.]*|perl|ruby|node|php|pwsh|iex)\b(?!\s*\|)"
    r"|\b(?:curl|wget)\s+[-\w'\"$(<]|\bsudo\s+\w|\brm\s+-\w*[rf]|\bchmod\s+[+\d]|\bbase64\s+(?:-d|--decode)"
    r"|\b(?:eval|exec)\s*[(\"'`$]|\bos\.system|\bsubprocess\.|\bpowershell\b|\binvoke-(?:expression|webrequest)\b"
    r"|\bnc\s+-\w*e|/dev/tcp/|(?:/usr)?/bin/(?:ba|z|da)?sh\b|#!\s*/|\$\([^)\s][^)]{0,200}\)|\b(?:bash|sh|zsh)\s+-c\b"
    r"|\b(?:pipx?|npm|pnpm|yarn|brew|apt|apt-get|cargo|gem|go)\s+install\b|\bnpx\s+\w|\bcrontab\b|>>?\s*~/\.|\bscp\s|\bssh\s+\S+@"
)
_END = r"[^\s<>\"')\]]"
_DOMAIN = r"(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}"
_URL = re.compile(
    rf"\b[a-z][a-z0-9+.-]{{1,20}}://{_END}+|\b(?:javascript|data|mailto|lightning|bitcoin|magnet|file|tel):{_END}{{3,}}"
    rf"|\bh(?:xx|tt)ps?[:\s]{{0,3}}//?\S+|\bwww\.{_END}+|(?<![\w@./-]){_DOMAIN}(?::\d{{1,5}})?/{_END}*"
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.])"
    rf"|(?<![\w.+-])[\w.+-]{{1,64}}@{_DOMAIN}\b"
)
_BASE64 = re.compile(r"(?<![\w+/=-])(?:[A-Za-z0-9+/]{32,}|[A-Za-z0-9_-]{32,})={0,2}(?![\w+/=])")
_ESCAPED = re.compile(
    r"(?:\\x[0-9a-fA-F]{2}){4,}|(?:\\u\{?[0-9a-fA-F]{4,6}\}?){3,}|(?:%[0-9a-fA-F]{2}){5,}|(?:&#x?[0-9a-fA-F]{1,6};){3,}"
    r"|(?<![\w])(?:[0-9a-fA-F]{2}[ :,]){11,}[0-9a-fA-F]{2}\b|(?<!\w)[01]{8}(?: [01]{8}){3,}"
)
_HEX = re.compile(r"(?<!\w)(?:0x)?[0-9a-fA-F]{32,}(?!\w)")
_ID = re.compile(r"[0-9a-f]{64}")
_ONE_CASE = re.compile(r"[a-z-]+|[A-Z_-]+|[a-z_]+|[\d-]+|[a-z/]+")
_TURN = re.compile(
    r"^[ \t>#*_`]*(?:system|assistant|user|human|developer|ai|bot|model|tool|instruction|response|input)[ \t*_`]{0,4}"
    r"(?:message|prompt)?[ \t*_`]{0,4}[:：]"
    r"|^[ \t]*</?(?:system|assistant|user|human|developer|instructions?|context|prompt)\b[^>\n]*>"
    r"|\b(?:begin|end|start) (?:of )?(?:the )?(?:system|user|assistant) (?:prompt|message|turn)"
    r"|^[ \t]*(?:Answer this:|Notes that may help you:|What was said before:)",
    re.IGNORECASE | re.MULTILINE,
)
_SPREAD = re.compile(r"(?<!\S)(?:[^\W\d_][ .\-_*]){5,}[^\W\d_](?!\S)")
_SPELLED_SECRET = re.compile(r"n(?:sec|cryptsec)1[0-9a-z]+", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_FRONTMATTER = re.compile(r"---\n.*?\n---\n", re.DOTALL)
_FORM = re.compile(r"^input:|\bevent: [0-9a-f]{64}\b|\bhash: ([\"']?)sha256:[0-9a-f]{64}\1", re.MULTILINE)
"""What every template with an input or a skill has in its frontmatter."""


def warnings_in(text: str) -> tuple[Warned, ...]:
    """Of the whole text of a skill, frontmatter and all, in the order of its lines."""
    text = _without_form(text)
    lines = [index for index, char in enumerate(text) if char == "\n"]
    found: set[Warned] = set()
    for kind, look in _LOOKS.items():
        told: dict[tuple[int, str], Warned] = {}
        for index, message in look(text):
            line = _line(lines, index)
            told.setdefault((line, message), Warned(line, kind, message))
            if len(told) > MOST_OF_A_KIND:
                told[line, message] = Warned(line, kind, "more of the kind stands from here on")
                break
        found |= set(told.values())
    return tuple(sorted(found))


def _without_form(text: str) -> str:
    """Blanks in its place: a warning that stands everywhere is read nowhere."""
    head = _FRONTMATTER.match(text)
    end = head.end() if head else 0
    return _FORM.sub(lambda found: " " * len(found[0]), text[:end]) + text[end:]


def _line(line_ends: list[int], index: int) -> int:
    return bisect_left(line_ends, index) + 1


def _line_end(text: str, at: int) -> int:
    """Of the line, or as much of it as is quoted."""
    end = text.find("\n", at, at + _LONGEST_QUOTE)
    return end if end >= 0 else min(len(text), at + _LONGEST_QUOTE + 1)


def _quoted(words: str) -> str:
    """The beginning of what stands there, safe for a terminal; a secret key is not repeated."""
    said = _SPELLED_SECRET.sub("nsec1…", words.strip())
    return f"`{visible_line(said[:_LONGEST_QUOTE])}{' …' if len(said) > _LONGEST_QUOTE else ''}`"


def _hidden(text: str) -> Iterator[tuple[int, str]]:
    for mark in marks(text):
        yield mark.start, f"{mark.what}: {mark.shown}"
    for start, _ in comments_in(text):
        yield start, "a comment, which a reader of the rendered text does not see; the model does not get it"
    for start, _ in hidden_markup(text):
        yield start, "a hidden element, which a reader of the rendered text does not see"


def _shell(text: str) -> Iterator[tuple[int, str]]:
    told = 0
    for start, end in flat(text, emphasis=True).find(_SHELL):
        if start >= told:
            told = min(_line_end(text, end), start + _LONGEST_QUOTE)
            yield start, f"a command for a shell: {_quoted(text[start : _line_end(text, end)])}"


def _urls(text: str) -> Iterator[tuple[int, str]]:
    for start, end in flat(text, emphasis=True).find(_URL):
        yield start, f"an address elsewhere: {_quoted(text[start:end])}"


def _blobs(text: str) -> Iterator[tuple[int, str]]:
    for match in _ESCAPED.finditer(text):
        yield match.start(), f"an encoded blob: {_quoted(match[0])}"
    for match in _HEX.finditer(text):
        what = "64 hex digits, an id or a key" if _ID.fullmatch(match[0]) else "an encoded blob"
        yield match.start(), f"{what}: {_quoted(match[0])}"
    for match in _BASE64.finditer(text):
        if not _ONE_CASE.fullmatch(match[0]) and not _HEX.fullmatch(match[0]) and not references_in(match[0]):
            said = _decoded(match[0])
            yield (
                match.start(),
                f"an encoded blob: {_quoted(match[0])}{f', which says {_quoted(said)}' if said else ''}",
            )


def _decoded(blob: str) -> str:
    """What base64 says, when it says words."""
    plain = blob.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        said = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return said if sum(char.isprintable() for char in said) > 0.9 * len(said) else ""


def _orders(text: str) -> Iterator[tuple[int, str]]:
    yield from _phrases(text, OVERRIDES, "asks to put other instructions aside")
    yield from _phrases(text, OTHER_OVERRIDES, "asks for what only an operator may ask")


def _turns(text: str) -> Iterator[tuple[int, str]]:
    for match in _TURN.finditer(text):
        yield match.start() + len(match[0]) - len(match[0].lstrip()), f"a made-up turn: {_quoted(match[0])}"
    for index, mark in marks_in(text):
        yield index, f"a mark that models tell turns by: {_quoted(mark)}"


def _keys(text: str) -> Iterator[tuple[int, str]]:
    for match in _SPELLED_SECRET.finditer(text):
        if spells_a_secret(match[0]):
            yield match.start(), "a secret key stands here, which everybody will read"
    yield from _phrases(text, SECRETS, "speaks of a secret, and a skill needs none")


def _elsewhere(text: str) -> Iterator[tuple[int, str]]:
    yield from _phrases(
        text, ELSEWHERE, "speaks of sending something elsewhere; where a persona publishes, its file decides"
    )
    named = re.compile("|".join(map(re.escape, (*DEVICE, *PUBLISHING.values()))))
    for match in named.finditer(text):
        yield match.start(), f"names {_quoted(match[0])}, which a persona file decides about and not a skill"


def _letters(text: str) -> Iterator[tuple[int, str]]:
    for match in _WORD.finditer(text):
        if not match[0].isascii() and any(char.isascii() for char in match[0]) and look_alikes(match[0]):
            yield match.start(), f"a word with letters that look like others: {_quoted(match[0])}"
    for match in _SPREAD.finditer(text):
        yield match.start(), f"a word set apart letter by letter: {_quoted(match[0])}"


def _phrases(text: str, known: tuple[Phrase, ...], what: str) -> Iterator[tuple[int, str]]:
    reads: list[Flat] = [flat(text)]
    if not text.isascii():
        reads.append(flat(text, to_latin=True))
    lines: set[int] = set()
    for start, end in (span for read in reads for span in phrases_in(read, known)):
        if (begins := text.rfind("\n", 0, start)) not in lines:
            lines.add(begins)
            yield start, f"{what}: {_quoted(text[start:end])}"


_LOOKS: dict[Kind, Callable[[str], Iterator[tuple[int, str]]]] = {
    Kind.HIDDEN: _hidden,
    Kind.SHELL: _shell,
    Kind.BLOB: _blobs,
    Kind.URL: _urls,
    Kind.ORDER: _orders,
    Kind.TURN: _turns,
    Kind.KEY: _keys,
    Kind.ELSEWHERE: _elsewhere,
    Kind.LETTERS: _letters,
}
