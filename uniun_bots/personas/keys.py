"""Key files: `<data>/keys/<name>.ncryptsec` (NIP-49), and from a persona's `identity` to its signer."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from uniun_bots.errors import AlreadyThere, KeyRefused, NotFound
from uniun_bots.nostr.reference import spell_npub
from uniun_bots.nostr.secret import SecretText, lock, read_secret, unlock
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.names import LONGEST, is_name
from uniun_bots.personas.references import public_key_hex

AskPassphrase = Callable[[str], str]
"""Given what it is for; raises KeyRefused when there is nobody to ask."""

_SUFFIX = ".ncryptsec"
_LARGEST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class KeyFile:
    """What a key file says without its passphrase."""

    name: str
    path: Path
    secret: SecretText
    public_key: str | None
    """Hex, as written beside the key; None in files made elsewhere."""


def key_path(data_dir: Path, name: str) -> Path:
    if not is_name(name):
        raise KeyRefused(f"a key's name is 1 to {LONGEST} of a-z, 0-9 and -")
    return data_dir / "keys" / f"{name}{_SUFFIX}"


def save_key(data_dir: Path, name: str, secret: SecretText, passphrase: str) -> KeyFile:
    """Store a key under its passphrase; one that is locked already must open with it. Raises AlreadyThere."""
    path = key_path(data_dir, name)
    if path.exists():
        raise AlreadyThere(str(path))
    if not passphrase:
        raise KeyRefused("an empty passphrase protects nothing: give one")
    public_key = LocalSigner(unlock(secret, passphrase)).public_key
    locked = secret.reveal if secret.locked else lock(secret, passphrase)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o700)
    _write_new(path, f"{locked}\n{spell_npub(public_key)}\n")
    return KeyFile(name, path, read_secret(locked), public_key)


def read_key_file(data_dir: Path, name: str) -> KeyFile:
    """Raises NotFound, and KeyRefused for a file that others may read or that holds no key."""
    path = key_path(data_dir, name)
    try:
        with path.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            lines = opened.read(_LARGEST_BYTES).decode("ascii", errors="replace").split()
    except FileNotFoundError:
        raise NotFound(f"no key {name}: make one with `uniun-bots keys new {name}`") from None
    except OSError as error:
        raise KeyRefused(f"{path} cannot be read: {error.strerror}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise KeyRefused(f"{path} can be read by others: chmod 600 {path}")
    return KeyFile(name, path, _locked_secret(path, lines), _recorded(path, lines))


def list_key_files(data_dir: Path) -> tuple[KeyFile, ...]:
    folder = data_dir / "keys"
    names = sorted(path.name.removesuffix(_SUFFIX) for path in folder.glob(f"*{_SUFFIX}"))
    return tuple(read_key_file(data_dir, name) for name in names)


def open_key(key: KeyFile, passphrase: str) -> SecretText:
    """Takes about 0.2 s. Raises KeyRefused."""
    secret = unlock(key.secret, passphrase)
    if key.public_key not in (None, LocalSigner(secret).public_key):
        raise KeyRefused(f"{key.path} holds another key than the npub in it says")
    return secret


def given_passphrase(environ: Mapping[str, str], ask: AskPassphrase, purpose: str) -> str:
    """From UNIUN_BOTS_PASSPHRASE_FILE or UNIUN_BOTS_PASSPHRASE, else by asking."""
    file, value = environ.get("UNIUN_BOTS_PASSPHRASE_FILE"), environ.get("UNIUN_BOTS_PASSPHRASE")
    if file and value:
        raise KeyRefused("UNIUN_BOTS_PASSPHRASE and UNIUN_BOTS_PASSPHRASE_FILE are both set: keep one")
    if file:
        try:
            value = Path(file).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError):
            raise KeyRefused("the file in UNIUN_BOTS_PASSPHRASE_FILE cannot be read as text") from None
        if not value:
            raise KeyRefused("the file in UNIUN_BOTS_PASSPHRASE_FILE is empty")
    return value or ask(purpose)


def resolve_identity(
    reference: str, data_dir: Path, environ: Mapping[str, str], ask_passphrase: AskPassphrase
) -> LocalSigner:
    """The signer of `env:NAME` or `key:NAME`. Raises KeyRefused or NotFound, never with the key in it."""
    source, _, name = reference.partition(":")
    purpose = f"Passphrase of {reference}"
    if source == "key":
        key = read_key_file(data_dir, name)
        return LocalSigner(open_key(key, given_passphrase(environ, ask_passphrase, purpose)))
    if source != "env":
        raise KeyRefused("an identity is env:NAME or key:NAME")
    written = environ.get(name, "")
    if not written.strip():
        raise KeyRefused(f"{name} is not set: it must hold the secret key of the persona (nsec1… or hex)")
    try:
        secret = read_secret(written)
        if secret.locked:
            secret = unlock(secret, given_passphrase(environ, ask_passphrase, purpose))
    except KeyRefused as refused:
        raise KeyRefused(f"{name}: {refused}") from None
    return LocalSigner(secret)


def _write_new(path: Path, text: str) -> None:
    """All or nothing, also in a crash, and never over another file."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as opened:
            os.fchmod(opened.fileno(), 0o600)
            opened.write(text)
            opened.flush()
            os.fsync(opened.fileno())
        os.link(temporary, path)
    except FileExistsError:
        raise AlreadyThere(str(path)) from None
    finally:
        os.unlink(temporary)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _locked_secret(path: Path, lines: list[str]) -> SecretText:
    try:
        secret = read_secret(lines[0] if lines else "")
    except KeyRefused as refused:
        raise KeyRefused(f"{path}: {refused}") from None
    if not secret.locked:
        raise KeyRefused(f"{path} holds a key without a passphrase: import it with `uniun-bots keys import`")
    return secret


def _recorded(path: Path, lines: list[str]) -> str | None:
    if len(lines) < 2:
        return None
    try:
        return public_key_hex(lines[1])
    except ValueError:
        raise KeyRefused(f"{path}: the second line must be the npub of the key") from None
