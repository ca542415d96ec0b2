"""A host that is killed while a model reads a note makes its memory after the next start, once."""

from __future__ import annotations

import json
import signal

import pytest

from tests.cli.child import Child
from tests.cli.test_run import HOSTING, script
from tests.graph.long_notes import OF_TIDES, TIDES
from tests.host.stage import Stage, until
from uniun_bots.database.read_file import read_file

pytestmark = pytest.mark.force


def remembering(stage: Stage, *replies: str, latency: str = "0s") -> None:
    script(stage, *replies, latency=latency)
    settings = stage.folder / "host.yaml"
    settings.write_text(settings.read_text() + "\nmemories: on\n")


async def test_kill_9_loses_no_note_that_waits_for_a_memory(stage: Stage) -> None:
    database = stage.folder / "data" / "uniun-bots.sqlite"

    def rows(sql: str) -> list[tuple[object, ...]]:
        return read_file(database, lambda tx: [tuple(row) for row in tx.execute(sql)])

    async def waits() -> bool:
        return rows("SELECT attempts, not_before FROM extractions") == [(0, 0.0)]

    async def is_kept() -> bool:
        return rows("SELECT text FROM memories") == [(OF_TIDES,)]

    remembering(stage, latency="1h")
    stage.persona(mode="shadow")
    async with Child("run", stage.folder, env=stage.environ) as host:
        await host.says(HOSTING)
        await stage.ask(TIDES)
        await until(waits)
        await host.end(signal.SIGKILL)
    assert await waits()
    remembering(stage, json.dumps({"summary": OF_TIDES}))
    for _ in range(2):
        async with Child("run", stage.folder, env=stage.environ) as host:
            await host.says(HOSTING)
            await until(is_kept)
            await host.end(signal.SIGKILL)
    assert rows("SELECT count(*) FROM memories") == [(1,)]
    assert rows("SELECT * FROM extractions") == []
