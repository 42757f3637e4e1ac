"""Damage inside the seal: a file is changed in its bytes, numbers or names, and carries the right digest again."""

import io
import json
import re
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from reluscope.files.sealed_files import UNSEALED, sealed

MARK = re.compile(UNSEALED[:-64].encode() + b"[0-9a-f]{64}")
WHOLE = (-1, 0, 1, 2, 3, 7, 63, 64, 2**15, 2**31 - 1, 2**31, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63))
REAL = (np.nan, np.inf, -np.inf, 0.5, -0.0, 1e300, -1e300, 5e-324, 1e-200)
DEEP = "lists in lists"
TEXTS = ("", "EXACT", "nan", "1/0", "listed", "\N{GREEK SMALL LETTER ALPHA}" * 40, "../../x", "9" * 400)
KINDS = ("<f8", "<f4", "<i8", "<i4", "<u8", "|b1", ">f8", "|u1", "<c16", "|O", "<M8[s]", "(2,3)<f8", "|V0", "U3")
PLAIN = (None, True, [], {}, 10**30, *WHOLE, *map(float, REAL), *TEXTS)


def damaged(content, generator):
    """Return the bytes of a file with something else in it, sealed if it was."""
    is_sealed = MARK.search(content) is not None
    whole = MARK.sub(UNSEALED.encode(), content)
    if whole[:4] == b"ARRO" and generator.random() < 0.7:
        whole = _arrow(whole, generator)
    elif whole[:4] == b"PAR1" and generator.random() < 0.7:
        whole = _parquet(whole, generator)
    elif whole[:2] == b"PK" and generator.random() < 0.8:
        whole = _archive(whole, generator)
    elif whole[:1] == b"{" and generator.random() < 0.8:
        whole = _json(_plain(json.loads(whole), generator))
    else:
        whole = _bytes(whole, generator)
    return sealed(whole) if is_sealed and UNSEALED.encode() in whole else whole


def _one(options, generator):
    return options[int(generator.integers(len(options)))]


def _bytes(whole, generator):
    """Flip bits, put other numbers of 1 to 8 bytes, cut, double or swap parts."""
    found = bytearray(whole)
    for _ in range(int(generator.integers(1, 4))):
        place, size = int(generator.integers(len(found))), int(_one((1, 2, 4, 8), generator))
        way = generator.integers(8)
        if way < 3:
            found[place] ^= 1 << int(generator.integers(8))
        elif way < 6:
            place -= place % size
            found[place : place + size] = (_one(WHOLE, generator) % 2 ** (8 * size)).to_bytes(size, "little")
        elif way == 6:
            del found[place : place + size * int(generator.integers(1, 9))]
        else:
            found[place:place] = found[place : place + 8 * size]
        if not found:
            return bytes(whole[:1])
    return bytes(found)


def _array(array, generator):
    """Return an array with other entries, of another shape or of another type."""
    array = np.array(array)
    way = generator.integers(8)
    if way < 5 and array.size and array.dtype.kind in "fiub":
        place = int(generator.integers(array.size))
        if array.dtype.kind == "f":
            array.flat[place] = _one((*REAL, *map(float, WHOLE)), generator)
        elif array.dtype.kind == "b":
            array.flat[place] ^= True
        else:
            low, high = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
            near = int(array.flat[place]) + int(_one((-1, 1), generator))
            array.flat[place] = min(max(_one((*WHOLE, near, array.size, int(array.max()) + 1), generator), low), high)
        return array
    if way == 5:
        kind = np.dtype(_one(KINDS[:8], generator))
        return (
            array.view(kind)
            if array.nbytes and array.shape and not array.shape[-1] * array.itemsize % kind.itemsize
            else array
        )
    axis = int(generator.integers(max(1, array.ndim)))
    if not array.ndim:
        return array[None]
    options = (
        lambda: np.delete(array, 0, axis) if array.shape[axis] else array,
        lambda: np.concatenate([array, np.take(array, [0] if array.shape[axis] else [], axis)], axis),
        lambda: array[None],
        lambda: array.reshape(-1),
        lambda: array.T,
        lambda: array[:0],
        lambda: array[::-1],
    )
    return _one(options, generator)()


def _plain(plain, generator, depth=0):
    """Return plain types of which one entry is another, missing or doubled."""
    if isinstance(plain, dict) and plain and generator.random() < 0.95:
        keys = [key for key in plain if key != "seal"] or list(plain)
        key = _one(keys, generator)
        if generator.random() < 0.1:
            return {name: one for name, one in plain.items() if name != key}
        return {**plain, key: _plain(plain[key], generator, depth + 1)}
    if isinstance(plain, list) and plain and generator.random() < 0.85:
        place = int(generator.integers(len(plain)))
        way = generator.integers(10)
        if way == 0:
            return plain[:place] + plain[place + 1 :]
        if way == 1:
            return [*plain, plain[place]]
        return [*plain[:place], _plain(plain[place], generator, depth + 1), *plain[place + 1 :]]
    if type(plain) in (int, float) and generator.random() < 0.6:
        return _one((plain + 1, plain - 1, -plain, plain + 0.5, *WHOLE, *map(float, REAL)), generator)
    return _one((*PLAIN, DEEP), generator)


def _json(plain):
    return json.dumps(plain).replace(json.dumps(DEEP), "[" * 10_000 + "]" * 10_000).encode()


def _described(metadata, generator):
    described = json.loads(metadata[b"reluscope"])
    return {**metadata, b"reluscope": _json(_plain(described, generator))}


def _arrow(whole, generator):
    """Change an entry, a shape, a type or a name of the arrays, a buffer under them, or the description."""
    table = pyarrow.ipc.open_file(pa.BufferReader(whole)).read_all()
    way, metadata = generator.integers(10), table.schema.metadata
    if way < 2:
        metadata = _described(metadata, generator)
    elif way < 4:
        return _buffer(whole, table, generator)
    rows = table.to_pylist()
    if way >= 4 and rows:
        row = rows[int(generator.integers(len(rows)))]
        if way < 8:
            array = np.frombuffer(row["data"], row["dtype"]).reshape(row["shape"])
            array = _array(array, generator)
            row |= {"dtype": array.dtype.str, "shape": list(array.shape), "data": array.tobytes()}
        elif way == 8:
            row["dtype"] = _one((*KINDS, None, "f8,", "(", "i8"), generator)
        else:
            shape = list(row["shape"] or [])
            options = (None, [], [-1], [*shape, 1], [0], [2**62, 4], [_one(WHOLE, generator)], shape[::-1], [None])
            row["shape"] = _one(options, generator)
        if generator.random() < 0.05:
            row["name"] = _one((None, "", rows[0]["name"]), generator)
    schema = table.schema.with_metadata(metadata)
    sink = io.BytesIO()
    with pyarrow.ipc.new_file(sink, schema) as writer:
        writer.write_table(pa.Table.from_pylist(rows, schema=schema))
    return sink.getvalue()


def _buffer(whole, table, generator):
    """Put another number among the offsets, the validity or the content of a column."""
    column = table.column(int(generator.integers(table.num_columns)))
    buffers = [one for chunk in column.chunks for one in chunk.buffers() if one is not None and one.size]
    content = _one(buffers, generator).to_pybytes()[:400]
    place = whole.find(content)
    size = int(_one((4, 8), generator))
    at = place + size * int(generator.integers(max(1, len(content) // size)))
    put = (_one(WHOLE, generator) % 2 ** (8 * size)).to_bytes(size, "little")
    return whole[:at] + put + whole[at + size :]


def _parquet(whole, generator):
    """Change a cell, a type, a name, the rows, or the description."""
    table = pyarrow.parquet.read_table(pa.BufferReader(whole))
    way, metadata = generator.integers(8), dict(table.schema.metadata or {})
    if way < 3 and b"reluscope" in metadata:
        metadata = _described(metadata, generator)
    elif way == 3:
        place = int(generator.integers(table.num_columns))
        table = _one((table.remove_column(place), table.append_column(table.schema.field(place), table.column(place)),
                      table.slice(0, 0), pa.concat_tables([table, table])), generator)  # fmt: skip
    elif table.num_rows:
        place, rows = int(generator.integers(table.num_columns)), table.to_pylist()
        name, row = table.column_names[place], int(generator.integers(table.num_rows))
        for _ in range(8):
            cells = [one[name] for one in rows]
            value = cells[row]
            if isinstance(value, bytes):
                cells[row] = _one((None, b"", _bytes(value or b"\0", generator), value[:-1], value + b"\0"), generator)
            elif isinstance(value, list) and value and isinstance(value[0], dict | str | int | float | type(None)):
                cells[row] = _one(
                    (None, [], value[:-1], [*value, value[0]], [_plain(value[0], generator), *value[1:]]), generator
                )
            else:
                cells[row] = _one((None, *WHOLE, *map(float, REAL), *TEXTS), generator)
            kind = table.schema.field(place).type if generator.random() < 0.8 else None
            try:
                table = table.set_column(place, name, pa.array(cells, kind))
                break
            except (pa.ArrowException, TypeError, OverflowError):
                continue
    table = table.replace_schema_metadata(metadata)
    sink = io.BytesIO()
    packing = _one(("zstd", "none", "snappy"), generator)
    pyarrow.parquet.write_table(table, sink, compression=packing, use_dictionary=bool(generator.integers(2)))
    found = sink.getvalue()
    return _bytes(found, generator) if generator.random() < 0.2 else found


def _archive(whole, generator):
    """Change an array or the plain values of a record, or a member's bytes."""
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members, comment = {name: archive.read(name) for name in archive.namelist()}, archive.comment
    name = _one(list(members), generator)
    if generator.random() < 0.15 or not name.endswith((".json", ".npy")):
        members[name] = _bytes(members[name], generator)
    elif name.endswith(".json"):
        members[name] = _json(_plain(json.loads(members[name]), generator))
    else:
        sink = io.BytesIO()
        array = _array(np.load(io.BytesIO(members[name]), allow_pickle=False), generator)
        np.save(sink, array, allow_pickle=False)
        members[name] = sink.getvalue()
    if generator.random() < 0.05:
        members.pop(name)
    sink = io.BytesIO()
    with zipfile.ZipFile(
        sink, "w", zipfile.ZIP_DEFLATED if generator.random() < 0.1 else zipfile.ZIP_STORED
    ) as archive:
        archive.comment = comment
        for name, content in members.items():
            archive.writestr(name, content)
    return sink.getvalue()
