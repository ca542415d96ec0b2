"""Assembles everything: lifecycle, lease, control socket, one pass for timers."""
