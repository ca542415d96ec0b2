"""The signers of every Gana that is not off; each key is opened once, and all that is missing is told at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from uniun_bots.errors import ConfigError, Fault, KeyRefused, NotFound
from uniun_bots.host.roster import hosted_ganas
from uniun_bots.nostr.signer import LocalSigner
from uniun_bots.personas.gana import Gana
from uniun_bots.personas.keys import AskPassphrase, read_key_file, resolve_identity
from uniun_bots.personas.load_gana import load_gana
from uniun_bots.personas.project import Project


def resolve_identities(
    project: Project, environ: Mapping[str, str], ask_passphrase: AskPassphrase | None
) -> dict[str, LocalSigner]:
    """By Gana id. Raises ConfigError."""
    opened: dict[str, LocalSigner] = {}
    signers: dict[str, LocalSigner] = {}
    faults: list[Fault] = []
    for gana in hosted_ganas(project):
        try:
            if gana.identity not in opened:
                opened[gana.identity] = resolve_identity(
                    gana.identity, project.data_dir, environ, ask_passphrase or _nobody
                )
            signers[gana.id] = opened[gana.identity]
        except (KeyRefused, NotFound) as refused:
            faults.append(_fault(gana, f"`identity`: {refused}"))
    if faults:
        raise ConfigError(faults)
    return signers


def key_file_faults(project: Project) -> Iterator[Fault]:
    """Key files that are not there, or that others may read; which variables are set is for the host to see."""
    for gana in hosted_ganas(project):
        source, _, name = gana.identity.partition(":")
        if source == "key":
            try:
                read_key_file(project.data_dir, name)
            except (KeyRefused, NotFound) as refused:
                yield _fault(gana, f"`identity`: {refused}")


def _fault(gana: Gana, message: str) -> Fault:
    """Where the key is named."""
    _, sheet = load_gana(Path(gana.file))
    return sheet.fault(("identity",), message) if sheet else Fault(gana.file, 1, 1, message)


def _nobody(purpose: str) -> str:
    raise KeyRefused(
        f"{purpose} is needed and there is no terminal to ask: set UNIUN_BOTS_PASSPHRASE_FILE or UNIUN_BOTS_PASSPHRASE"
    )
