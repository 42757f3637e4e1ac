"""A table of what was measured: a row for each thing asked, a column for each quantity, a claim for each cell.

A cell is a value between two ends. What it claims follows from them (`findings.claims`) and is written nowhere. A row
says besides whether it was measured at all: things may have no such quantity, and time may end before their turn. A
single measurement is a table of one row without keys; such a table goes along with another one as its summary where
some numbers belong to no row of it but to all of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool

from reluscope.arguments import Share, read_arguments, read_position, read_positions
from reluscope.errors import InputError
from reluscope.findings import read_findings as reading
from reluscope.findings.claims import largest_error
from reluscope.findings.column import Column
from reluscope.findings.data_frames import as_pandas
from reluscope.findings.derived import CONFIDENCE, Ends, at_an_end, mean, quantile, share, total
from reluscope.findings.finding import Finding
from reluscope.findings.quantities import Kind, Quantity
from reluscope.findings.written_findings import as_arrow, as_html, as_markdown, as_plain, as_text
from reluscope.stopping import Explained, Stop

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class Status(StrEnum):
    """Whether a row was measured.

    DONE: as far as its ends say. UNDEFINED: what was asked for is not there, as a region with an interior at a point on
    a kink. NOT_REACHED: work stopped before its turn.
    """

    DONE = "done"
    UNDEFINED = "undefined"
    NOT_REACHED = "not reached"


@dataclass(frozen=True, eq=False)
class Findings(Explained):
    """A table of measured quantities.

    Parameters
    ----------
    columns : mapping of str to Column
        By the name of the quantity, all of equal length.
    keys : mapping of str to (k,) arrays
        Identify the rows, such as ``sample`` or ``gate``: columns of names and numbers that were given, not
        measured.
    status : tuple of Status
        One per row.
    domain : str
        Domain of the measurements.
    details : mapping of str to arrays
        Further data of a row that are not quantities, such as a closest point; the first axis is that of the rows.
    num_samples : int, optional
        Number of samples that each row refers to, if it is not one: rows of gates refer to all samples.
    population : int, optional
        Size of the population that the rows are a random sample of; without it, the rows are the population.
    stop : Stop, optional
        Why work ended early, if it did; `stopped` says it in words.
    seconds : float
    summary : Findings, optional
        A table of one row without keys: measurements of all rows together.
    notes : tuple of str
        Important facts for readers, a sentence each.

    Examples
    --------
    >>> import numpy as np
    >>> from reluscope.findings import Column, Findings, declare
    >>> inradius = declare("inradius", "radius of a largest ball in the linear region", unit="input")
    >>> found = Findings.of(Column.of(inradius, [1.0, 2.5], [1.0, 2.5], [1.0, 4.0]), keys={"sample": np.arange(2)})
    >>> print(found)
    sample         inradius
    0                     1
    1       ≥ 2.5 [2.5, 4]
    >>> print(found.mean("inradius"), found.finding("inradius", 1))
    1.75 (LOWER, in [1.75, 2.5]) 2.5 (LOWER, in [2.5, 4])
    """

    columns: Mapping[str, Column]
    keys: Mapping[str, np.ndarray]
    status: tuple[Status, ...]
    domain: str = ""
    details: Mapping[str, np.ndarray] = field(default_factory=dict)
    num_samples: int | None = None
    population: int | None = None
    stop: Stop | None = None
    seconds: float = 0.0
    summary: "Findings | None" = None
    notes: tuple[str, ...] = ()

    @staticmethod
    def of(
        *columns: Column, keys: Mapping[str, Any] | None = None, reached: int | None = None, **fields: Any
    ) -> "Findings":
        """Return a table from its columns; without keys, the table of a single measurement.

        Parameters
        ----------
        *columns : Column
            Of equal length; a row in which no column has a value is undefined.
        keys : mapping of str to sequences, optional
            Identify the rows.
        reached : int, optional
            Number of rows that were reached; by default all.
        **fields
            Domain, details and so on, as in the class.

        Raises
        ------
        ValueError
            If columns and keys differ in length, or there is more than one row without keys.

        Examples
        --------
        >>> from reluscope.findings import Column, Findings, Kind, declare
        >>> pages = declare("example_pages", "pages of a book", kind=Kind.COUNT)
        >>> print(Findings.of(Column.of(pages, [321])))
        example pages  321
        """
        given = {name: np.asarray(table) for name, table in (keys or {}).items()}
        lengths = {len(table) for table in (*columns, *given.values())}
        if len(lengths) > 1 or (not given and lengths != {1}):
            raise ValueError(f"expected columns and keys of one length, 1 without keys, got {sorted(lengths)}")
        number = lengths.pop()
        has_value = ~np.all([np.full(number, True), *(np.isnan(column.value) for column in columns)], axis=0)
        reached = number if reached is None else reached
        status = [
            Status.NOT_REACHED if row >= reached else Status.DONE if has_value[row] else Status.UNDEFINED
            for row in range(number)
        ]
        return Findings({column.quantity.name: column for column in columns}, given, tuple(status), **fields)

    @staticmethod
    @read_arguments
    def joined(parts: "Sequence[Findings]") -> "Findings":
        """Return tables of the same columns, keys and details one below the other, without their summaries.

        Raises
        ------
        InputError
            If there are no tables, or they differ in these.

        Examples
        --------
        >>> from reluscope.findings import Column, Findings, Kind, declare
        >>> pages = declare("example_pages", "pages of a book", kind=Kind.COUNT)
        >>> shelves = [Findings.of(Column.of(pages, [5, 9]), keys={"book": list(names)}) for names in ("ab", "cd")]
        >>> print(Findings.joined(shelves).total("example_pages"))
        28 (EXACT)
        """
        kinds = {
            (tuple(part.columns), tuple(part.keys), tuple(part.details), part.domain, part.num_samples)
            for part in parts
        }
        if len(kinds) != 1:
            raise InputError(
                f"expected tables of the same columns, keys, details and domain, got {len(kinds)} kinds of {len(parts)}"
            )
        first = parts[0]
        return Findings(
            {name: Column.joined([part.columns[name] for part in parts]) for name in first.columns},
            {name: np.concatenate([part.keys[name] for part in parts]) for name in first.keys},
            tuple(status for part in parts for status in part.status),
            domain=first.domain,
            num_samples=first.num_samples,
            details={name: np.concatenate([part.details[name] for part in parts]) for name in first.details},
            stop=next((part.stop for part in parts if part.stop), None),
            seconds=sum(part.seconds for part in parts),
            notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        )

    def __len__(self) -> int:
        return len(self.status)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return str(name) in self.columns

    def __getitem__(self, name: str | Quantity) -> Column:
        if str(name) in self.columns:
            return self.columns[str(name)]
        if self.summary is not None and name in self.summary:
            return self.summary[name]
        known = ", ".join([*self.columns, *(self.summary or ())])
        raise InputError(f"expected a quantity that was measured, one of {known}, got {str(name)!r}")

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        return f"Findings({len(self)} rows of {', '.join(self.columns)})"

    def _repr_html_(self) -> str:
        return as_html(self)

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        return as_markdown(self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but details as plain types, ready for JSON."""
        return as_plain(self)

    @staticmethod
    @read_arguments
    def from_dict(plain: Mapping[str, Any]) -> "Findings":
        """Return the table that `to_dict` wrote, without details.

        Raises
        ------
        InputError
            If an entry is missing or invalid, values are not between their ends, or a claim does not follow from its
            ends.

        Examples
        --------
        >>> import json
        >>> from reluscope.findings import Column, Findings, declare
        >>> inradius = declare("inradius", "radius of a largest ball in the linear region", unit="input")
        >>> found = Findings.of(Column.of(inradius, [1.0, 2.5], upper=[1.0, 4.0]), keys={"sample": [0, 1]})
        >>> print(Findings.from_dict(json.loads(json.dumps(found.to_dict()))).finding("inradius", 1))
        2.5 (LOWER, in [2.5, 4])
        """
        with reading.reading("a table as Findings.to_dict writes it"):
            return _read(plain)

    def to_table(self) -> "pa.Table":
        """Return keys, status, and value, ends and claim of each quantity as an Arrow table."""
        return as_arrow(self)

    def to_pandas(self) -> "pd.DataFrame":
        """Return `to_table` as a data frame of pandas, which has to be installed."""
        return as_pandas(self.to_table())

    @property
    def is_done(self) -> Bool[np.ndarray, " k"]:
        """Which rows were measured."""
        return np.array([status is Status.DONE for status in self.status], dtype=bool)

    def where(self, **keys: Any) -> "Findings":
        """Return the rows with these keys.

        Raises
        ------
        InputError
            If there is no such key, or no such row.
        """
        chosen = np.ones(len(self), dtype=bool)
        for name, wanted in keys.items():
            if name not in self.keys:
                raise InputError(f"expected a key of the rows, one of {', '.join(self.keys)}, got {name!r}")
            chosen &= self.keys[name] == wanted
        if not chosen.any():
            raise InputError(f"expected keys of some row, got {', '.join(f'{k}={v!r}' for k, v in keys.items())}")
        return self.rows(np.flatnonzero(chosen))

    def rows(self, which: Any) -> "Findings":
        """Return some of the rows, by position.

        Parameters
        ----------
        which : slice, (j,) integers or (k,) bool
        """
        which = read_positions(which, "which", len(self), "rows")
        columns = {name: column[which] for name, column in self.columns.items()}
        keys, details = ({name: table[which] for name, table in tables.items()} for tables in (self.keys, self.details))
        status = tuple(np.array(self.status, dtype=object)[which])
        # What was measured of all rows together says nothing of some.
        return replace(self, columns=columns, keys=keys, details=details, status=status, summary=None)

    @read_arguments
    def groups(self, key: str) -> "dict[Any, Findings]":
        """Return the rows by what they have under a key, in the order in which that comes first.

        Raises
        ------
        InputError
            If there is no such key.
        """
        if key not in self.keys:
            raise InputError(f"expected a key of the rows, one of {', '.join(self.keys)}, got {key!r}")
        return {one: self.where(**{key: one}) for one in dict.fromkeys(self.keys[key].tolist())}

    def beside(self, *others: "Findings") -> "Findings":
        """Return this table with the columns and details of others about the same rows, and of their summaries.

        Raises
        ------
        InputError
            If another table has more rows, or fewer, or reached other ones.
        """
        tables = (self, *others)
        if {len(table) for table in tables} != {len(self)}:
            raise InputError(f"expected tables of {len(self)} rows, got {[len(table) for table in others]}")
        status = np.array([table.status for table in tables], dtype=object).reshape(len(tables), -1)
        reached = status != Status.NOT_REACHED
        if (reached.any(axis=0) != reached.all(axis=0)).any():
            raise InputError("expected tables that reached the same rows: choose those with rows(...)")
        is_done = (status == Status.DONE).any(axis=0)
        summaries = [table.summary for table in tables if table.summary is not None]
        return replace(
            self,
            columns={name: column for table in tables for name, column in table.columns.items()},
            details={name: detail for table in tables for name, detail in table.details.items()},
            status=tuple(Status.DONE if done else one for done, one in zip(is_done, self.status, strict=True)),
            summary=summaries[0].beside(*summaries[1:]) if summaries else None,
        )

    @read_arguments
    def finding(self, name: str | Quantity, row: int | None = None) -> Finding:
        """Return one cell, or a measurement of all rows together.

        Parameters
        ----------
        name : str or Quantity
        row : int, optional
            Optional for a table of one row, and for a quantity of the summary.

        Raises
        ------
        InputError
            If the quantity or row does not exist, or the row was not measured.
        """
        if self.summary is not None and name not in self and name in self.summary:
            return self.summary.finding(name)
        column = self[name]
        if row is None and len(self) != 1:
            raise InputError(f"expected a row from 0 to {len(self) - 1}, got none: name one, or ask for the median")
        row = read_position(row or 0, "row", len(self), "rows")
        if self.status[row] is not Status.DONE:
            raise InputError(f"expected a row that was measured, got row {row}, which is {self.status[row]}")
        keys = ", ".join(f"{key} {table[row]}" for key, table in self.keys.items())
        value, lower, upper = (float(part[row]) for part in (column.value, column.lower, column.upper))
        cell = Ends(value, lower, upper, column.confidence == 1)
        return self._finding(
            column,
            cell,
            float(column.scale[row]),
            name=column.title,
            where=keys,
            what=column.definition,
            num_samples=self.num_samples,
        )

    @read_arguments
    def median(self, name: str | Quantity) -> Finding:
        """Return the median of a quantity over the rows that have it."""
        return self.quantile(name, 0.5)

    @read_arguments
    def quantile(self, name: str | Quantity, level: Share) -> Finding:
        """Return a quantile of a quantity over the rows that have it; between two neighbours by interpolation."""
        said = "median" if level == 0.5 else f"{level:g} quantile"

        def ask(values: np.ndarray, lower: np.ndarray, upper: np.ndarray, population: int) -> Ends:
            return quantile(values, lower, upper, level, population)

        return self._over_rows(name, said, ask)

    @read_arguments
    def mean(self, name: str | Quantity) -> Finding:
        """Return the mean of a quantity over the rows that have it."""
        quantity = self[name].quantity

        def ask(values: np.ndarray, lower: np.ndarray, upper: np.ndarray, population: int) -> Ends:
            return mean(values, lower, upper, population, quantity.least, quantity.most)

        return self._over_rows(name, "mean", ask)

    @read_arguments
    def total(self, name: str | Quantity) -> Finding:
        """Return the sum of a quantity over the rows that have it.

        Raises
        ------
        InputError
            If the rows were drawn from more.
        """
        if self.population is not None and self.population > len(self):
            raise InputError("expected all rows, got some that were drawn from more: ask for the mean")
        if not len(self):
            column = self[name]
            what = f"sum over no {self._things} of: {column.definition}"
            return self._finding(column, Ends(0.0, 0.0, 0.0), 0.0, name=f"sum of {column.title}", where="", what=what)
        return self._over_rows(name, "sum of", total)

    @read_arguments
    def share(self, name: str | Quantity) -> Finding:
        """Return the share of rows for which a truth holds, among those for which it is defined.

        Raises
        ------
        InputError
            If the quantity is no truth.
        """
        if self[name].quantity.kind is not Kind.TRUTH:
            raise InputError(f"expected a quantity that is true or not, got {name}: ask for its mean or median")
        return self._over_rows(name, "share", share)

    @read_arguments
    def share_exact(self, name: str | Quantity) -> Finding:
        """Return the share of these rows at which a quantity is EXACT; rows that were not reached are not."""
        column = self[name]
        number = int(column.is_exact.sum())
        return Finding.of(
            number / len(self),
            name=f"share of exact {column.title}",
            definition=f"share of rows whose claim is EXACT, {number:,} of {len(self):,}, of: {column.definition}",
            domain=", ".join(part for part in (f"{len(self):,} {self._things}", self.domain) if part),
            num_samples=len(self),
            method=column.method,
            source=column.quantity.source,
            is_share=True,
        )

    @property
    def _things(self) -> str:
        return "samples" if len(np.unique(self.keys.get("sample", []))) == len(self) else "rows"

    def _over_rows(self, name: str | Quantity, said: str, ask: Callable[..., Ends]) -> Finding:
        column = self[name]
        quantity = column.quantity
        defined = self.is_done & ~np.isnan(column.value)
        missing = np.array([status is Status.NOT_REACHED for status in self.status], dtype=bool)
        parts = [part[defined] for part in (column.value, column.lower, column.upper)]
        number, population = int(defined.sum()), self.population
        if not number:
            raise InputError(f"expected some row with {quantity.title}, got none: ask for others, or with more time")
        if population is None and missing.any():
            # What was not reached may be anything that the quantity can be.
            ends = float(np.median(parts[0])), quantity.least, quantity.most
            parts = [np.append(part, np.full(int(missing.sum()), end)) for part, end in zip(parts, ends, strict=True)]
        rows = len(parts[0])
        # Rows that were looked at and have no such quantity are not missing.
        drawn = population is not None and population > len(self) - int(missing.sum())
        cell = ask(*parts, population if drawn else rows)
        scale = 1.0 if quantity.is_discrete else float(np.median(column.scale[defined]))
        lower, upper = cell.lower, cell.upper
        nothing_known = cell.is_certain and (lower, upper) == (-np.inf, np.inf)
        if said != "sum of" and not nothing_known:
            lower, upper = max(lower, quantity.least), min(upper, quantity.most)
        is_certain = cell.is_certain and column.confidence == 1
        cell = at_an_end(Ends(cell.value, lower, upper, is_certain), float(largest_error(cell.value, scale)))
        where = f"{number:,} of {population:,} {self._things}" if drawn else f"{rows:,} {self._things}"
        # What all rows have in common, as one layer.
        same = [
            f"{key} {table[0]}" for key, table in self.keys.items() if key != "sample" and (table == table[0]).all()
        ]
        where = ", ".join([where, *same])
        return self._finding(
            column,
            cell,
            scale,
            name=f"{said} {column.title}" if said != "share" else column.title,
            where=where,
            what=f"{said} over {where} of: {column.definition}",
            # Each by itself: what they say together has no probability that is known.
            certainty="" if column.confidence == 1 else f"; from ends that hold with {column.confidence:.0%} each",
            is_share=said == "share",
            num_samples=number if drawn else rows,
        )

    def _finding(
        self,
        column: Column,
        cell: Ends,
        scale: float,
        *,
        name: str,
        where: str,
        what: str,
        certainty: str = "",
        is_share: bool = False,
        num_samples: int | None = None,
    ) -> Finding:
        quantity = column.quantity
        value, lower, upper = cell.value, cell.lower, cell.upper
        ends = (value, lower, upper)
        if quantity.is_discrete and not is_share and all(np.isinf(end) or float(end).is_integer() for end in ends):
            value, lower, upper = (int(end) if np.isfinite(end) else end for end in ends)
        if not certainty and not cell.is_certain:
            certainty = f"; the ends hold with a probability of {CONFIDENCE:.0%}"
        fields: dict[str, Any] = {
            "name": name,
            "definition": what + certainty,
            "domain": ", ".join(part for part in (where, self.domain) if part),
            "method": column.method,
            "source": quantity.source,
            "work": {"seconds": self.seconds} if self.seconds else {},
            "is_share": is_share or quantity.kind is Kind.SHARE,
            "unit": quantity.unit,
            "num_samples": num_samples,
        }
        if cell.is_certain:
            return Finding.of(value, lower, upper, scale=scale, **fields)
        return Finding.estimate(value, (lower, upper), **fields)


def _read(plain: Mapping[str, Any]) -> Findings:
    """Return the table that was written as plain types; see `reading` for what ends badly."""
    status = tuple(Status(entry) for entry in plain["status"])
    columns = {}
    for name, entry in reading.table_columns(plain).items():
        fields = reading.column_fields(name, entry, len(status))
        claims = fields.pop("claims")
        column = columns[name] = Column.of(**fields)
        follow = tuple(
            None if np.isnan(value) else claim for value, claim in zip(column.value, column.claims, strict=True)
        )
        if claims != follow:
            raise ValueError(f"claims of {name} do not follow from its ends")
    counts = {
        name: reading.at_least(reading.whole(plain[name]), 0)
        for name in ("population", "samples")
        if plain.get(name) is not None
    }
    return Findings(
        columns,
        reading.keys(plain["keys"], len(status)),
        status,
        domain=reading.text(plain.get("domain", "")),
        population=counts.get("population"),
        num_samples=counts.get("samples"),
        stop=reading.stop(plain),
        seconds=reading.at_least(reading.number(plain["seconds"]), 0),
        summary=_read(plain["summary"]) if "summary" in plain else None,
        notes=tuple(map(reading.text, plain.get("notes", ()))),
    )
