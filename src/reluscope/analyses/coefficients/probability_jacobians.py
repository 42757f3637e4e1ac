"""Norms of the Jacobians of the probabilities and of the logits of a classifier.

With the logits' Jacobian J and the probabilities p = softmax(z), the probabilities have the Jacobian
``(diag(p) - p p') J``. Its Frobenius norm at test points goes with the generalisation of a network (novak2018):
it is small where the network is sure, however steep the logits are.
"""

import numpy as np
import torch

from reluscope.analyses.coefficients.matrices import BLOCKS_IN_MEMORY, MEMORY, matrix
from reluscope.analyses.samples.measuring import Measured, measure
from reluscope.budget import Budget
from reluscope.effort import Effort
from reluscope.findings import Column, Findings, declare
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.networks.point_evaluation import Evaluation

EPSILON = float(np.finfo(np.float64).eps)
METHOD = "exact local maps, float64"
OF_PROBABILITIES = declare(
    "probability_jacobian_norm", "Frobenius norm of the Jacobian of the probabilities at the point", source="novak2018"
)
OF_LOGITS = declare(
    "logit_jacobian_norm", "Frobenius norm of the Jacobian of the logits at the point", source="novak2018"
)


def probability_norms(network: Network, x: Points, effort: Effort, population: int | None = None) -> Findings:
    """Return the Frobenius norms of the Jacobians of the probabilities and of the logits; see `local_norms`."""
    points = network.points(x)
    memory = effort.budget.memory_or(MEMORY)

    def ask(block: slice) -> Measured:
        return _measured(network.at(points[block], tolerance=effort.tolerance), memory)

    per_sample = 8 * BLOCKS_IN_MEMORY * network.num_outputs * (network.num_inputs + 1)
    return measure(len(points), ask, effort, population=population, bytes_per_sample=per_sample, memory=MEMORY)


def _measured(at: Evaluation, memory: int) -> Measured:
    network, forward = at.network, at.forward
    delta = np.linalg.norm(at.map_errors, axis=1)
    is_single = network.num_outputs == 1
    outputs = torch.as_tensor(forward.outputs, device=network.device)
    if is_single:
        outputs = torch.cat([torch.zeros_like(outputs), outputs], dim=1)
    share = torch.softmax(outputs, dim=1)
    parts: list[torch.Tensor] = []
    for rows, values in matrix(network, at.points, budget=Budget(memory=memory)).blocks():
        gradients = values[..., :-1].movedim(0, 1)
        if is_single:
            gradients = torch.cat([torch.zeros_like(gradients), gradients], dim=1)
        own = share[rows][..., None]
        # p_j (g_j - sum_k p_k g_k): for p_j near 1 the difference cancels, within the bound below.
        through = own * (gradients - (own * gradients).sum(1, keepdim=True))
        parts.append(torch.stack([torch.linalg.vector_norm(one, dim=(1, 2)) for one in (through, gradients)], dim=1))
    norms = torch.cat(parts).cpu().numpy()
    # softmax moves by at most half of what its logits move, and diag(p) - p p' by three times what p moves.
    moved = np.linalg.norm(forward.errors, axis=1) / 2 + 16 * EPSILON
    errors = np.stack([delta / 2 + 3 * moved * (norms[:, 1] + delta), delta], axis=1)
    errors += 16 * EPSILON * norms
    # Of another code than that in float64 nothing is known.
    errors[forward.doubtful.any(axis=1)] = np.inf
    return Measured(
        tuple(
            Column.of(
                quantity, value, np.maximum(value - error, 0.0), value + error, method="exact local maps, float64"
            )
            for quantity, value, error in zip((OF_PROBABILITIES, OF_LOGITS), norms.T, errors.T, strict=True)
        )
    )
