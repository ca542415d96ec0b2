"""`uniun-bots keys`: secret keys of personas, kept in files under a passphrase."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from uniun_bots.cli.folder import data_dir, folder_option, json_option
from uniun_bots.errors import AlreadyThere, KeyRefused
from uniun_bots.nostr.bech32 import encode
from uniun_bots.nostr.reference import spell_npub
from uniun_bots.nostr.secret import SecretText, new_secret, read_secret
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.keys import (
    KeyFile,
    given_passphrase,
    key_path,
    list_key_files,
    open_key,
    read_key_file,
    save_key,
)


@click.group(epilog="Example: uniun-bots keys new life-lessons")
def keys() -> None:
    """Secret keys of personas, each in a file under a passphrase (NIP-49).

    The passphrase is asked for, or taken from UNIUN_BOTS_PASSPHRASE or from the file that
    UNIUN_BOTS_PASSPHRASE_FILE names. A persona uses a key as `identity: key:NAME`.
    """


@keys.command("new", epilog="Example: uniun-bots keys new life-lessons --dir my-bots")
@click.argument("name")
@folder_option
def new(name: str, folder: Path) -> None:
    """Make a new key and keep it."""
    _keep(folder, name, new_secret())


@keys.command("import", epilog="Example: uniun-bots keys import life-lessons < key.txt")
@click.argument("name")
@folder_option
def import_key(name: str, folder: Path) -> None:
    """Keep a key that you have: nsec, hex or ncryptsec, asked for or read from standard input.

    It is never taken from the command line, where other programs could read it.
    An ncryptsec keeps its own passphrase.
    """
    written = (
        click.prompt("Secret key", hide_input=True, err=True) if sys.stdin.isatty() else sys.stdin.read()
    )
    _keep(folder, name, read_secret(written))


@keys.command("list", epilog="Example: uniun-bots keys list --json")
@folder_option
@json_option
def list_keys(folder: Path, as_json: bool) -> None:
    """Names and public keys; needs no passphrase."""
    found = list_key_files(data_dir(folder))
    if as_json:
        click.echo(json.dumps([_described(key) for key in found]))
        return
    for key in found:
        click.echo(f"{key.name}  {_npub(key) or '(public key unknown: made elsewhere)'}")
    if not found:
        click.echo("no keys yet: make one with `uniun-bots keys new NAME`", err=True)


@keys.command("show", epilog="Example: uniun-bots keys show life-lessons")
@click.argument("name")
@folder_option
@click.option("--secret", "with_secret", is_flag=True, help="Show the secret key too, after asking.")
def show(name: str, folder: Path, with_secret: bool) -> None:
    """The public key, as npub and hex."""
    key = read_key_file(data_dir(folder), name)
    if with_secret:
        told = f"Show the secret key of {name}? Whoever sees it can speak as this persona for ever"
        click.confirm(told, abort=True, err=True)
    opened = None
    if with_secret or key.public_key is None:
        opened = open_key(key, given_passphrase(os.environ, _ask_once, f"Passphrase of {name}"))
    public_key = LocalSigner(opened).public_key if opened else key.public_key
    click.echo(f"{spell_npub(str(public_key))}\n{public_key}")
    if with_secret and opened:
        click.echo(encode("nsec", bytes.fromhex(opened.reveal)))


def _keep(folder: Path, name: str, secret: SecretText) -> None:
    where = data_dir(folder)
    if (path := key_path(where, name)).exists():
        # Told before anybody types a passphrase; save_key decides.
        raise AlreadyThere(str(path))
    ask = _ask_once if secret.locked else _ask_twice
    purpose = "Its passphrase" if secret.locked else f"Passphrase for {name}"
    key = save_key(where, name, secret, given_passphrase(os.environ, ask, purpose))
    click.echo(f"{_npub(key)}\nkept in {key.path}; write `identity: key:{name}` in a persona file")


def _ask_once(purpose: str) -> str:
    return _ask(purpose, twice=False)


def _ask_twice(purpose: str) -> str:
    return _ask(purpose, twice=True)


def _ask(purpose: str, twice: bool) -> str:
    if not sys.stdin.isatty():
        raise KeyRefused("no terminal to ask for a passphrase: set UNIUN_BOTS_PASSPHRASE_FILE")
    return str(click.prompt(purpose, hide_input=True, confirmation_prompt=twice, err=True))


def _npub(key: KeyFile) -> str | None:
    return spell_npub(key.public_key) if key.public_key else None


def _described(key: KeyFile) -> dict[str, str | None]:
    return {"name": key.name, "npub": _npub(key), "public_key": key.public_key, "file": str(key.path)}
