from __future__ import annotations

import inspect
import re

from tests.docs.pages import DOCS, ROOT, read
from uniun_bots import failpoints, flow

PAGE = read(DOCS / "flow.md")


def _rows() -> list[list[str]]:
    """loop, step, what, mark, code, failpoints"""
    table = PAGE.partition("| loop | step |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    assert all(len(row) == 6 for row in rows)
    return rows


def _steps() -> dict[str, str]:
    """Each step of the house in order, with the room that flow.py names beside it."""
    source = inspect.getsource(flow.House)
    return dict(re.findall(r"def (\w+)\(.*# (\w+)$", source, re.MULTILINE))


def test_the_table_lists_exactly_the_steps_of_the_flow_in_their_order() -> None:
    named = [name for name, found in vars(flow.House).items() if inspect.isfunction(found) and name[0] != "_"]
    assert list(_steps()) == named
    assert [row[1] for row in _rows()] == named


def test_each_step_is_in_the_loop_whose_function_calls_it() -> None:
    loop = ""
    for row in _rows():
        loop = row[0] or loop
        assert f"house.{row[1]}(" in inspect.getsource(getattr(flow, loop))


def test_each_step_names_code_of_the_room_that_does_it() -> None:
    rooms = _steps()
    for row in _rows():
        path = row[4].strip("`")
        assert path.startswith(f"uniun_bots/{rooms[row[1]]}/")
        assert (ROOT / path).is_file()


def test_the_table_lists_every_failpoint_in_the_order_in_which_they_are_passed() -> None:
    listed = [name for row in _rows() for name in row[5].split(", ")]
    assert tuple(listed) == failpoints.NAMES


def test_each_failpoint_is_hit_in_its_step() -> None:
    for row in _rows():
        loops = inspect.getsource(flow) + read(ROOT / row[4].strip("`"))
        for name in row[5].split(", "):
            assert f'failpoints.hit("{name}")' in loops
