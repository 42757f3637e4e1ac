"""Arrow tables as data frames of pandas, which is optional."""

from typing import TYPE_CHECKING

from reluscope.errors import ReluscopeError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def as_pandas(table: "pa.Table") -> "pd.DataFrame":
    """Return a table as a data frame; ReluscopeError if pandas is not installed."""
    try:
        import pandas  # noqa: F401, pyarrow's own sentence names no remedy
    except ImportError as error:
        raise ReluscopeError(
            "expected pandas, and it is not installed: run pip install pandas, or take to_table, which is Arrow"
        ) from error
    return table.to_pandas()
