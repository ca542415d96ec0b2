"""What Manas name: read from relays as knowledge and never as input, and files that a running host follows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.host.stage import GROUP, Stage, decided, rows_of, until
from uniun_bots.clock import WallClock
from uniun_bots.graph.scope import Scope, from_where, scope_of
from uniun_bots.host.host import Host
from uniun_bots.host.knowledge import knowledge_interests
from uniun_bots.nostr.secret import new_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.draft_file import draft_id
from uniun_bots.runs.one_shot import run_one_shot
from uniun_bots.runs.outcome import Outcome

LONG_AGO = 1_600_000_000
CHANNEL = "c" * 64


def manas(stage: Stage, text: str, name: str = "life") -> Path:
    path = stage.folder / "manas" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


async def members(host: Host, name: str = "life") -> set[str]:
    source, given = from_where(Scope(manas=(name,)))
    return await host.store.read(lambda tx: {row[0] for row in tx.execute(f"SELECT n.text {source}", given)})


async def become(host: Host, wanted: set[str], name: str = "life") -> None:
    async def same() -> bool:
        return await members(host, name) == wanted

    await until(same)


async def test_everything_that_a_manas_names_is_read_back_and_heard_live(stage: Stage) -> None:
    author, writer, stranger = (LocalSigner(new_secret()) for _ in range(3))
    named = await stage.post(1, "named", by=stranger, at=LONG_AGO)
    await stage.post(1, "by the author", by=author, at=LONG_AGO)
    await stage.post(42, "in the group", ("e", CHANNEL, "", "root"), by=stranger, at=LONG_AGO)
    await stage.post(30023, "tides v1", ("d", "tides"), by=writer, at=LONG_AGO)
    await stage.post(30023, "not named", ("d", "moon"), by=writer, at=LONG_AGO)
    await stage.post(1, "a stranger's", by=stranger, at=LONG_AGO)
    manas(
        stage,
        f"authors: [{author.public_key}]\ngroups: [{CHANNEL}]\nnotes: [{named.id}]\n"
        f"addresses: ['30023:{writer.public_key}:tides']\n",
    )
    stage.persona(manas="[life]")
    async with stage.host() as host:
        old = {"named", "by the author", "in the group", "tides v1"}
        await become(host, old)
        await stage.post(1, "by the author, now", by=author)
        await stage.post(30023, "tides v2", ("d", "tides"), by=writer)
        await become(host, old - {"tides v1"} | {"tides v2", "by the author, now"})
        assert await rows_of(host, "SELECT 1 FROM notes WHERE text IN ('not named', 'a stranger''s')") == []
        assert await host.idle(10)
    assert await stage.said() == []


async def test_a_deletion_of_what_a_manas_names_is_heard(stage: Stage) -> None:
    author = LocalSigner(new_secret())
    first = await stage.post(1, "first", by=author, at=LONG_AGO)
    manas(stage, f"authors: [{author.public_key}]\n")
    stage.persona(manas="[life]")
    async with stage.host() as host:
        await become(host, {"first"})
        await stage.post(5, "", ("e", first.id), by=author)
        await become(host, set())


async def test_an_author_of_a_manas_who_names_the_bot_now_is_answered_and_what_they_said_before_is_not(
    stage: Stage,
) -> None:
    """Being knowledge makes nobody an input, and takes nobody the right to be one."""
    author, now = LocalSigner(new_secret()), int(WallClock().now())
    stage.persona(manas="[life]", input="{type: mentions}", output="{type: feed, reply: true}", mode="live")
    bot = stage.bots["tide"].public_key
    await stage.post(1, "before", ("p", bot), by=author, at=now - 600)
    manas(stage, f"authors: [{author.public_key}]\n")
    async with stage.host() as host:
        await become(host, {"before"})
        question = await stage.post(1, "now", ("p", bot), by=author)
        (reply,) = await stage.replies(1)
        assert question.id in reply.tag_values("e")
        await decided(host, question)
        held = await rows_of(host, "SELECT reason FROM held")
    assert [row["reason"] for row in held] == ["it was posted before this Gana was turned on"]


async def test_a_reload_asks_for_what_is_named_anew(stage: Stage) -> None:
    author = LocalSigner(new_secret())
    await stage.post(1, "by the author", by=author, at=LONG_AGO)
    path = manas(stage, "topics: [life]\n")
    stage.persona(manas="[life]")
    async with stage.host() as host:
        assert await members(host) == set()
        path.write_text(f"authors: [{author.public_key}]\n")
        await host.reload()
        await become(host, {"by the author"})
        path.unlink()
        stage.persona()
        await host.reload()
        assert await rows_of(host, "SELECT 1 FROM manas") == []


async def test_what_is_known_is_not_asked_for_again_and_each_thing_has_a_filter_of_its_own(
    stage: Stage,
) -> None:
    one, other = "a" * 64, "b" * 64
    manas(stage, f"notes: [{one}, {other}]\nauthors: ['{one}', '{other}']\n")
    manas(stage, f"groups: [{GROUP}]\nexclude: {{groups: []}}\n", "unused")
    stage.persona(manas="[life]")
    async with stage.host() as host:
        roster, project = host.house.roster, host.project
        wanted = knowledge_interests(project, roster, {one})
        filters = [interest.filter for interest in wanted]
    assert [one.ids for one in filters if one.ids] == [(other,)]
    assert sorted(one.authors for one in filters if one.kinds == (1, 30023)) == [(one,), (other,)]
    assert {interest.relays for interest in wanted} == {(stage.relay_url,)}, "of nobody's: the host's"
    assert {interest.since for interest in wanted} == {0}


async def test_a_manas_that_nobody_uses_is_read_from_the_relays_of_the_host(stage: Stage) -> None:
    author = LocalSigner(new_secret())
    await stage.post(1, "by the author", by=author, at=LONG_AGO)
    manas(stage, f"authors: [{author.public_key}]\n")
    (stage.folder / "personas").mkdir()
    async with stage.host() as host:
        assert host.house.roster.ganas == {}
        await become(host, {"by the author"})


# files ------------------------------------------------------------------------------------------------


async def test_a_running_host_follows_the_files_of_a_manas(stage: Stage) -> None:
    manas(stage, "files: [lessons]\n")
    lessons = stage.folder / "manas" / "lessons"
    lessons.mkdir()
    (lessons / "a.md").write_text("one")
    stage.persona(manas="[life]")
    async with stage.host() as host:
        librarian = host.house.librarian
        assert await members(host) == {"one"}
        assert not await librarian.look_again(), "nothing changed"
        (lessons / "a.md").write_text("one, changed")
        (lessons / "b.md").write_text("two")
        assert await librarian.look_again()
        assert await members(host) == {"one, changed", "two"}
        (lessons / "a.md").unlink()
        assert await librarian.look_again()
        assert await members(host) == {"two"}
    async with stage.host() as host:
        assert await members(host) == {"two"}
        scope = scope_of(host.house.roster.ganas["tide"])
        assert scope == Scope(manas=("life",))


async def test_a_look_comes_by_itself(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uniun_bots.host.tending.librarian.LOOK_EVERY_S", 0.05)
    manas(stage, "files: [lessons]\n")
    (stage.folder / "manas" / "lessons").mkdir()
    stage.persona(manas="[life]")
    async with stage.host() as host:
        (stage.folder / "manas" / "lessons" / "a.md").write_text("written while it ran")
        await become(host, {"written while it ran"})


async def test_a_draft_that_a_model_cites_is_tagged_nowhere(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only ids of signed public events are tagged in public."""
    public = await stage.post(1, "public", at=LONG_AGO)
    cited = (draft_id("a.md"), public.id, "e" * 64)

    async def run_and_cite(*given: Any, **more: Any) -> Outcome:
        return replace(await run_one_shot(*given, **more), references=cited)

    monkeypatch.setattr("uniun_bots.host.house.run_one_shot", run_and_cite)
    manas(stage, f"files: [a.md]\nnotes: [{public.id}]\n")
    (stage.folder / "manas" / "a.md").write_text("a lesson")
    stage.persona(manas="[life]")
    async with stage.host() as host:
        await become(host, {"a lesson", "public"})
        await stage.ask("When?")
        (reply,) = await stage.replies(1)
    assert {*reply.tag_values("e")} & {*cited} == {public.id}
