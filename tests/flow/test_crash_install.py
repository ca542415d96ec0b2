"""Installing under kill -9: afterwards a skill is there as a whole, or there is nothing of it."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path

import pytest

from tests.cli.child import cli
from tests.sharing.people import Person
from tests.stores import count
from uniun_bots.database.store import FILE, connect
from uniun_bots.failpoints import INSTALL_NAMES
from uniun_bots.relays.local import LocalRelay

pytestmark = [pytest.mark.force, pytest.mark.timeout(120)]


def rows(person: Person) -> tuple[int, int]:
    path = person.folder / "data" / FILE
    if not path.exists():
        return 0, 0
    with contextlib.closing(connect(path)) as conn:
        return count(conn, "skills"), count(conn, "skill_events")


async def test_a_kill_at_any_step_leaves_no_half_installed_skill(tmp_path: Path) -> None:
    async with LocalRelay() as relay:
        author, reader = Person(tmp_path / "author", relay.url), Person(tmp_path / "reader", relay.url)
        author.skill("Say when the tide comes.")
        made = await author.publishes()
        command = ("skill", "install", made["event_id"], "--accept", made["hash"], "--dir", reader.folder)
        for name in INSTALL_NAMES:
            environ = reader.environ | {"UNIUN_BOTS_FAILPOINTS": f"{name}:1"}
            died = await cli(*command, env=environ)
            assert died.code == -signal.SIGKILL, (name, died.all)
            whole = name == "installed"
            assert rows(reader) == (whole, whole), name
            assert reader.has().get("state") == ("active" if whole else None)
        again = await cli(*command, env=reader.environ)
        assert again.code == 0 and rows(reader) == (1, 1), again.all
