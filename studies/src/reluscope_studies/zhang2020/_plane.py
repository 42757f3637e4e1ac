"""Networks of every kind on one plane, from several first weights: their regions, in a table and as statements.

The paper shows one network of each kind. What it says of them is decided by networks that begin with other weights, of
which those that begin with the same are compared: five of each kind, as fewer may differ by chance.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import reluscope as rs
from reluscope.studies import StatementVerdict, Table
from reluscope_studies.zhang2020._networks import Trained
from reluscope_studies.zhang2020._statements import more_regions, more_uniform

REPLICATES = {"small": 1, "full": 5}


@dataclass(frozen=True, eq=False)
class OnPlane:
    """Partitions of one plane by trained networks.

    Parameters
    ----------
    networks : list of Trained
        Of the first replicate first.
    partition : callable
        Takes a network and returns a Partition of the plane.
    """

    networks: list[Trained]
    partition: Callable[[rs.Network], rs.Partition]

    @cached_property
    def parts(self) -> list[rs.Partition]:
        """The plane as each network partitions it."""
        return [self.partition(one.network) for one in self.networks]

    @property
    def shown(self) -> dict[str, rs.Partition]:
        """The partitions by the first network of every kind."""
        every = zip(self.networks, self.parts, strict=True)
        return {one.variant.kind: part for one, part in every if not one.variant.replicate}

    @property
    def findings(self) -> tuple[rs.Finding, ...]:
        """Accuracies and numbers of regions."""
        return (*(one.accuracy for one in self.networks), *(part.finding() for part in self.parts))

    def table(self, caption: str, *, paper: str = "") -> Table:
        """Return accuracies, beside the paper's where it prints one, and numbers of regions."""
        said = {"paper": paper} if paper else {}
        rows = []
        for one, part in zip(self.networks, self.parts, strict=True):
            count, accuracy = part.finding(), f"{100 * float(one.accuracy):.1f} %"
            first = (one.variant.kind, str(one.variant.replicate + 1), accuracy, *said.values())
            rows.append((*first, str(one.epochs), f"{int(count):,}", str(count.claim)))
        columns = ("network", "first weights", "test accuracy", *said, "epochs", "regions", "claim")
        return Table(columns, tuple(rows), caption)

    def verdicts(self, place: str) -> Iterator[StatementVerdict]:
        """Yield what becomes of what the paper sees in its figure."""
        counts: dict[int, dict[str, rs.Finding]] = {}
        areas = {}
        for one, part in zip(self.networks, self.parts, strict=True):
            counts.setdefault(one.variant.replicate, {})[one.variant.kind] = part.finding()
            areas.setdefault(one.variant.replicate, {})[one.variant.kind] = part.volumes()
        if counts:
            yield more_regions(list(counts.values()), place)
            yield more_uniform(list(areas.values()), place)
