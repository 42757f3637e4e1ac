"""Answers as bytes: a header of JSON, then arrays as they lie in memory, each at a multiple of eight.

Little-endian throughout: the length of the header as four bytes, four bytes of zero, the header in UTF-8 padded with
spaces, then the arrays. ``header["arrays"]`` lists name, kind, shape and offset of each, counted from the first array,
so that a browser looks at them in place. JSON has no infinities: what is not finite becomes null.
"""

import json
import struct

import numpy as np

from reluscope.explorer.exchange.answers import Answer, plain

ALIGNMENT = 8
KINDS = ("float64", "float32", "int32", "uint32", "int16", "uint8")


def pack(answer: Answer) -> bytes:
    """Return an answer as bytes.

    Entries of arrays have 8, 4, 2 or 1 bytes, of the kinds that browsers have.
    """
    arrays = {name: carried(array) for name, array in answer.arrays.items()}
    listed, parts, offset = [], [], 0
    for name, array in arrays.items():
        listed.append({"name": name, "dtype": array.dtype.name, "shape": list(array.shape), "offset": offset})
        size = _padded(array.nbytes)
        parts += [array.tobytes(), bytes(size - array.nbytes)]
        offset += size
    text = json.dumps(plain({**answer.header, "arrays": listed}), allow_nan=False, ensure_ascii=False)
    header = text.encode()
    header += b" " * (_padded(len(header)) - len(header))
    return b"".join([struct.pack("<II", len(header), 0), header, *parts])


def unpack(packed: bytes) -> Answer:
    """Return the answer in bytes that `pack` made; its arrays are views of them."""
    (length,) = struct.unpack_from("<I", packed)
    header = json.loads(packed[ALIGNMENT : ALIGNMENT + length])
    arrays = {}
    for listed in header.pop("arrays"):
        shape, kind = listed["shape"], np.dtype(listed["dtype"]).newbyteorder("<")
        count = int(np.prod(shape, dtype=np.int64))
        at = ALIGNMENT + length + listed["offset"]
        arrays[listed["name"]] = np.frombuffer(packed, kind, count, at).reshape(shape)
    return Answer(header, arrays)


def carried(array: np.ndarray) -> np.ndarray:
    """Return an array as it is sent: in one piece, little-endian, of a kind that browsers have."""
    if array.dtype == bool:
        array = array.astype(np.uint8)
    if array.dtype.name not in KINDS:
        raise TypeError(f"expected an array of one of {', '.join(KINDS)}, got {array.dtype.name}")
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(array.shape)


def _padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
