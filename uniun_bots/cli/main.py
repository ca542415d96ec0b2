"""The command `uniun-bots`: its commands in the order that a newcomer meets them."""

from __future__ import annotations

import click

from uniun_bots import __version__
from uniun_bots.cli.commands import Commands

_HERE = "uniun_bots.cli"
PLACES = (
    ("demo", f"{_HERE}.demo:demo", "See a persona answer."),
    ("init", f"{_HERE}.init:init", "Make a project folder with one example persona."),
    ("check", f"{_HERE}.check:check", "Tell everything that is wrong in the files of a project folder."),
    ("keys", f"{_HERE}.keys:keys", "Secret keys of personas, each in a file under a passphrase (NIP-49)."),
    ("model", f"{_HERE}.model.group:model", "The models of a project folder: list, pull, use, remove, probe."),
    ("run", f"{_HERE}.run:run", "Host the Ganas of a project folder until SIGTERM or Ctrl-C."),
    ("tick", f"{_HERE}.run:tick", "One pass for cron or a systemd timer."),
    ("status", f"{_HERE}.status:status", "How the running host is doing."),
    ("explain", f"{_HERE}.explain:explain", "Tell what happened to a note."),
    ("runs", f"{_HERE}.runs:runs", "The runs of Ganas."),
    ("persona", f"{_HERE}.persona.group:persona", "The personas of a project folder."),
    ("skill", f"{_HERE}.skill.group:skill", "Skills: what personas bring along and what agentic ones may call."),
    ("manas", f"{_HERE}.manas.group:manas", "Named parts of the notes that personas may read."),
    ("notes", f"{_HERE}.notes.group:notes", "The notes of a project folder."),
    ("chat", f"{_HERE}.chat.command:chat", "Ask your own notes."),
    ("approvals", f"{_HERE}.approvals:approvals", "What waits for your yes."),
    ("pause", f"{_HERE}.status:pause", "Stop answering at once, and across restarts, until `resume`."),
    ("resume", f"{_HERE}.status:resume", "Go on after `pause`."),
    ("backup", f"{_HERE}.status:backup", "Write a consistent copy of the database."),
    ("doctor", f"{_HERE}.doctor:doctor", "Check that words, vectors and ties agree with the notes."),
    ("relay", f"{_HERE}.relay:relay", "Run a local relay for tests and first steps."),
)  # fmt: skip


@click.group(cls=Commands, places=PLACES)
@click.version_option(__version__)
def main() -> None:
    """Persona bots on Nostr relays: one declarative file each, one local model, nothing answered twice."""
