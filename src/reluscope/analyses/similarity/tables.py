"""Numbers of all pairs of networks: one table per metric, with the claim beside every number."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from reluscope.arguments import read_arguments, read_option, read_position
from reluscope.errors import InputError
from reluscope.findings import Finding


@dataclass(frozen=True, eq=False)
class PairTable:
    """One quantity of all ordered pairs of networks.

    Parameters
    ----------
    name, title : str
        As it is asked for, and as a reader would say it.
    networks : tuple of str
        Names of rows and of columns.
    findings : k tuples of k findings or None
        Row: the first network, or the one that is mapped from; column: the second, or mapped to. None where the
        quantity is not defined.
    is_symmetric : bool
        Whether rows and columns may be exchanged.
    grows_with_likeness : bool
        Whether more is more similar.
    """

    name: str
    title: str
    networks: tuple[str, ...]
    findings: tuple[tuple[Finding | None, ...], ...]
    is_symmetric: bool
    grows_with_likeness: bool

    @property
    def values(self) -> Float[np.ndarray, "k k"]:
        """The numbers alone, NaN where the quantity is not defined."""
        return np.array([[np.nan if one is None else float(one) for one in row] for row in self.findings])

    @read_arguments
    def __getitem__(self, pair: tuple[str | int, str | int]) -> Finding | None:
        first, second = (self._place(one) for one in pair)
        return self.findings[first][second]

    def _place(self, network: str | int) -> int:
        if isinstance(network, str):
            return self.networks.index(read_option(network, "the pair", self.networks))
        return read_position(network, "the pair", len(self.networks), "networks")


@dataclass(frozen=True, eq=False)
class Similarities:
    """How similar networks are.

    Parameters
    ----------
    networks : tuple of str
    tables : mapping
        `PairTable` by name: the metrics, those of features as ``features_cka`` and so on, and for mapped networks
        ``mapped_agreement`` (with the network that is mapped to), ``mapped_accuracy`` and ``drop``.
    accuracies : tuple of Finding, or None
        Of the networks themselves; None without labels.
    conditions : tuple of Finding, or None
        Condition numbers of the networks' coefficients; None if no maps were fitted.
    notes : tuple of str
        What a reader has to know.
    """

    networks: tuple[str, ...]
    tables: Mapping[str, PairTable]
    accuracies: tuple[Finding, ...] | None
    conditions: tuple[Finding, ...] | None
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.networks)

    @read_arguments
    def __getitem__(self, name: str) -> PairTable:
        if name not in self.tables:
            raise InputError(f"expected one of {', '.join(self.tables)}, got {name!r}")
        return self.tables[name]
