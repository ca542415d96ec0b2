"""Bytes go into the SDK in one piece.

Its Python bindings write what crosses the language border byte by byte, which for an event is more work than all
else that is done to it. Nothing else changes; where a version of the SDK is built otherwise, nothing changes at all.
"""

from __future__ import annotations

import contextlib
import ctypes
import struct
from typing import Any

from nostr_sdk import nostr_sdk as bindings


def _write(builder: Any, value: bytes) -> None:
    with builder._reserve(len(value)):
        ctypes.memmove(ctypes.byref(builder.rbuf.data.contents, builder.rbuf.len), value, len(value))


def _pack_into(builder: Any, size: int, form: str, value: Any) -> None:
    _write(builder, struct.pack(form, value))


def speed_up() -> bool:
    """Whether this version of the SDK is one whose writing is known here."""
    with contextlib.suppress(AttributeError):
        builder = bindings._UniffiRustBufferBuilder
        known = builder.write.__code__.co_names == ("_reserve", "len", "enumerate", "rbuf", "data")
        if known:
            builder.write, builder._pack_into = _write, _pack_into
        return known or builder.write is _write
    return False
