"""Gates of several entries: maxima, and the k largest."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from reluscope.networks.graph.nodes import GateNode, Pointwise


@dataclass(frozen=True, eq=False, kw_only=True)
class TopK(Pointwise):
    """Units of which the k largest of each group have the value ``slopes[1] z + intercepts[1]``, others 0.

    A gate that jumps. Piece 1 is that of the largest, of equal members the lower ones first. There are no breakpoints
    of its own: the other members of the group decide.
    """

    groups: Tensor  # (g, n) ascending; every unit is in one group
    k: int  # less than n

    @property
    def num_pieces(self) -> int:
        """Two: not among the largest, and among them."""
        return 2

    @cached_property
    def is_continuous(self) -> bool:
        """No: where one unit overtakes another, both jump."""
        return False

    @property
    def num_rows(self) -> int:
        """Number of half-spaces of a code: in each group every member that is in against every one that is not."""
        return len(self.groups) * self.k * (self.groups.shape[1] - self.k)

    def apply(self, pre: Tensor) -> Tensor:
        """Return what the largest pass on, ``(s, *shape)``."""
        return self.select(pre, self.pieces(pre))

    def pieces(self, pre: Tensor) -> Tensor:
        """Return 1 for the largest members of each group and 0 for the others, ``(s, u)``."""
        order = pre[:, self.groups].argsort(dim=-1, descending=True, stable=True)[..., : self.k]
        chosen = self.groups.expand(len(pre), -1, -1).gather(-1, order)
        return torch.zeros(pre.shape, dtype=torch.uint8, device=pre.device).scatter_(1, chosen.flatten(1), 1)

    def pairs(self, pieces: Tensor) -> tuple[Tensor, Tensor]:
        """Return for every half-space of codes (s, u) the unit that is in, and the one that is not: (s, r) each."""
        grouped = pieces[:, self.groups]
        # A stable order by the piece has the members that are in before the others, each lowest first.
        order = self.groups.expand(len(pieces), -1, -1).gather(
            -1, grouped.argsort(dim=-1, descending=True, stable=True)
        )
        chosen, others = order[..., : self.k], order[..., self.k :]
        shape = (len(pieces), len(self.groups), self.k, others.shape[-1])
        return (part.expand(shape).flatten(1) for part in (chosen.unsqueeze(-1), others.unsqueeze(-2)))  # pyright: ignore[reportReturnType]

    def may_change(self, pre: Tensor, error: Tensor, *, ties: bool) -> Tensor:
        """Return which units ``(s, u)`` may be on the other piece, for all that errors tell; of exact ties if asked."""
        is_in = self.pieces(pre) == 1
        low, high = (table[:, self.groups] for table in (pre - error, pre + error))
        noise, inside = error[:, self.groups] > 0, is_in[:, self.groups]
        least = torch.where(inside, low, torch.inf).amin(-1, keepdim=True)
        most = torch.where(inside, -torch.inf, high).amax(-1, keepdim=True)
        meets = torch.where(inside, low == most, high == least)
        passes = torch.where(inside, low < most, high > least)
        is_rounded = (noise & torch.where(inside, low == least, high == most)).any(-1, keepdim=True)
        found = passes | (meets & (noise | is_rounded | ties))
        return torch.zeros_like(is_in).scatter_(1, self.groups.expand(len(pre), -1, -1).flatten(1), found.flatten(1))


@dataclass(frozen=True, eq=False, kw_only=True)
class Max(GateNode):
    """Units that return the largest of k entries of the input."""

    kind: str = "max"  # ``"max_pool"``, ``"maximum"`` or ``"amax"``
    index: Tensor  # (u, k) positions in the flattened input; -1 is padding

    @property
    def num_pieces(self) -> int:
        """Number of candidates of each unit, padding included."""
        return self.index.shape[1]

    @cached_property
    def padding(self) -> Tensor | None:
        """Mask ``(u, k)`` of padded candidates, or None where there are none."""
        mask = self.index < 0
        return mask if bool(mask.any()) else None

    def candidates(self, value: Tensor) -> Tensor:
        """Return the candidates ``(s, u, k)``, minus infinity where padded."""
        result = value.reshape(len(value), -1)[:, self.index.clamp_min(0)]
        return result if self.padding is None else result.masked_fill(self.padding, -torch.inf)

    def apply(self, pre: Tensor) -> Tensor:
        """Return the largest candidate of every unit, ``(s, *shape)``."""
        return pre.amax(dim=-1).reshape(-1, *self.shape)

    def pieces(self, pre: Tensor) -> Tensor:
        """Return the lowest position among the largest candidates, ``(s, u)``."""
        return pre.argmax(dim=-1).to(self.piece_dtype)

    def select(self, pre: Tensor, pieces: Tensor) -> Tensor:
        """Return the candidate at the given positions, ``(s, *shape)``."""
        return pre.gather(-1, pieces.long().unsqueeze(-1)).reshape(-1, *self.shape)

    def source(self, pieces: Tensor) -> Tensor:
        """Return which entry of the flattened input every unit takes on the given pieces, ``(s, u)``."""
        return self.index.expand(len(pieces), -1, -1).gather(-1, pieces.long().unsqueeze(-1)).squeeze(-1)
