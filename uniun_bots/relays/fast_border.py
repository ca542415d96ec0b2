"""What crosses the border to the SDK takes the short way.

Its Python bindings write byte by byte, wrap each value that is read into a context manager, and send whatever Rust
answers through the event loop once more, also when it is there at once. For an event that is more work than all else
that is done to it. Nothing else changes; where a version of the SDK is built otherwise, nothing changes at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import inspect
import struct
from operator import attrgetter
from typing import Any

from nostr_sdk import nostr_sdk as bindings

KNOWN = {
    "_UniffiRustBufferBuilder.write": "_reserve len enumerate rbuf data",
    "_UniffiRustBufferBuilder._pack_into": "_reserve enumerate struct pack rbuf data len",
    "_UniffiRustBuffer.consume_with_stream": "_UniffiRustBufferStream from_rust_buffer remaining RuntimeError free",
    "_UniffiConverterRustBuffer.lift": "consume_with_stream read",
    "_UniffiFfiConverterString.lift": "consume_with_stream read remaining decode",
    "_uniffi_rust_call_with_error": "_UniffiRustCallStatus default ctypes byref _uniffi_check_call_status",
    "_uniffi_rust_call_async": "_uniffi_get_event_loop create_future _uniffi_continuation_callback"
    " _UniffiContinuationHandleMap insert _UNIFFI_RUST_FUTURE_POLL_READY _uniffi_rust_call_with_error",
}
"""What the functions that are replaced here, or rely on one that is, look up in the version that was read."""


def _write(builder: Any, value: bytes) -> None:
    with builder._reserve(len(value)):
        ctypes.memmove(ctypes.byref(builder.rbuf.data.contents, builder.rbuf.len), value, len(value))


def _pack_into(builder: Any, size: int, form: str, value: Any) -> None:
    _write(builder, struct.pack(form, value))


def _taken(rbuf: Any) -> bytes:
    """What stands in a buffer, which is given back."""
    value = ctypes.string_at(rbuf.data, rbuf.len) if rbuf.len else b""
    rbuf.free()
    return value


def _lift(converter: Any, rbuf: Any) -> Any:
    value = _taken(rbuf)
    stream = bindings._UniffiRustBufferStream(value, len(value))
    found = converter.read(stream)
    if stream.remaining():
        raise bindings.InternalError(f"{stream.remaining()} bytes too many from the SDK")
    return found


def _lift_text(rbuf: Any) -> str:
    return _taken(rbuf).decode()


def _call(error_converter: Any, function: Any, *args: Any) -> Any:
    status = bindings._UniffiRustCallStatus()
    result = function(*args, ctypes.byref(status))
    if status.code:
        bindings._uniffi_check_call_status(error_converter, status)
    return result


def _go_on(handle: int, poll_code: int) -> None:
    """Rust has an answer: told from a thread of its own, or while it is asked."""
    loop, future = bindings._UniffiContinuationHandleMap.remove(handle)
    if asyncio._get_running_loop() is loop:
        bindings._uniffi_set_future_result(future, poll_code)
    else:
        loop.call_soon_threadsafe(bindings._uniffi_set_future_result, future, poll_code)


def _is_known() -> bool:
    return all(
        set(inspect.unwrap(attrgetter(path)(bindings)).__code__.co_names) == set(names.split())
        for path, names in KNOWN.items()
    )


def speed_up() -> bool:
    """Whether this version of the SDK is one that is known here. Once more changes nothing."""
    builder = bindings._UniffiRustBufferBuilder
    with contextlib.suppress(AttributeError):
        if builder.write is not _write and _is_known():
            builder.write, builder._pack_into = _write, _pack_into
            bindings._UniffiConverterRustBuffer.lift = classmethod(_lift)
            bindings._UniffiFfiConverterString.lift = staticmethod(_lift_text)
            bindings._uniffi_rust_call_with_error = _call
            bindings._uniffi_continuation_callback = bindings._UNIFFI_RUST_FUTURE_CONTINUATION_CALLBACK(
                _go_on
            )
    return builder.write is _write
