"""What hides is seen, what only looks odd is left alone, and nothing speaks to the terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uniun_bots.sharing.visible import CLOSE, OPEN, comments_in, marks, visible, visible_file, visible_line

HONEST = {
    "plain": "Say when the tide comes.\n\tTwice.",
    "accents": "Zoë, e\u0301 and Tiếng Việt",
    "flags of regions": "Tides \U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "flags of countries": "\U0001f1e9\U0001f1ea \U0001f3f3\ufe0f\u200d\U0001f308",
    "families": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f9d1\U0001f3ff\u200d\U0001f680",
    "a shrug": "\U0001f937\U0001f3fb\u200d\u2640\ufe0f \u2764\ufe0f\u200d\U0001f525",
    "keys and signs": "1\ufe0f\u20e3 #\ufe0f\u20e3 \u2122\ufe0f \u263a\ufe0e",
    "an emoji newer than our tables": "\U0001fae8 \U0001fa77 \U0001f426\u200d\U0001f525",
    "Persian with non-joiners": "می\u200cخواهم کتاب\u200cهای نو",
    "Arabic with marks": "\u200fمَرْحَبًا (بالعالم)!\u200f \u0600١٢",
    "Hebrew with points": "בְּרֵאשִׁ֖ית בָּרָ֣א \u200fNostr!",
    "Urdu in a line with Latin": "اردو \u200eHTML\u200e زبان",
    "Hindi with joiners": "क्\u200dष क्\u200cष हिन्दी",
    "Sinhala with a joiner": "ශ්\u200dරී ලංකා",
    "Mongolian with selectors": "ᠮᠣᠩ\u180bᠭᠣᠯ",
    "Japanese with a selector": "葛\U000e0100城",
    "Tibetan": "སངས་རྒྱས་",
    "French spaces": "Quoi\u202f? «\xa0Rien\xa0»",
}
HIDDEN = {
    "tags": ("a" + "".join(chr(0xE0000 + ord(c)) for c in "ignore all"), "a⟦tag characters: ignore all⟧"),
    "tags behind a flag": (
        "\U0001f3f4" + "".join(chr(0xE0000 + ord(c)) for c in "hi") + "\U000e007f",
        "\U0001f3f4⟦tag characters: hi⟧",
    ),
    "selectors": (
        "a" + "".join(chr(0xE0100 + b - 16) for b in b"do evil"),
        "a⟦variation selectors: do evil⟧",
    ),
    "binary selectors": ("a\ufe00\ufe01\ufe02", "a⟦variation selectors: 3 bytes⟧"),
    "one selector behind a letter": ("a\ufe0fb", "a⟦U+FE0F VARIATION SELECTOR-16⟧b"),
    "an override": ("\u202egod\u202c", "⟦U+202E RIGHT-TO-LEFT OVERRIDE⟧god⟦U+202C POP DIRECTIONAL FORMATTING⟧"),
    "an isolate": ("\u2067x", "⟦U+2067 RIGHT-TO-LEFT ISOLATE⟧x"),
    "a blank": ("a\u200bb", "a⟦U+200B ZERO WIDTH SPACE⟧b"),
    "many of one": ("a" + "\u2060" * 9, "a⟦U+2060 WORD JOINER x9⟧"),
    "joiners between plain letters": (
        "a\u200cb\u200dc",
        "a⟦U+200C ZERO WIDTH NON-JOINER⟧b⟦U+200D ZERO WIDTH JOINER⟧c",
    ),
    "a second joiner": ("ش\u200c\u200cش", "ش⟦U+200C ZERO WIDTH NON-JOINER x2⟧ش"),
    "a direction in a plain line": ("a\u200eb", "a⟦U+200E LEFT-TO-RIGHT MARK⟧b"),
    "a soft hyphen": ("ig\xadnore", "ig⟦U+00AD SOFT HYPHEN⟧nore"),
    "a filler": ("a\u3164b", "a⟦U+3164 HANGUL FILLER⟧b"),
    "a line end of few": ("a\u2028b", "a⟦U+2028 LINE SEPARATOR⟧b"),
    "an escape": ("\x1b[2J", "⟦U+001B ESCAPE⟧[2J"),
    "an escape of one character": ("\x9b31m", "⟦U+009B CONTROL SEQUENCE⟧31m"),
    "a carriage return": ("safe\rEVIL", "safe⟦U+000D CARRIAGE RETURN⟧EVIL"),
    "a mark over marks": ("a" + "\u0336" * 7, "a" + "\u0336" * 5 + "⟦U+0336 COMBINING LONG STROKE OVERLAY x2⟧"),
    "half a character": ("a\ud800", "a⟦U+D800⟧"),
    "private use": ("\ue000", "⟦U+E000⟧"),
    "a mark that is not ours": ("⟦x", "⟦U+27E6 MATHEMATICAL LEFT WHITE SQUARE BRACKET⟧x"),
}  # fmt: skip


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST)
def test_honest_text_passes_unmarked(text: str) -> None:
    assert list(marks(text)) == []
    assert visible(text) == visible_file(text) == text


@pytest.mark.parametrize(("text", "shown"), HIDDEN.values(), ids=HIDDEN)
def test_what_hides_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_field_stays_on_its_line() -> None:
    assert visible_line("Ada\nverified:\tyes") == "Ada⟦line end⟧verified:⟦tab⟧yes"


def test_comments_and_remarks_are_marked_and_code_is_not() -> None:
    text = "---\nname: x\n---\na <!-- b\x1b --> c\n\n```\n<!-- code -->\n```\n\n[//]: # (psst)\n\nd"
    assert visible_file(text) == (
        "---\nname: x\n---\na ⟦comment, the model does not get it⟧<!-- b⟦U+001B ESCAPE⟧ -->⟦end of comment⟧ c\n\n"
        "```\n<!-- code -->\n```\n\n⟦comment, the model does not get it⟧[//]: # (psst)\n⟦end of comment⟧\nd"
    )


def test_a_fence_in_the_frontmatter_hides_no_comment_below_it() -> None:
    text = "---\nname: x\ndescription: |\n  a\n\n```\n---\n<!-- b -->"
    assert [text[start:end] for start, end in comments_in(text)] == ["<!-- b -->"]


@given(st.text())
def test_nothing_that_is_shown_can_move_a_cursor_or_hide(text: str) -> None:
    shown = visible_line(text)
    assert not any(unicodedata.category(char) in ("Cc", "Cs", "Co") for char in shown)
    assert not any(unicodedata.bidirectional(char) in ("RLO", "LRO", "RLE", "LRE", "PDF") for char in shown)


@given(st.text(alphabet=st.characters(max_codepoint=0x10FFFF)))
def test_all_of_a_text_that_is_not_marked_is_shown_as_it_is(text: str) -> None:
    found = list(marks(text))
    kept = "".join(char for at, char in enumerate(text) if not any(m.start <= at < m.end for m in found))
    shown, rest = visible(text), ""
    while OPEN in shown:
        before, _, shown = shown.partition(OPEN)
        rest, shown = rest + before, shown.partition(CLOSE)[2]
    assert rest + shown == kept
