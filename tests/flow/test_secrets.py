"""A whole journey, and then a search for the secrets in everything that it left or showed."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import traceback
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.cli.child import Child
from tests.cli.test_check_init_keys import run
from tests.host.stage import Stage, decided, nsec, open_stage, rows_of
from uniun_bots.errors import UniunError
from uniun_bots.host.host import Host
from uniun_bots.inference.scripted import ScriptedEngine
from uniun_bots.nostr.secret import SecretText, new_secret, read_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.keys import resolve_identity

PASSPHRASE = "correct horse battery staple 42"


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with open_stage(tmp_path / "bots") as opened:
        yield opened


def spellings(secret: SecretText) -> dict[str, bytes]:
    raw = bytes.fromhex(secret.reveal)
    texts = {
        "hex": secret.reveal,
        "upper hex": secret.reveal.upper(),
        "nsec": nsec(secret),
        "upper nsec": nsec(secret).upper(),
        "base64": base64.b64encode(raw).decode().rstrip("="),
        "base64 of a URL": base64.urlsafe_b64encode(raw).decode().rstrip("="),
        "decimal": str(int(secret.reveal, 16)),
        "a Python list": str(list(raw))[1:-1],
    }
    return {name: text.encode() for name, text in texts.items()} | {"the bytes": raw}


def forbidden(*secrets: SecretText) -> dict[str, bytes]:
    found = {
        f"{name} of key {n}": text for n, one in enumerate(secrets) for name, text in spellings(one).items()
    }
    passphrase = PASSPHRASE.encode()
    return found | {"the passphrase": passphrase, "the passphrase in base64": base64.b64encode(passphrase)}


def leaks(where: str, content: bytes, secrets: dict[str, bytes]) -> list[str]:
    return [f"{name} in {where}" for name, secret in secrets.items() if secret in content]


def leaks_in(folder: Path, secrets: dict[str, bytes]) -> list[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [leak for path in files for leak in leaks(str(path), path.read_bytes(), secrets)]


async def as_others_see_it(pid: int) -> bytes:
    """What every user of the machine may read of a process; the environment is its owner's alone."""
    return await asyncio.to_thread(Path(f"/proc/{pid}/cmdline").read_bytes)


async def import_key(folder: Path, name: str, secret: SecretText, env: dict[str, str]) -> str:
    process = await asyncio.create_subprocess_exec(
        *Child.command("keys", "import", name, "--dir", folder),
        env=env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate(nsec(secret).encode())
    assert process.returncode == 0, out
    return out.decode()


def test_the_search_finds_every_spelling(tmp_path: Path) -> None:
    secret = new_secret()
    for number, text in enumerate(spellings(secret).values()):
        (tmp_path / str(number)).write_bytes(b"before " + text + b" behind")
    found = leaks_in(tmp_path, forbidden(secret))
    assert len({leak.partition(" of key")[0] for leak in found}) == len(spellings(secret))


async def test_no_secret_is_left_or_shown_anywhere(stage: Stage, tmp_path: Path) -> None:
    kept, given = new_secret(), new_secret()
    secrets = forbidden(kept, given)
    env = {"UNIUN_BOTS_PASSPHRASE": PASSPHRASE, "GIVEN_NSEC": nsec(given)}
    said: dict[str, str] = {}
    # "<think>" alone is no answer: one of the two runs fails.
    replies = json.dumps(["Scripted answer number {n}.", "<think>", "<think>"])
    stage.settings("model: script", f"engines: {{script: {{type: scripted, replies: {replies}}}}}")
    stage.persona("tide", identity="key:tide", profile="{name: Tide}")
    stage.persona("moon", identity="env:GIVEN_NSEC")
    stage.bots["tide"], stage.bots["moon"] = LocalSigner(kept), LocalSigner(given)
    said["import"] = await import_key(stage.folder, "tide", kept, Child.environment(env))

    seen: list[bytes] = []
    async with Child("run", "-v", stage.folder, env=env) as host:
        await host.says("hosting 2 Ganas")
        seen.append(await as_others_see_it(host.pid))
        question = await stage.ask("When is high water?")
        await host.says("closed: run", times=2)
        for name, arguments in commands(question.id, tmp_path / "safe").items():
            result = await asyncio.to_thread(run, *arguments, "--dir", stage.folder, **env)
            said[name] = result.output
        ended = await host.end()
    assert ended.code == 0
    said["run"] = ended.all
    assert "failed" in said["run"] and "succeeded" in said["run"]
    assert "ran    " in said["explain"] and "wrote" in said["backup"]

    found = [
        leak for name, text in said.items() for leak in leaks(f"what {name} said", text.encode(), secrets)
    ]
    found += [leak for cmdline in seen for leak in leaks("the process list", cmdline, secrets)]
    found += leaks_in(tmp_path, secrets)
    assert found == []


def commands(note: str, backup: Path) -> dict[str, tuple[str, ...]]:
    return {
        "status": ("status", "--json"),
        "explain": ("explain", note),
        "explain as JSON": ("explain", note, "--json"),
        "runs": ("runs", "list", "--json"),
        "a run": ("runs", "show", "1"),
        "persona": ("persona", "show", "tide", "--json"),
        "personas": ("persona", "list"),
        "keys": ("keys", "list", "--json"),
        "a key": ("keys", "show", "tide"),
        "backup": ("backup", str(backup / "copy.sqlite")),
    }


async def test_a_key_that_the_model_says_is_neither_published_nor_written_down(
    stage: Stage, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It was never shown to the model; but if it ever came out, the trace must not keep it."""
    caplog.set_level(logging.DEBUG)
    stage.persona()
    own = read_secret(stage.environ["TIDE_NSEC"])
    said = iter([nsec(own), own.reveal, own.reveal.upper(), f"It is {nsec(own)}, keep it"] * 2)
    stage.engine = ScriptedEngine(lambda request: next(said))
    async with stage.host() as host:
        for number in range(4):
            await decided(host, await stage.ask(f"question {number}", LocalSigner(new_secret())))
        endings = await rows_of(host, "SELECT ending FROM runs")
        texts = await rows_of(host, "SELECT text FROM steps")
    assert {row["ending"] for row in endings} == {"malformed"}
    assert {row["text"] for row in texts} == {"(withheld: it spells a secret key)"}
    assert await stage.said() == []
    assert leaks_in(tmp_path, forbidden(own)) == []
    assert leaks("the log", caplog.text.encode(), forbidden(own)) == []


def broken(secret: SecretText) -> Iterator[tuple[str, str]]:
    """Ways to get a key nearly right."""
    whole, raw = nsec(secret), secret.reveal
    yield "a wrong checksum", whole[:-1] + ("q" if whole[-1] != "q" else "p")
    yield "cut short", whole[:-3]
    yield "two keys", f"{whole} {raw}"
    yield "in quotation marks", f'"{whole}"'
    yield "one digit too many", raw + "0"
    yield "one digit missing", raw[:-1]
    yield "with a name", f"key={raw}"


async def test_no_error_repeats_a_key_that_is_nearly_right(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = new_secret()
    stage.persona()
    for what, text in broken(secret):
        stage.environ["TIDE_NSEC"] = text
        with pytest.raises(UniunError) as told:
            async with stage.host():
                pass
        with pytest.raises(UniunError) as asked:
            resolve_identity("env:TIDE_NSEC", stage.folder, stage.environ, lambda purpose: PASSPHRASE)
        for fault in (told.value, asked.value):
            shown = "".join(traceback.format_exception(fault)) + repr(fault) + caplog.text
            for part in (nsec(secret)[5:25], nsec(secret)[-20:-4], secret.reveal[:16], secret.reveal[-17:-1]):
                assert part not in shown, what


async def test_nothing_in_a_running_host_shows_a_key_when_it_is_printed(stage: Stage) -> None:
    stage.persona()
    own = read_secret(stage.environ["TIDE_NSEC"])
    async with stage.host() as host:
        for one in (host, host.house, host.house.roster, host.project, *host.house.roster.signers.values()):
            assert leaks(type(one).__name__, repr(one).encode(), forbidden(own)) == []
        assert isinstance(host, Host)
