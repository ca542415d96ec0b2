"""The protocol without I/O: events, tags, threads, surfaces, keys and signing."""
