"""The command `uniun-bots`: its groups in the order that a newcomer meets them."""

from __future__ import annotations

import click

from uniun_bots import __version__
from uniun_bots.cli.approvals import approvals
from uniun_bots.cli.check import check
from uniun_bots.cli.commands import Commands
from uniun_bots.cli.demo import demo
from uniun_bots.cli.doctor import doctor
from uniun_bots.cli.explain import explain
from uniun_bots.cli.init import init
from uniun_bots.cli.keys import keys
from uniun_bots.cli.manas import manas
from uniun_bots.cli.model import model
from uniun_bots.cli.notes import notes
from uniun_bots.cli.persona import persona
from uniun_bots.cli.relay import relay
from uniun_bots.cli.run import run, tick
from uniun_bots.cli.runs import runs
from uniun_bots.cli.skill import skill
from uniun_bots.cli.status import backup, pause, resume, status


@click.group(cls=Commands)
@click.version_option(__version__)
def main() -> None:
    """Persona bots on Nostr relays: one declarative file each, one local model, nothing answered twice."""


main.add_command(demo)
main.add_command(init)
main.add_command(check)
main.add_command(keys)
main.add_command(model)
main.add_command(run)
main.add_command(tick)
main.add_command(status)
main.add_command(explain)
main.add_command(runs)
main.add_command(persona)
main.add_command(skill)
main.add_command(manas)
main.add_command(notes)
main.add_command(approvals)
main.add_command(pause)
main.add_command(resume)
main.add_command(backup)
main.add_command(doctor)
main.add_command(relay)
