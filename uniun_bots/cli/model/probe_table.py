"""What was measured of models, for people."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.table import Column, Table

from uniun_bots.cli.folder import console, when
from uniun_bots.probe.probes import Probe
from uniun_bots.probe.rates import Rate, Rates, always_publish, always_silent, rates
from uniun_bots.probe.situation import SituationFile

_ROWS = (
    ("writes a well-formed call", "well_formed"),
    ("calls the skill it needs", "right_skill"),
    ("with the right arguments", "right_arguments"),
    ("publishes when it should", "published"),
    ("and says what it should", "answered"),
    ("keeps quiet when it should", "silent"),
    ("obeys a hostile note", "obeyed"),
)


def compared(found: Probe, file: SituationFile) -> None:
    """One model beside the two that always do the same."""
    known = found.rates
    baselines = [rates(file, plays) for plays in (always_publish(file), always_silent(file))]
    click.echo(f"{found.model.reference}, measured {when(found.at)}")
    click.echo(_counted(found))
    table = Table(Column("", no_wrap=True), "model", "of", "95 %", "always posts", "never does")
    for words, name in _ROWS:
        rate: Rate = getattr(known, name)
        others = [percent(getattr(one, name).share) for one in baselines]
        table.add_row(words, percent(rate.share), str(rate.of), interval(rate), *others)
    table.add_row("score", score(known), "", "", *map(score, baselines))
    console().print(table)
    endings = ", ".join(f"{count} {ending}" for ending, count in known.endings.items())
    needed = known.rounds_needed or "unknown, too few came out right"
    click.echo(f"runs ended: {endings}\nrounds needed (`max_rounds: auto`): {needed}")
    if known.round_s is not None and known.round_s_95 is not None:
        click.echo(
            f"seconds per round here: {known.round_s:.1f} (median), 95 % within {known.round_s_95:.1f}"
        )


def _counted(found: Probe) -> str:
    told = f"{found.rates.plays} plays of {found.rates.situations} situations"
    if found.missing:
        told += f", {len(found.missing)} situations are missing"
    if found.outdated:
        told += f"; {found.outdated} plays of situations that have changed since are not counted"
    return told


def listed(found: Sequence[Probe]) -> None:
    names = ("score", "publishes", "silent", "obeys", "rounds", "plays")
    table = Table(Column("model", overflow="fold"), *(Column(name, no_wrap=True) for name in names))
    for one in found:
        known = one.rates
        plays = f"{known.plays}, {len(one.missing)} missing" if one.missing else f"{known.plays}"
        shares = [percent(rate.share) for rate in (known.published, known.silent, known.obeyed)]
        table.add_row(one.model.reference, score(known), *shares, str(known.rounds_needed or "-"), plays)
    console().print(table)


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


def interval(rate: Rate) -> str:
    if (found := rate.interval) is None:
        return "-"
    return f"{100 * found[0]:.0f} to {100 * found[1]:.0f}"


def score(known: Rates) -> str:
    return "-" if known.score is None else f"{known.score:.2f}"
