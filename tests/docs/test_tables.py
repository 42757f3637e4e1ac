"""What docs/exchange.md says of tables is all that there is: every column is named in it."""

import re
from pathlib import Path

import pyarrow.parquet as pq

import reluscope as rs
from reluscope.testing import default_network

PAGE = (Path(__file__).parents[2] / "docs" / "exchange.md").read_text(encoding="utf-8")
# The first cell of each row of the table of columns: names in backticks.
NAMED = {
    name for line in PAGE.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line.split("|")[1])
}


def unnamed(columns):
    """Return the columns that the page does not name; those with another number at their end are of one kind."""
    return [name for name in columns if name not in NAMED and re.sub(r"\d+$", "0", name) not in NAMED]


def test_every_column_of_a_partition_is_on_the_page(tmp_path):
    net = rs.load(default_network([3, 4, 2], seed=0))
    kept = rs.partition(net, rs.Box(-1, 1, 3)).to_table()
    codes = rs.partition(net, rs.Box(-1, 1, 3), keep="codes").to_table()
    plane = rs.Plane([0, 0, 0], [1, 0, 0], [0, 1, 0])
    rs.stream(net, plane, tmp_path / "regions.parquet")
    streamed = pq.read_schema(tmp_path / "regions.parquet").names
    assert unnamed([*kept.column_names, *codes.column_names, *streamed]) == []
    assert set(kept.column_names) - set(codes.column_names) == {"volume", "num_corners"}
    assert set(streamed) < set(kept.column_names)
    assert unnamed(["neighbors"]) == ["neighbors"]
