"""Numbered migrations: `migrations/NNNN_name.sql`, each applied once, in one transaction."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from uniun_bots.errors import StoreError

FOLDER = Path(__file__).parent / "migrations"


def migrate(conn: sqlite3.Connection) -> None:
    """Bring the file to this version's schema. Raises StoreError on a file from a newer version."""
    try:
        have = int(conn.execute("PRAGMA user_version").fetchone()[0])
        files = sorted(FOLDER.glob("*.sql"))
        newest = int(files[-1].stem.split("_")[0])
        if have > newest:
            raise StoreError(
                f"the data folder is from a newer version (schema {have}, this one knows {newest})"
            )
        for file in files:
            number = int(file.stem.split("_")[0])
            if number > have:
                conn.executescript(
                    f"BEGIN IMMEDIATE;\n{file.read_text()}\nPRAGMA user_version={number};\nCOMMIT;"
                )
    except sqlite3.Error as fault:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise StoreError(f"cannot migrate the database: {fault}") from fault
