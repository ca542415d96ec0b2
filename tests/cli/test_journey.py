from __future__ import annotations

from pathlib import Path

import pytest

from uniun_bots.cli import journey
from uniun_bots.errors import UniunError


async def test_a_model_with_nothing_to_say_is_asked_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journey, "SCRIPT", ("<NOOP>", "Keep one promise a day."))
    said: list[str] = []
    found = await journey.travel(tmp_path / "bots", "script", said.append)
    assert found.question.content == journey.QUESTIONS[1]
    assert found.reply.content == "Keep one promise a day."
    assert found.run["run"] == 2
    assert any("the model chose to say nothing (silent)" in line for line in said)


async def test_a_model_that_stays_silent_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journey, "SCRIPT", ("<NOOP>",) * 9)
    with pytest.raises(UniunError, match="none of 3 questions"):
        await journey.travel(tmp_path / "bots", "script", lambda _line: None)
