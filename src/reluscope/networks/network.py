"""The network: a traced model as a graph of affine nodes and gates, in float64.

Every claim of the library is about this graph in real arithmetic with its float64 constants.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from torch import Tensor

from reluscope import markup
from reluscope.arguments import describe, read_arguments
from reluscope.budget import MemoryBudget
from reluscope.codes.packed import Codes
from reluscope.errors import InputError, ShapeError
from reluscope.networks.evaluation.choices import read_outputs
from reluscope.networks.evaluation.codes_at import CODES_BYTES, codes_at
from reluscope.networks.evaluation.decisions import read_decision, scores_network
from reluscope.networks.evaluation.linearize import linearize, unit_maps
from reluscope.networks.evaluation.products import jvp, local_operator, vjp
from reluscope.networks.graph.affine_maps import AffineMaps
from reluscope.networks.graph.nodes import Input, Node
from reluscope.networks.graph.operators.arrange import Reshape
from reluscope.networks.graph.operators.linear import Linear
from reluscope.networks.graph.points import Points, chunks
from reluscope.networks.passes.carry import carry, carry_to_output
from reluscope.networks.passes.network_graph import BUDGET, NetworkGraph
from reluscope.networks.passes.numbers import NUMBERS
from reluscope.tolerance import Tolerance

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

    from reluscope.findings import Findings
    from reluscope.networks.point_evaluation import Evaluation

# Bytes of affine maps, where nobody allows for more.
MAPS = 4 * 2**30
MAX_ROWS = 40


@dataclass(frozen=True, eq=False)
class Network(NetworkGraph):
    """A piecewise-linear function as a graph.

    Parameters
    ----------
    nodes : tuple of Node
        In topological order; the first is the input.
    output : int
        Position of the node whose value is the output.
    notes : tuple of str
        Remarks on how the model was converted to this graph.
    verification : Verification, optional
        The checks of the loaded network against the model.
    trace : Trace, optional
        Origin of the graph, for `with_parameters`. Not pickled.
    decision : {"largest", "smallest"} or float
        The class: the largest output, the smallest, or, for a single output, 1 where it is above a number (0 with
        "largest"). All results about classes follow it.
    left_off : LeftOff, optional
        The model's function after the output: a last softmax, or an increasing function such as a sigmoid. Numbers
        compared with outputs (properties, targets, levels, thresholds, values to be fitted) refer to the model's
        outputs; see `logits`.

    Examples
    --------
    >>> import numpy as np, reluscope as rs
    >>> net = rs.load([(np.eye(2), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))])
    >>> net([[1.0, -2.0]])
    tensor([[1.]], dtype=torch.float64)
    """

    @cached_property
    def scores(self) -> "Network":
        """The network whose largest output is the class: this one, unless its `decision` says otherwise."""
        return scores_network(self)

    @read_arguments
    def with_decision(self, decision: Any) -> "Network":
        """Return the network with another decision rule for its class.

        Parameters
        ----------
        decision : {"largest", "smallest"} or float
            See the parameters of the class. At a tie the lowest class wins under every rule. A number is compared with
            the model's output: after a sigmoid, 0.5 is 0 of the network's output, rounded to a float64 if necessary.

        Raises
        ------
        InputError
            If the rule is none of these, or does not match the number of outputs.

        Examples
        --------
        >>> import numpy as np, reluscope as rs
        >>> costs = rs.load([(np.eye(2), np.zeros(2))]).with_decision("smallest")
        >>> rs.classification.predicted_classes(costs, [[1.0, 3.0]])
        array([0])
        """
        return replace(self, decision=read_decision(decision, self.num_outputs, self.left_off))

    @read_arguments
    def __call__(self, x: Points) -> Tensor:
        """Evaluate the network.

        Parameters
        ----------
        x : (s, *input_shape) or (s, n)
            Points, or a single point.

        Returns
        -------
        (s, *output_shape) tensor
            In float64. Gradients flow back to ``x`` where it asks for them.
        """
        x = self.points(x)
        if x.requires_grad and torch.is_grad_enabled():
            return self._forward(x)
        with torch.no_grad():
            parts = [self._forward(x[rows]) for rows in chunks(len(x), self.bytes_per_point, BUDGET)]
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _forward(self, x: Tensor) -> Tensor:
        return carry_to_output(self, NUMBERS, x)

    @read_arguments
    @torch.no_grad()
    def preactivations(self, x: Points) -> list[Tensor]:
        """Return the pre-activations of all units, which determine their pieces.

        Parameters
        ----------
        x : (s, *input_shape) or (s, n)
            Points, or a single point.

        Returns
        -------
        list of tensors
            One per gate: ``(s, u)``, or ``(s, u, k)`` for max gates, with minus infinity at padding.
        """
        *found, _ = carry(self, NUMBERS, self.points(x))
        return found

    @read_arguments
    @torch.no_grad()
    def codes(self, x: Points, *, budget: MemoryBudget | None = None) -> Codes:
        """Return the piece of every unit at each point.

        Parameters
        ----------
        x : (s, *input_shape) or (s, n)
            Points, or a single point.
        budget : Budget, optional
            Memory for one chunk of points.

        Returns
        -------
        Codes
            One per point.

        Notes
        -----
        One forward pass. Memory holds the activations of one chunk at a time.
        """
        return codes_at(self, self.points(x), CODES_BYTES if budget is None else budget.memory_or(CODES_BYTES))

    @read_arguments
    def linearize(
        self, x: Points, *, outputs: Sequence[int] | None = None, budget: MemoryBudget | None = None
    ) -> AffineMaps:
        """Return the exact affine map of the network on the region of each point.

        Parameters
        ----------
        x : (s, *input_shape) or (s, n)
            Points, or a single point. At a tie the map is that of the point's code.
        outputs : sequence of int, optional
            Flattened outputs to return; all by default.
        budget : Budget, optional
            Memory for intermediate results. The maps may take another 4 GiB, or as much as the budget if that is more.

        Returns
        -------
        AffineMaps
            weight ``(s, m, n)`` and bias ``(s, m)`` on flattened inputs and outputs: ``f(z) = weight z + bias`` for
            all z in the region.

        Raises
        ------
        InputError
            If an output does not exist, or the maps exceed the allowed memory.

        Notes
        -----
        Costs about ``min(m, n)`` evaluations per point, batched: forward over inputs if ``n <= m``, else backward over
        outputs.

        Examples
        --------
        >>> import reluscope as rs
        >>> net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])  # the absolute value
        >>> net.linearize([[-3.0], [2.0]]).weight.flatten()
        tensor([-1.,  1.], dtype=torch.float64)
        """
        points, wanted = self.points(x), read_outputs(outputs, self.num_outputs)
        room = max(MAPS, 0 if budget is None else budget.memory_or(0))
        if (size := 8 * len(points) * len(wanted) * (self.num_inputs + 1)) > room:
            raise InputError(
                f"maps of {len(points):,} x {len(wanted):,} x {self.num_inputs:,} numbers take {size:,} bytes, and "
                f"{room:,} are allowed: choose points and outputs=, allow for more by budget=, or take net.jvp, "
                "net.vjp and net.local_operator, which make no table"
            )
        return linearize(self, points, outputs, BUDGET if budget is None else budget.memory_or(BUDGET))

    @read_arguments
    def jvp(self, x: Points, v: Points) -> Tensor:
        """Return ``W v``, W the linear part of the map at each point: the change of outputs for a step v.

        Parameters
        ----------
        x : (s, *input_shape) or (s, n)
        v : (s, *input_shape) or (s, n)
            A direction for each point; a single point or direction is used with all of the other argument.

        Returns
        -------
        (s, m) tensor

        Raises
        ------
        ShapeError
            If shapes do not match.

        Notes
        -----
        Two forward passes; W is not built.

        Examples
        --------
        >>> import reluscope as rs
        >>> net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])  # the absolute value
        >>> net.jvp([[-3.0], [2.0]], [[1.0]]).tolist(), net.vjp([[-3.0], [2.0]], [[10.0]]).tolist()
        ([[-1.0], [1.0]], [[-10.0], [10.0]])
        """
        return jvp(self, x, v)

    @read_arguments
    def vjp(self, x: Points, u: Points) -> Tensor:
        """Return ``u W``, W the linear part of the map at each point: the gradient of a sum of outputs.

        Parameters
        ----------
        x : (s, *input_shape) or (s, n)
        u : (s, m)
            Weights of the flattened outputs for each point; a single point or row of weights is used with all of the
            other argument.

        Returns
        -------
        (s, n) tensor

        Raises
        ------
        ShapeError
            If shapes do not match.

        Notes
        -----
        A forward and a backward pass; W is not built. At a kink the map is that of the point's code.
        """
        return vjp(self, x, u)

    @read_arguments
    def local_operator(self, x: Points) -> "LinearOperator":
        """Return the linear part W (m, n) on a point's region as a `scipy.sparse.linalg.LinearOperator`.

        Raises
        ------
        InputError
            If ``x`` is not exactly one point.

        Examples
        --------
        >>> import numpy as np, reluscope as rs
        >>> from scipy.sparse.linalg import svds
        >>> net = rs.load([(np.diag([3.0, 2.0, 1.0]), np.zeros(3)), (np.eye(3), np.zeros(3))])
        >>> svds(net.local_operator([1.0, 1.0, 1.0]), k=1, return_singular_vectors=False).round(6)
        array([3.])
        """
        return local_operator(self, x)

    @read_arguments
    def at(self, x: Points, *, tolerance: Tolerance | None = None) -> "Evaluation":
        """Return the evaluation of the network at points; each part is computed once, at first access.

        Parameters
        ----------
        x : (s, *input_shape) or (s, n)
            Points, or a single point.
        tolerance : Tolerance, optional
            Its ``rounding`` scales bounds on rounding.

        Returns
        -------
        Evaluation
            Codes, outputs, pre-activations, affine maps and half-spaces, with bounds on their rounding, and the
            certainty of each point's code.

        Examples
        --------
        >>> import reluscope as rs
        >>> net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])  # the absolute value
        >>> at = net.at([[-3.0], [2.0]])
        >>> at.outputs.ravel(), at.maps.weight.flatten(), bool((at.errors < 1e-13).all())
        (array([3., 2.]), tensor([-1.,  1.], dtype=torch.float64), True)
        """
        from reluscope.networks.point_evaluation import Evaluation

        return Evaluation(self, self.points(x), tolerance or Tolerance())

    @read_arguments
    def unit_maps(self, x: Points) -> list[tuple[Tensor, Tensor]]:
        """Return the pre-activations of every unit as affine maps on the region of each point.

        Parameters
        ----------
        x : (s, *input_shape) or (s, n)
            Points, or a single point.

        Returns
        -------
        list of (weight, bias)
            One per gate: weight ``(s, u, n)`` and bias ``(s, u)``; for max gates ``(s, u, k, n)`` and ``(s, u, k)``,
            where padded candidates have weight zero and bias minus infinity.

        Notes
        -----
        The result holds ``s * num_units * n`` numbers; the caller chooses the number of points in a call.
        """
        return unit_maps(self, x)

    @read_arguments
    def approximation_error(self, box: Any) -> "Findings":
        """Return bounds on the error of outputs caused by replacing the model's smooth functions by pieces.

        Parameters
        ----------
        box : Box, or Slice by one
            Box of inputs; where some have equal ends, a `Box` is a slice.

        Returns
        -------
        Findings
            ``approximation_error`` for each ``output``, UPPER for the whole box. Exactly 0 if nothing was replaced.
            Rounding of float64 is not included: see `Evaluation.errors`.

        Raises
        ------
        InputError
            If ``box`` is no box of the network's inputs.

        Notes
        -----
        Two forward passes. Each gate multiplies the incoming error by its largest slope on possible values, and adds
        its own bound. Errors add without cancellation: bounds for deep networks are far above the true error.

        Examples
        --------
        >>> import reluscope as rs
        >>> from torch import nn
        >>> net = rs.load(nn.Sequential(nn.Linear(2, 3), nn.GELU(), nn.Linear(3, 1)), approximate={"gelu": 32})
        >>> found = net.approximation_error(rs.Box(-1, 1, 2)).finding("approximation_error", 0)
        >>> str(found.claim), found.value < 0.01
        ('UPPER', True)
        """
        from reluscope.networks.approximation_error import approximation_error

        return approximation_error(self, box)

    @read_arguments
    def restrict(self, domain: Any) -> "Network":
        """Return the network as a function of a slice's coordinates, ``y -> f(origin + y @ basis)``.

        Parameters
        ----------
        domain : Slice
            Its ``origin`` is ``(n,)``, its ``basis`` ``(d, n)``.

        Raises
        ------
        ShapeError
            If the slice lies in a space of another dimension.
        """
        if not hasattr(domain, "basis") or not hasattr(domain, "origin"):
            raise InputError(f"domain must be a Slice, got {describe(domain)}: give a Segment or a Plane")
        basis = torch.as_tensor(np.array(domain.basis, dtype=np.float64), device=self.device)
        origin = torch.as_tensor(np.array(domain.origin, dtype=np.float64), device=self.device).reshape(-1)
        if basis.ndim != 2 or basis.shape[1] != self.num_inputs or len(origin) != self.num_inputs:
            raise ShapeError(
                f"expected a slice of the {self.num_inputs}-dimensional input space, got origin {tuple(origin.shape)} "
                f"and basis {tuple(basis.shape)}: build it from points of that size"
            )
        dim, size = basis.shape
        front: list[Node] = [
            Input(name="slice", shape=(dim,)),
            Linear(name="lift", inputs=(0,), shape=(size,), input_shapes=((dim,),), weight=basis.T, bias=origin),
        ]
        if self.input_shape != (size,):
            front.append(Reshape(name="input", inputs=(1,), shape=self.input_shape, input_shapes=((size,),)))
        shift = len(front) - 1
        moved = [replace(node, inputs=tuple(i + shift for i in node.inputs)) for node in self.nodes[1:]]
        nodes, output = (*front, *moved), self.output + shift
        return Network(nodes, output, self.notes, decision=self.decision, left_off=self.left_off)

    @read_arguments
    def with_parameters(self, state: Mapping[str, Any]) -> "Network":
        """Return the same trace with other weights, without tracing again.

        Parameters
        ----------
        state : mapping from name to tensor or array
            Parameters and buffers by their names in the state dict; omitted ones keep their values. Layers given as
            arrays are named ``0.weight``, ``0.bias``, ``1.weight`` and so on.

        Raises
        ------
        InputError
            If the network has no trace, a name is unknown, or a value is not finite.
        ShapeError
            If a value has another shape than the parameter.

        Notes
        -----
        Costs about as much as copying the weights. The result is not compared with the model: its ``verification`` is
        None.
        """
        if self.trace is None:
            raise InputError(
                "expected a network with its trace, got one without (unpickled or restricted): load the model again"
            )
        lowered = cast("Network", self.trace.lower(state).to(self.device))
        network = replace(lowered, decision=self.decision, left_off=self.left_off)
        return network if network.trace is not None else replace(network, trace=self.trace)

    def __repr__(self) -> str:
        gates = ", ".join(f"{gate.name}: {gate.num_units} {gate.kind}" for gate in self.gates)
        shapes = f"{self.input_shape} -> {self.output_shape}"
        return f"Network({shapes}, {self.num_units} units in {len(self.gates)} gates{': ' * bool(gates)}{gates})"

    def _repr_html_(self) -> str:
        """Return the network for a notebook: shapes, gates, how the load was checked, notes."""
        columns = ("", "gate", "kind", "shape", "units", "pieces of a unit")
        rows: list[tuple[object, ...]] = [
            (index + 1, gate.name, gate.kind, " × ".join(map(str, gate.shape)), gate.num_units, gate.num_pieces)
            for index, gate in enumerate(self.gates)
        ]
        if len(rows) > MAX_ROWS:
            rows[MAX_ROWS - 1 : -1] = [("", f"… {len(rows) - MAX_ROWS:,} more gates", "", "", "", "")]
        found = self.verification
        entries = [
            ("input", " × ".join(map(str, self.input_shape)) or "a number"),
            ("output", " × ".join(map(str, self.output_shape)) or "a number"),
            ("units", f"{self.num_units:,} in {len(self.gates):,} gate{'s' * (len(self.gates) != 1)}"),
            (
                "checked",
                f"against {found.reference} at {found.num_points:,} points, largest deviation "
                f"{found.largest_deviation:.2g}"
                if found
                else "not compared with a model",
            ),
            ("fingerprint", self.fingerprint[:12]),
        ]
        gates = markup.table(columns, rows) if rows else ""
        return markup.figure("Network", markup.terms(entries), gates, markup.notes(self.notes))
