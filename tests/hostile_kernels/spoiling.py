"""Arguments that are not as they should be: what a caller with a fault would pass."""

import os
import sys

import numpy as np

# Sanitizers end the process where memory is refused: there nothing asks for much of it.
IS_SANITIZED = "ASAN_OPTIONS" in os.environ
HUGE = 2**10 if IS_SANITIZED else 2**33
WHOLE = (-1, 0, 1, 7, 63, 64, 65, HUGE, -(2**63))
if not IS_SANITIZED:
    WHOLE += (2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1)
REAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 5e-324, 1e-300, 1e300, -1.7e308)
KINDS = (np.float32, np.int8, np.int32, np.int64, np.uint64, np.float64, np.complex128, np.bool_, object, "U1")
NOT_ARRAYS = (None, 3, "text", b"bytes", [], [[1.0, 2.0]], {}, object(), np.float64(1.0), sys)
NOT_NUMBERS = (None, -1, 1.5, np.nan, np.inf, 2**64, -(2**63), "3", [], np.zeros(2), True)


def spoiled(arguments, generator):
    """Return a list of arguments in which one to three things are wrong."""
    arguments = list(arguments)
    for _ in range(generator.integers(1, 4)):
        if not arguments:
            break
        which = int(generator.integers(len(arguments)))
        arguments[which] = _spoil(arguments[which], arguments, generator)
    return arguments


def _choice(options, generator):
    return options[int(generator.integers(len(options)))]


def _spoil(one, others, generator):
    if isinstance(one, np.ndarray):
        return _choice((_values, _values, _values, _shape, _shape, _layout, _kind), generator)(one, others, generator)
    if isinstance(one, bytes):
        return _bytes(one, generator)
    if isinstance(one, bool):
        return _choice((not one, None, 2, "yes"), generator)
    if isinstance(one, int | float):
        return _choice((*NOT_NUMBERS, *WHOLE, *REAL), generator)
    return _choice((*NOT_ARRAYS, *NOT_NUMBERS), generator)


def _values(one, others, generator):
    """Some entries out of range, or not numbers."""
    found = one.copy()
    if not found.size or found.dtype.kind not in "fbiu":
        return _shape(one, others, generator)
    places = generator.integers(0, found.size, generator.integers(1, 4))
    if found.dtype.kind == "f":
        found.flat[places] = _choice(REAL, generator)
    elif found.dtype.kind == "b":
        found.flat[places] ^= True
    else:
        limits = np.iinfo(found.dtype)
        near = int(found.flat[places[0]]) + _choice((-1, 1), generator)
        value = _choice((*WHOLE, near, int(found.max()) + 1, found.size, int(limits.max), int(limits.min)), generator)
        found.flat[places] = min(max(value, limits.min), limits.max)
    return found


def _shape(one, others, generator):
    """Too many rows or too few, none at all, another number of axes, or another argument."""
    axis = int(generator.integers(max(one.ndim, 1)))
    if one.ndim == 0:
        return one[None]

    def part(end):
        return one[(slice(None),) * axis + (slice(0, end),)]

    options = (
        lambda: part(-1),
        lambda: np.concatenate([one, part(1)], axis),
        lambda: np.concatenate([one, one, one], axis),
        lambda: part(0),
        lambda: one[None],
        lambda: one.reshape(-1),
        lambda: one.T,
        lambda: one[..., 0] if one.shape[-1] else one[..., None],
        lambda: np.zeros((0,) * one.ndim, dtype=one.dtype),
        lambda: np.zeros((HUGE, 0), dtype=one.dtype) if one.ndim == 2 else one[:0],
        lambda: np.zeros((0, HUGE), dtype=one.dtype) if one.ndim == 2 else one[:0],
        lambda: _choice(others, generator),
    )
    return _choice(options, generator)()


def _layout(one, others, generator):
    """The same entries, laid out in another way."""
    if one.dtype.kind not in "fbiu" or not one.ndim:
        return _shape(one, others, generator)
    options = (
        lambda: np.asfortranarray(one),
        lambda: one[::-1],
        lambda: np.repeat(one, 2, axis=-1)[..., ::2] if one.ndim else one,
        lambda: np.broadcast_to(one[:1], one.shape) if one.ndim and len(one) else one,
        lambda: one.astype(one.dtype.newbyteorder()),
        lambda: np.frombuffer(b"\0" + one.tobytes(), np.uint8)[1:].view(one.dtype).reshape(one.shape),
        lambda: one.view(np.recarray),
        lambda: memoryview(np.ascontiguousarray(one)),
    )
    found = _choice(options, generator)()
    if isinstance(found, np.ndarray) and generator.random() < 0.3:
        found = found.copy() if found.base is None else found
        found.flags.writeable = False
    return found


def _kind(one, others, generator):
    """Another type of entries, or no array at all."""
    del others
    if generator.random() < 0.5:
        return _choice(NOT_ARRAYS, generator)
    try:
        return one.astype(_choice(KINDS, generator))
    except (OverflowError, TypeError, ValueError):
        return None


def _bytes(one, generator):
    """What was written, with a part of it changed or missing; half of the time with the right number behind it."""
    found = bytearray(one or b"\0")
    if len(found) > 8 and generator.random() < 0.5:
        return _forged(found[:-8], generator)
    place = int(generator.integers(len(found)))
    found[place] ^= 1 << int(generator.integers(8))
    return _choice((bytes(found), one[:place], one[place:], one + b"\0", b"", "text", None), generator)


def _forged(content, generator):
    """Return other numbers of 1 or 8 bytes, sealed as `native/kernels/archive.hpp` seals them."""
    for _ in range(int(generator.integers(1, 3))):
        if generator.random() < 0.3:
            content[int(generator.integers(len(content)))] ^= 1 << int(generator.integers(8))
        else:
            # Sizes, positions and numbers stand anywhere: before them there may be single bytes.
            place = int(generator.integers(len(content)))
            value = _choice((*WHOLE, 2, 3, 4, 5, 15, 16, 17, 2**40), generator) % 2**64
            content[place : place + 8] = value.to_bytes(8, "little")
    number = 0xCBF29CE484222325
    for byte in content:
        number = (number ^ byte) * 0x100000001B3 % 2**64
    return bytes(content) + number.to_bytes(8, "little")
