"""`uniun-bots check`"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import click

from uniun_bots.personas.project import Report
from uniun_bots.skills.library import Library


@click.command(epilog="Example: uniun-bots check my-bots")
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of lines.")
def check(folder: Path, as_json: bool) -> None:
    """Tell everything that is wrong in the files of a project folder, with what to write instead.

    One line per fault: FILE:LINE:COLUMN message. Exit code 2 when there are faults; warnings do not count.
    """
    from uniun_bots.host.project_folder import check_folder

    report, library = check_folder(folder)
    click.echo(_as_json(report) if as_json else _as_lines(report, library))
    sys.exit(2 if report.faults else 0)


def _as_json(report: Report) -> str:
    found = {
        "ok": not report.faults,
        "faults": [asdict(fault) for fault in report.faults],
        "warnings": [asdict(fault) for fault in report.warnings],
    }
    return json.dumps(found, ensure_ascii=False)


def _as_lines(report: Report, library: Library) -> str:
    lines = [str(fault) for fault in report.faults]
    lines += [f"{w.file}:{w.line}:{w.column} warning: {w.message}" for w in report.warnings]
    if report.project is not None:
        ganas, sets = len(report.project.ganas), len(report.project.relay_sets)
        manas = f", {len(report.project.manas)} Manas" if report.project.manas else ""
        skills = f", {_many(len(library.texts), 'skill')}" if library.texts else ""
        lines.append(f"ok: {_many(ganas, 'persona')}{skills}{manas}, {sets} relay sets")
    return "\n".join(lines)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
