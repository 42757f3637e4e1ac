"""A tropical rational function as a PyTorch module: one affine layer, maxima, differences."""

import torch
from torch import Tensor, nn

from reluscope.analyses.tropical.rational_function import TropicalRational
from reluscope.arguments import read_arguments
from reluscope.errors import InputError, ShapeError


class MaxDifference(nn.Module):
    """Outputs ``max(F x + f) - max(G x + g)``, in float64.

    Parameters
    ----------
    monomials : nn.Linear
        All affine functions, those of output 0 first, numerator before denominator.
    sizes : list of int
        How many of them each maximum takes.
    """

    def __init__(self, monomials: nn.Linear, sizes: list[int]) -> None:
        super().__init__()
        self.monomials = monomials
        self.sizes = sizes

    @read_arguments
    def forward(self, x: Tensor) -> Tensor:
        """Return the outputs (s, m) at points (s, n)."""
        if x.ndim != 2 or x.shape[1] != self.monomials.in_features:
            raise ShapeError(f"x must have shape (s, {self.monomials.in_features}), got {tuple(x.shape)}")
        groups = self.monomials(x).split(self.sizes, dim=1)
        tops = torch.cat([group.amax(dim=1, keepdim=True) for group in groups], dim=1)
        return tops[:, 0::2] - tops[:, 1::2]


@read_arguments
def to_module(function: TropicalRational, *, rounded: bool = False) -> MaxDifference:
    """Return a network that computes a tropical rational function.

    Parameters
    ----------
    function : TropicalRational
    rounded : bool
        Round coefficients that are not exact in float64 to the closest float64.

    Returns
    -------
    MaxDifference
        A module with one max gate per numerator and denominator; `reluscope.load` accepts it. Equal to the function
        in real arithmetic, unless rounded.

    Raises
    ------
    InputError
        If a coefficient is not a float64 and ``rounded`` is not given.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([([[1.0, 1.0], [1.0, 1.0]], [2.0, 0.0]), ([[1.0, -2.0]], [-1.0])])
    >>> again = rs.load(rs.tropical.to_module(rs.tropical.rational_form(net)))
    >>> again([[1.0, 1.0], [1.0, -1.0]]).flatten().tolist()
    [-1.0, 1.0]
    """
    pairs = zip(function.numerators, function.denominators, strict=True)
    polynomials = [polynomial for pair in pairs for polynomial in pair]
    rows = [monomial for polynomial in polynomials for monomial in polynomial.monomials]
    try:
        table = [[float(entry) for entry in row] for row in rows]
    except OverflowError as error:
        raise InputError("the coefficients must lie in the range of float64, and one is larger: rescale") from error
    inexact = sum(float(entry) != entry for row in rows for entry in row)
    if inexact and not rounded:
        raise InputError(
            f"expected coefficients that float64 holds exactly, and {inexact} of {len(rows) * len(rows[0])} are not: "
            "pass rounded=True, and the network will differ by rounding"
        )
    layer = nn.Linear(function.num_inputs, len(rows), dtype=torch.float64)
    values = torch.tensor(table, dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(values[:, :-1])
        layer.bias.copy_(values[:, -1])
    return MaxDifference(layer, list(map(len, polynomials)))
