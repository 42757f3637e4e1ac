"""How strongly a classifier answers to its input: norms of the Jacobians of its probabilities and of its logits.

With the logits' Jacobian J and the probabilities p = softmax(z), the probabilities have the Jacobian
``(diag(p) - p p') J``. Its Frobenius norm at test points goes with the generalisation of a network, see [novak2018]_:
it is small where the network is sure, however steep the logits are.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float

from reluscope.analyses.coefficients.matrices import MEMORY, matrix
from reluscope.analyses.coefficients.rounding import map_rounding
from reluscope.analyses.medians import median_finding
from reluscope.arguments import Count, read_arguments
from reluscope.errors import InputError
from reluscope.findings import Claim, Finding
from reluscope.networks.network import Network
from reluscope.networks.points import Points
from reluscope.networks.rounded_forward import rounded_forward
from reluscope.tolerance import Tolerance

EPSILON = float(np.finfo(np.float64).eps)
Which = Literal["probabilities", "logits"]
METHOD = "Frobenius norm of the Jacobian of the {}, from exact local maps"


@dataclass(frozen=True, eq=False)
class JacobianNorms:
    """Frobenius norms of Jacobians at samples.

    Parameters
    ----------
    probabilities, logits : (s,) float64
    errors : (s, 2) float64
        Bounds on what rounding changes in them.
    num_in_doubt : int
        Samples whose code rounding could change, and with it the map.
    """

    probabilities: Float[np.ndarray, " s"]
    logits: Float[np.ndarray, " s"]
    errors: Float[np.ndarray, "s 2"]
    num_in_doubt: int

    def __len__(self) -> int:
        return len(self.logits)

    @read_arguments
    def mean(self, of: Which = "probabilities") -> Finding:
        """Return the mean norm over the samples: EXACT within the bound on rounding, if no code is in doubt."""
        values, errors = self._of(of)
        return Finding(
            float(values.mean()),
            Claim.ESTIMATE if self.num_in_doubt else Claim.EXACT,
            name=f"mean Jacobian norm of the {of}",
            definition=f"mean over {len(self):,} samples of the Frobenius norm of the Jacobian of the {of}",
            domain=f"{len(self):,} samples",
            method=METHOD.format(of),
            source="novak2018",
            tolerance=float(errors.mean()) + 16 * EPSILON * float(values.mean()),
            num_undecided=self.num_in_doubt,
        )

    @read_arguments
    def median(self, of: Which = "probabilities") -> Finding:
        """Return the median norm over the samples: EXACT within the bound on rounding, if no code is in doubt."""
        values, errors = self._of(of)
        found = median_finding(
            values,
            len(self),
            what=f"the Frobenius norm of the Jacobian of the {of}",
            tolerance=float(errors.max()),
            name=f"median Jacobian norm of the {of}",
            method=METHOD.format(of),
            source="novak2018",
        )
        if not self.num_in_doubt:
            return found
        return replace(found, claim=Claim.ESTIMATE, num_undecided=self.num_in_doubt)

    def _of(self, which: Which) -> tuple[np.ndarray, np.ndarray]:
        if which not in ("probabilities", "logits"):
            raise InputError(f'expected "probabilities" or "logits", got {which!r}')
        return (self.probabilities, self.errors[:, 0]) if which == "probabilities" else (self.logits, self.errors[:, 1])


@read_arguments
def jacobian_norms(
    network: Network,
    x: Points,
    *,
    memory: Count = MEMORY,
    tolerance: Tolerance | None = None,
    progress: bool = False,
) -> JacobianNorms:
    """Return the Frobenius norms of the Jacobians of the probabilities and of the logits, at samples.

    Parameters
    ----------
    network : Network
        Its outputs are logits; a single output z stands for the logits 0 and z.
    x : (s, *input_shape) or (s, n)
        Gradients are those of the codes that samples have in float64.
    memory : int
        Bytes for Jacobians and the work on them.
    tolerance : Tolerance, optional
        Its safety factor for rounding.
    progress : bool

    Returns
    -------
    JacobianNorms

    Notes
    -----
    One pass over the coefficient matrices and three forward passes. Norms of the logits are those of
    `reluscope.coefficients.local_norms`, which has spectral norms beside them.

    References
    ----------
    .. [novak2018] Novak et al., "Sensitivity and generalization in neural networks: an empirical study", 2018.

    Examples
    --------
    >>> import reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.array([[3.0, 0.0], [-1.0, 0.0]]), np.array([0.0, 0.0]))])
    >>> found = rs.sensitivity.jacobian_norms(net, [[1e-12, 1.0], [9.0, 1.0]])  # undecided, and sure
    >>> found.logits.round(6), found.probabilities.round(6)
    (array([3.162278, 3.162278]), array([1.414214, 0.      ]))
    """
    matrices = matrix(network, x, memory=memory, progress=progress)
    forward = rounded_forward(network, matrices.inputs, tolerance=tolerance)
    is_single = network.num_outputs == 1
    outputs = torch.as_tensor(forward.outputs, device=network.device)
    if is_single:
        outputs = torch.cat([torch.zeros_like(outputs), outputs], dim=1)
    share = torch.softmax(outputs, dim=1)
    columns: list[torch.Tensor] = []
    for rows, values in matrices.blocks():
        gradients = values[..., :-1].movedim(0, 1)
        if is_single:
            gradients = torch.cat([torch.zeros_like(gradients), gradients], dim=1)
        own = share[rows][..., None]
        # p_j (g_j - sum_k p_k g_k): for p_j near 1 the difference cancels, within the bound below.
        through = own * (gradients - (own * gradients).sum(1, keepdim=True))
        columns.append(torch.stack([torch.linalg.vector_norm(one, dim=(1, 2)) for one in (through, gradients)], dim=1))
    norms = torch.cat(columns).cpu().numpy()
    delta = map_rounding(network, tolerance or Tolerance())
    # softmax moves by at most half of what its logits move, and diag(p) - p p' by three times what p moves.
    moved = np.linalg.norm(forward.errors, axis=1) / 2 + 16 * EPSILON
    errors = np.stack([delta / 2 + 3 * moved * (norms[:, 1] + delta), np.full(len(norms), delta)], axis=1)
    return JacobianNorms(norms[:, 0], norms[:, 1], errors, int(forward.doubtful.any(axis=1).sum()))
