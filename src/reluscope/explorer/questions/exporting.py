"""A picture to take away: its regions as a Parquet file, or the program that makes it again."""

import numpy as np

from reluscope.explorer.exchange.answers import Answer
from reluscope.explorer.exchange.asked import Asked
from reluscope.explorer.exchange.listening import Listener
from reluscope.explorer.scene.asked_view import read_row, view_of
from reluscope.explorer.scene.programs import picture_program, region_program
from reluscope.explorer.scene.session import Session
from reluscope.partitions.partition_in_memory import Partition


def answer_export(session: Session, asked: Asked, listener: Listener) -> Answer:
    """Return a picture as the bytes of a file."""
    del listener
    view = view_of(session, asked)
    kind = asked.choice("as", ("parquet", "python"))
    row = read_row(asked, view) if kind == "python" and asked.has("row") else None
    asked.end()
    if kind == "python":
        text = picture_program(view) if row is None else region_program(view, row)
        content, name, media = text.encode(), "plane.py" if row is None else "region.py", "text/x-python"
    else:
        content, name, media = parquet_of(view.part), "regions.parquet", "application/vnd.apache.parquet"
    header = {"version": view.version, "as": kind, "name": name, "media_type": media}
    return Answer(header, {"bytes": np.frombuffer(content, dtype=np.uint8)})


def parquet_of(part: Partition) -> bytes:
    """Return the regions as a Parquet file, one row each: codes, witnesses and areas in the window's coordinates."""
    import pyarrow as pa
    import pyarrow.parquet

    table = part.to_table()
    if not part.codes.words.nbytes:
        table = table.drop_columns(["code"])  # Parquet has no bytes of length 0
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue().to_pybytes()
