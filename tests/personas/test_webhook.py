from __future__ import annotations

from pathlib import Path

import pytest

from tests.personas.folder import loaded, persona, told, write
from uniun_bots.errors import NotFound
from uniun_bots.personas.project import check_project
from uniun_bots.personas.webhook import resolve_webhook


@pytest.mark.parametrize("written", ["https://example.com/hook?key=1", "http://127.0.0.1:8000", "env:HOOK"])
def test_an_address_or_the_variable_that_holds_it_is_read(tmp_path: Path, written: str) -> None:
    gana = loaded(tmp_path, persona(webhook=f"'{written}'"))
    assert gana.webhook == written
    assert written not in repr(gana)


@pytest.mark.parametrize(
    "written", ["ftp://example.com", "https://me:password@example.com", "hook", "env:a b"]
)
def test_what_is_no_web_address_is_told(tmp_path: Path, written: str) -> None:
    (fault,) = told(tmp_path, persona(webhook=f"'{written}'"))
    assert "7:10 `webhook` must be an address such as https://example.com/hook, or env:NAME" in fault, fault


def test_a_webhook_beside_a_proxy_is_refused_in_both_files(tmp_path: Path) -> None:
    write(
        tmp_path,
        host_yaml="proxy: socks5://127.0.0.1:9050\nwebhook: https://example.com/hook\n",
        personas__tide_md=persona(webhook="https://example.com/hook"),
    )
    told_of = sorted(fault.message for fault in check_project(tmp_path).faults)
    assert len(told_of) == 2
    assert all("nothing goes out beside it" in message for message in told_of)


def test_a_variable_without_an_address_is_told_without_what_it_holds() -> None:
    assert resolve_webhook("env:HOOK", {"HOOK": "https://example.com/hook"}) == "https://example.com/hook"
    for environ in ({}, {"HOOK": "not-an-address"}):
        with pytest.raises(NotFound, match="the variable HOOK holds no web address") as refused:
            resolve_webhook("env:HOOK", environ)
        assert "not-an-address" not in str(refused.value)
