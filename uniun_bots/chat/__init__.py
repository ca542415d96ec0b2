"""Shiv: the owner's own chat over the graph. It answers and cites, and never publishes."""
