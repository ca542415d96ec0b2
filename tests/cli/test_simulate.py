"""`persona simulate`: what it prints, and what it leaves alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.cli.child import cli
from tests.cli.test_explain_runs_persona import command
from tests.host.recorded import an_hour
from tests.host.stage import Stage
from uniun_bots.nostr.event import Event
from uniun_bots.nostr.reference import spell_note


async def recorded(stage: Stage, folder: Path) -> tuple[Path, Sequence[Event]]:
    stage.persona(mode="off", debounce="3s")
    stage.persona("helper", mode="off", input="{type: mentions}", output="{type: feed, reply: true}")
    events = (await an_hour(stage.bots["helper"].public_key)).events
    path = folder / "heard.jsonl"
    # As relays tell them: newest first.
    path.write_bytes(b"\n".join(event.raw for event in reversed(events)) + b"\n\n")
    return path, events


async def test_it_tells_what_each_persona_would_have_done_and_why(stage: Stage, tmp_path: Path) -> None:
    dump, events = await recorded(stage, tmp_path)
    script = tmp_path / "script.txt"
    script.write_text("At noon.\\nOr a little later.\n<NOOP>\n")
    personas = [stage.folder / "personas" / f"{name}.md" for name in ("tide", "helper")]
    asked: tuple[str | Path, ...] = ("persona", "simulate", *personas, "--events", dump, "--script", script)
    told = await cli(*asked, env=stage.environ)
    assert (told.code, told.err) == (0, "")
    first = told.out.index(spell_note(events[1].id))
    said = f"kind 42, to {spell_note(events[2].id)}\n      At noon.\n      Or a little later.\n"
    assert f"\n  When is high water?\n    tide answered\n      {said}" in told.out[first:]
    assert "tide held: its author's profile says `bot: true` (input.allow_bots)" in told.out
    assert "tide silent: the model chose to say nothing" in told.out
    assert "helper held: its author asked us to stop (stop)" in told.out
    assert "somewhere else" not in told.out
    assert told.out.endswith("1 of 10 notes stand where none of these personas listens\n")
    as_json = json.loads((await cli(*asked, "--json", env=stage.environ)).out)
    assert as_json["throwaway"] == []
    assert [one["note"] for one in as_json["played"]] == [
        event.id for event in events if event.kind in (1, 42)
    ]
    assert [run["ending"] for run in as_json["runs"]][:2] == ["succeeded", "silent"]
    assert await stage.said() == [] == await stage.said("helper")
    assert not (stage.folder / "data").exists()


async def test_a_persona_without_its_key_is_played_on_another_and_that_is_told(
    stage: Stage, tmp_path: Path
) -> None:
    dump, _ = await recorded(stage, tmp_path)
    script = tmp_path / "script.txt"
    script.write_text("At noon.\n")
    tide = stage.folder / "personas" / "tide.md"
    told = await cli("persona", "simulate", tide, "--events", dump, "--script", script, "--for", "1h")
    assert told.code == 0
    first = told.out.splitlines()[0]
    assert first.startswith("tide runs on a key made for this simulation")
    assert first.endswith("Set its variable, or UNIUN_BOTS_PASSPHRASE_FILE")
    assert "helper" not in told.out


async def test_lines_that_are_no_signed_events_are_told_with_their_place(
    stage: Stage, tmp_path: Path
) -> None:
    dump, events = await recorded(stage, tmp_path)
    forged = json.loads(events[1].raw) | {"content": "Something else"}
    dump.write_text("\n".join([events[0].raw.decode(), "{}", "not json", json.dumps(forged)]))
    told = await cli("persona", "simulate", stage.folder / "personas" / "tide.md", "--events", dump)
    assert told.code == 2
    lines = told.err.splitlines()
    assert [line.split(" ")[0] for line in lines] == [f"{dump}:{number}:1" for number in (2, 3, 4)]
    assert "the id or the signature does not fit" in lines[2]


async def test_wrong_usage_is_told_in_a_line(stage: Stage, tmp_path: Path) -> None:
    dump, _ = await recorded(stage, tmp_path)
    tide = stage.folder / "personas" / "tide.md"
    empty = tmp_path / "empty.txt"
    empty.write_text("\n")
    for more, said in (
        (("--model", "big"), "host.yaml has no engine big; there are: none"),
        (("--model", "x", "--script", empty), "give --model or --script, not both"),
        (("--script", empty), "has no replies: write one on each line"),
        (("--for", "long"), "must be a duration such as 30s"),
    ):
        told = await command("persona", "simulate", tide, "--events", dump, *more)
        assert told.exit_code == 2 and said in told.output, told.output
    elsewhere = tmp_path / "tide.md"
    elsewhere.write_text(tide.read_text())
    told = await command("persona", "simulate", elsewhere, "--events", dump)
    assert told.exit_code == 2 and "must stand in personas/" in told.output
