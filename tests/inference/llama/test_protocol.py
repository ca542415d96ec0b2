from __future__ import annotations

import pytest

from uniun_bots.inference.llama.protocol import (
    CANCELLED,
    Cancel,
    Count,
    Counted,
    Counts,
    Done,
    Failed,
    FromWorker,
    Generate,
    Load,
    Loaded,
    Piece,
    ToWorker,
    decode,
    encode,
)
from uniun_bots.inference.request import Message, Request

MESSAGES = (Message("system", "line\nline"), Message("user", "🌊 \ud83c \x00"))


@pytest.mark.parametrize(
    "message",
    [
        Load("/m.gguf", 2048, None),
        Count(1, MESSAGES),
        Generate(2, Request(MESSAGES, 10, seed=3, stop=("a", "b"), json_schema="{}")),
        Cancel(2),
        Loaded(2048),
        Counted(1, 5),
        Piece(2, "\n"),
        Done(2, "text", "length", Counts(5, 4, 1, 1, 0.25, 0.5, 0.75, 1, 2), 0.5),
        Failed(2, CANCELLED, "cancelled", counts=Counts(5, 4)),
        Failed(2, "PromptTooLong", "too long", (5, 4, 3)),
    ],
)
def test_every_message_survives_the_pipe_as_one_line(message: ToWorker | FromWorker) -> None:
    line = encode(message)
    assert line.count(b"\n") == 1
    assert decode(line) == message
