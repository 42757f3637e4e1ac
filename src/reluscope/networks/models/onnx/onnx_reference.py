"""The file itself as a function of points, by ONNX's reference evaluator in float64."""

import numpy as np
import torch
from torch import Tensor

from reluscope.errors import InputError, UnsupportedOperatorError
from reluscope.networks.models.onnx.onnx_evaluation import evaluator
from reluscope.networks.models.onnx.program import Program
from reluscope.networks.models.onnx.signature import Signature

# Relative to the largest output: by how much a graph may differ from the network.
_CLOSE = 1e-9
_TOGETHER = 7


class Reference:
    """A program evaluated point by point, or batch by batch where the file takes batches."""

    def __init__(self, program: Program, signature: Signature) -> None:
        self._program, self._signature = program, signature
        names = [program.input_name, *program.constants]
        try:
            self._evaluator = evaluator(
                [node for _, node in program.nodes], names, [program.output_name], program.opset
            )
        except Exception as error:
            raise UnsupportedOperatorError(
                f"expected operators that ONNX's reference evaluator knows, to check the network against, but: {error}"
            ) from error
        self._takes_batches = self._check_batch()

    @property
    def batch(self) -> int | None:
        """The batch size that the file insists on, None if any will do."""
        return self._signature.fixed_batch if self._takes_batches else None

    def __call__(self, x: Tensor) -> Tensor:
        """Return the outputs ``(s, ...)`` at points ``(s, *input_shape)``."""
        points = x.detach().cpu().numpy().astype(np.float64)
        try:
            if self._takes_batches:
                return torch.from_numpy(self._run(points))
            shape = self._signature.tensor_shape
            return torch.from_numpy(np.stack([self._run(point.reshape(shape)).reshape(-1) for point in points]))
        except Exception as error:
            raise UnsupportedOperatorError(
                f"expected a file that ONNX's reference evaluator can run, to check the network against, but: {error}"
            ) from error

    def _run(self, tensor: np.ndarray) -> np.ndarray:
        feeds = {**self._program.constants, self._program.input_name: tensor}
        (found,) = self._evaluator.run(None, feeds)  # pyright: ignore[reportAssignmentType]
        return np.array(found, dtype=np.float64)

    def _check_batch(self) -> bool:
        """Return whether the file takes several points at once; that it does not mix them is checked.

        Raises UnsupportedOperatorError if outputs of a point depend on the other points of the batch.
        """
        fixed = self._signature.fixed_batch
        if not self._signature.has_batch or fixed == 1:
            return False
        size = fixed or _TOGETHER
        points = np.random.default_rng(0).normal(size=(size, *self._signature.tensor_shape[1:]))
        try:
            together = self._run(points)
        except Exception as error:
            if fixed:
                raise InputError(f"expected a file that runs on its batch of {fixed}, but it fails: {error}") from error
            return False
        if together.shape[:1] != (size,):
            return False
        for row in range(min(size, _TOGETHER)):
            try:
                alone = self._run(np.repeat(points[row : row + 1], fixed or 1, axis=0))
            except Exception:
                return True  # some files insist on several points, which is no contradiction
            alone = (alone[row] if fixed else alone).reshape(-1)
            expected = together[row].reshape(-1)
            scale = 1.0 + np.abs(expected).max(initial=0.0)
            if alone.shape != expected.shape or not np.abs(alone - expected).max(initial=0.0) <= _CLOSE * scale:
                raise UnsupportedOperatorError(
                    "expected a model that treats the points of a batch one by one, but this file mixes them: export "
                    "it with a batch axis that its operators leave alone, or with a batch of 1"
                )
        return True
