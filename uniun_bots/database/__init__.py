"""The one SQLite file: connection, single writer, migrations."""
