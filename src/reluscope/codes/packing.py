"""Between pieces and words: bit k of every unit's piece goes to plane k of its gate, 64 units to a word."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import UInt64
from numpy.typing import ArrayLike

from reluscope import _kernels
from reluscope.arguments import describe
from reluscope.codes.layout import CodeLayout, GateLayout
from reluscope.errors import InputError, ShapeError


def pack_pieces(
    pieces: Sequence[ArrayLike], layout: CodeLayout, num_codes: int | None = None
) -> UInt64[np.ndarray, "s w"]:
    """Return the words of codes given as pieces, one array (s, u) for each gate.

    `num_codes` is needed only for a layout without gates, where no array tells it.
    """
    arrays = [_as_array(array) for array in pieces]
    num_codes = _common_length(arrays, layout, num_codes)
    words = np.zeros((num_codes, layout.num_words), dtype="<u8")
    for index, (gate, array) in enumerate(zip(layout, arrays, strict=True)):
        if array.ndim != 2 or array.shape[1] != gate.num_units:
            raise ShapeError(
                f"Pieces of gate {gate.name!r} must have shape (s, {gate.num_units}), but came with shape "
                f"{array.shape}; give one row for each point and one column for each unit."
            )
        _check_pieces(gate, array)
        for plane in range(gate.num_planes):
            start = layout.words(index).start + plane * gate.words_per_plane
            if array.dtype in (np.bool_, np.uint8):
                packed = _kernels.pack_bits(np.ascontiguousarray(array).view(np.uint8), plane)
                words[:, start : start + gate.words_per_plane] = packed
            else:
                _place(words, layout, index, plane, np.packbits(array >> plane & 1, axis=1, bitorder="little"))
    return words


def place_planes(
    planes: Sequence[ArrayLike], layout: CodeLayout, num_codes: int | None = None
) -> UInt64[np.ndarray, "s w"]:
    """Return the words of codes given as packed bits: for each gate bytes (s, planes, ceil(u / 8)).

    Gates of one plane may leave out the middle dimension. Bits are little-endian, as of ``np.packbits(...,
    bitorder="little")``; those past the last unit must be zero.
    """
    arrays = [_as_array(array) for array in planes]
    num_codes = _common_length(arrays, layout, num_codes)
    words = np.zeros((num_codes, layout.num_words), dtype="<u8")
    for index, (gate, array) in enumerate(zip(layout, arrays, strict=True)):
        if array.ndim == 2 and gate.num_planes == 1:
            array = array[:, None, :]
        expected = (num_codes, gate.num_planes, gate.bytes_per_plane)
        if array.shape != expected or array.dtype != np.uint8:
            raise ShapeError(
                f"Packed bits of gate {gate.name!r} must be uint8 of shape {expected}, but came as {array.dtype} of "
                f"shape {array.shape}; pack each plane with np.packbits(bits, axis=-1, bitorder='little')."
            )
        if gate.num_units % 8 and np.any(array[..., -1] >> (gate.num_units % 8)):
            raise InputError(
                f"Bits past the {gate.num_units} units of gate {gate.name!r} must be zero, but some are set; pack "
                "the units alone."
            )
        for plane in range(gate.num_planes):
            _place(words, layout, index, plane, array[:, plane])
    return words


def _as_array(value: ArrayLike) -> np.ndarray:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        array = np.empty(0, dtype=object)
    if array.ndim == 0 or array.dtype == object:
        raise InputError(f"codes must be one array of whole numbers for each gate, got {describe(value)} among them")
    return array


def unpack_pieces(words: UInt64[np.ndarray, "s w"], layout: CodeLayout) -> np.ndarray:
    """Return the pieces (s, units of all gates) of packed codes, as uint8 or (beyond 256 pieces) uint16."""
    pieces = np.zeros((len(words), layout.num_units), dtype=layout.piece_dtype)
    for index, gate in enumerate(layout):
        # A plane of words is a contiguous row of bytes once the gate's columns are.
        content = np.ascontiguousarray(words[:, layout.words(index)], dtype="<u8").view(np.uint8)
        width = gate.words_per_plane * 8
        for plane in range(gate.num_planes):
            packed = content[:, plane * width : (plane + 1) * width]
            bits = np.unpackbits(packed, axis=1, count=gate.num_units, bitorder="little")
            if plane == 0:
                pieces[:, layout.units(index)] = bits
            else:
                pieces[:, layout.units(index)] |= bits.astype(layout.piece_dtype) << plane
    return pieces


def _place(words: np.ndarray, layout: CodeLayout, gate: int, plane: int, packed: np.ndarray) -> None:
    start = layout.words(gate).start + plane * layout.gates[gate].words_per_plane
    words.view(np.uint8)[:, start * 8 : start * 8 + packed.shape[1]] = packed


def _common_length(arrays: Sequence[np.ndarray], layout: CodeLayout, num_codes: int | None) -> int:
    lengths = {len(array) if array.ndim else -1 for array in arrays} | ({num_codes} if num_codes is not None else set())
    if len(arrays) != len(layout) or len(lengths) != 1:
        raise ShapeError(
            f"Codes of {layout.describe()} need one array for each gate, all with one row for each code, but "
            f"{len(arrays)} arrays came with shapes {', '.join(str(array.shape) for array in arrays) or '(none)'}; "
            "give the gates in the order of the layout, and num_codes where there is no gate."
        )
    return lengths.pop()


def _check_pieces(gate: GateLayout, pieces: np.ndarray) -> None:
    if pieces.dtype != np.bool_ and not np.issubdtype(pieces.dtype, np.integer):
        raise InputError(
            f"Pieces of gate {gate.name!r} must be whole numbers or booleans, but came as {pieces.dtype}; count the "
            "breakpoints strictly below each pre-activation."
        )
    smallest = int(pieces.min(initial=0)) if np.issubdtype(pieces.dtype, np.signedinteger) else 0
    largest = int(pieces.max(initial=0))
    if smallest < 0 or largest >= gate.num_pieces:
        raise InputError(
            f"Pieces of gate {gate.name!r} must be from 0 to {gate.num_pieces - 1}, but "
            f"{smallest if smallest < 0 else largest} came; count the pieces from 0."
        )
