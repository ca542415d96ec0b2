from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from uniun_bots.inference.llama.text_stream import TextStream


def run(parts: list[bytes], *stop: str) -> tuple[TextStream, list[str]]:
    stream = TextStream(stop)
    pieces = [stream.feed(part) for part in parts]
    return stream, [*pieces, stream.feed(b"", last=True)]


def test_an_emoji_over_several_tokens_comes_out_whole() -> None:
    """B18."""
    stream, pieces = run([b"tide \xf0\x9f", b"\x8c", b"\x8a ok"])
    assert stream.text == "tide 🌊 ok"
    assert pieces == ["tide ", "", "🌊 ok", ""]


def test_a_broken_end_becomes_one_replacement_character() -> None:
    stream, pieces = run([b"tide \xf0\x9f", b"\x8c"])
    assert stream.text == "tide �"
    assert pieces[-1] == "�"


def test_a_stop_string_ends_the_text_even_when_it_comes_in_parts() -> None:
    stream, pieces = run([b"one ST", b"O", b"P two"], "STOP")
    assert stream.stopped
    assert stream.text == "one "
    assert "".join(pieces) == "one "
    assert stream.feed(b"more") == ""


def test_what_only_began_like_a_stop_string_is_said_after_all() -> None:
    stream, pieces = run([b"one ST", b"ILL"], "STOP")
    assert pieces == ["one ", "STILL", ""]
    assert not stream.stopped


_TEXTS = st.text("abÄ🌊", max_size=12)


@example("baa", ["a", "baa"], 1)
@given(_TEXTS, st.lists(st.text("abÄ", min_size=1, max_size=3), max_size=2), st.integers(1, 5))
def test_the_pieces_are_the_text_before_the_first_stop_string(text: str, stop: list[str], size: int) -> None:
    data = text.encode()
    stream, pieces = run([data[at : at + size] for at in range(0, len(data), size)], *stop)
    assert "".join(pieces) == stream.text
    # Of two that overlap, the one that is complete first counts: the other is not there yet.
    ends = [text[: text.find(word)] for word in stop if word in text]
    assert stream.text in (ends or [text])
    assert not any(word in stream.text for word in stop)
