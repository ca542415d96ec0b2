"""uniun-bots: persona bots on Nostr relays, one declarative file each."""

from importlib.metadata import version

__version__ = version("uniun-bots")
