"""Tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Column, Table


def listing(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Nothing is cut short: the first column has the names that people type, so it keeps its words whole.

    A column without a word in it is left out.
    """
    shown = list(rows)
    used = [at for at in range(len(headers)) if not shown or any(row[at] for row in shown)]
    table = Table(*(Column(headers[at], no_wrap=at == 0, overflow="fold") for at in used))
    for row in shown:
        table.add_row(*(row[at] for at in used))
    return table
