"""`uniun-bots check`"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click

from uniun_bots.personas.project import Report, check_project


@click.command(epilog="Example: uniun-bots check my-bots")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
def check(folder: str, as_json: bool) -> None:
    """Tell everything that is wrong in the files of a project folder, with what to write instead.

    One line per fault: FILE:LINE:COLUMN message. Exit code 2 when there are faults; warnings do not count.
    """
    report = check_project(folder)
    click.echo(_as_json(report) if as_json else _as_lines(report))
    sys.exit(2 if report.faults else 0)


def _as_json(report: Report) -> str:
    found = {
        "ok": not report.faults,
        "faults": [asdict(fault) for fault in report.faults],
        "warnings": [asdict(fault) for fault in report.warnings],
    }
    return json.dumps(found, ensure_ascii=False)


def _as_lines(report: Report) -> str:
    lines = [str(fault) for fault in report.faults]
    lines += [f"{w.file}:{w.line}:{w.column} warning: {w.message}" for w in report.warnings]
    if report.project is not None:
        ganas, sets = len(report.project.ganas), len(report.project.relay_sets)
        lines.append(f"ok: {ganas} {'persona' if ganas == 1 else 'personas'}, {sets} relay sets")
    return "\n".join(lines)
