"""The control socket: what other commands ask of a running host."""
