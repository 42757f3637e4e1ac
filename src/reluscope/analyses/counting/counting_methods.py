"""`count`: how many linear regions a network has on a domain, under any of the six definitions."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import NamedTuple, overload

from numpy.typing import ArrayLike

from reluscope.analyses.counting.by_cells import count_by_cells
from reluscope.analyses.counting.by_mip import count_by_mip
from reluscope.analyses.counting.by_partition import count_by_partition
from reluscope.analyses.counting.by_probes import count_by_probes
from reluscope.analyses.counting.by_rational_tree import count_by_rational_tree
from reluscope.analyses.counting.by_tree import count_by_tree
from reluscope.analyses.counting.counted import Counted
from reluscope.analyses.counting.definitions import Definition, find_definition
from reluscope.analyses.counting.several_networks import count_each
from reluscope.arguments import holds_across_jumps, read_arguments, read_option, refuse_jumps
from reluscope.budget import RegionBudget
from reluscope.effort import Effort
from reluscope.errors import InputError
from reluscope.findings import Finding, Findings
from reluscope.geometry.polyhedra.domains import Domain
from reluscope.networks.evaluation.choices import read_domain
from reluscope.networks.models.stacked_networks import Networks, StackedNetworks
from reluscope.networks.network import Network
from reluscope.partitions.ask.engine_choice import chooses_tree
from reluscope.partitions.cells.cellwise import supports
from reluscope.progress import Progress
from reluscope.tolerance import Tolerance

# With more dimensions, regions have so many vertices that linear programs are faster.
MAX_DIMENSIONS_BY_VERTICES, MAX_DIMENSIONS_WITH_MAX_GATES = 6, 3


@overload
def count(
    network: Network,
    domain: Domain,
    *,
    definition: str = ...,
    method: str = ...,
    budget: RegionBudget | None = ...,
    executor: Executor | None = ...,
    progress: Progress = ...,
    tolerance: Tolerance | None = ...,
    checkpoint: str | os.PathLike[str] | None = ...,
    certify: bool = ...,
) -> Finding: ...


@overload
def count(
    network: Sequence[Network] | Sequence[tuple[ArrayLike, ArrayLike]],
    domain: Domain,
    *,
    definition: str = ...,
    method: str = ...,
    budget: RegionBudget | None = ...,
    executor: Executor | None = ...,
    progress: Progress = ...,
    tolerance: Tolerance | None = ...,
    checkpoint: None = ...,
    certify: bool = ...,
) -> Findings: ...


@read_arguments
@holds_across_jumps
def count(
    network: Networks,
    domain: Domain,
    *,
    definition: str = "proper_activation",
    method: str = "auto",
    budget: RegionBudget | None = None,
    executor: Executor | None = None,
    progress: Progress = False,
    tolerance: Tolerance | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    certify: bool = False,
) -> Finding | Findings:
    """Return the number of linear regions of a network on a domain, or of each of several networks.

    Parameters
    ----------
    network : Network, list of Network, or stacked layers
        Stacked layers are pairs of weights (k, u, m) and biases (k, u) of k networks with ReLU between them. Small
        networks of one shape are counted together: some thousands a second.
    domain : Box, Space, Polyhedron or Slice
    definition : str
        Definition of a region. For every network and domain each count is at most the one before:

        - ``"activation"``: a set of points with one code, also one without interior (R1);
        - ``"proper_activation"``: a set of points with one code, with an interior (R2);
        - ``"convex"``: a cell of the smallest polyhedral complex on whose cells the function is affine (R3);
        - ``"open_connected"``: a largest open connected set on which the function is affine (R4);
        - ``"closed_connected"``: a largest closed connected set with interior on which it is affine (R5);
        - ``"affine"``: one affine map that the function has on a set with interior (R6).
    method : {"auto", "cells", "partition", "tree", "mip", "probes"}
        "cells" takes cells through all gates, counts proper activation regions of a bounded domain, and keeps none.
        "partition" computes all regions with their vertices and counts under every definition. "tree" needs no
        vertices; it counts proper activation regions in any dimension, and activation regions in rational
        arithmetic. "mip" solves one mixed-integer program per activation region, as in ``serra2018``. Its count is
        LOWER: that no region is missing rests on a floating-point solver. "probes" follows random paths of the tree
        for some seconds and estimates the number of proper activation regions, however large. "auto" takes the
        fastest method that proves its count; `Finding.method` names it.
    budget : Budget, optional
        Regions or seconds after which to stop. Ctrl-C also keeps the regions found. The claim is then LOWER.
        Without limits, a count that would not end (more than 10^9 regions, by probes) stops after some seconds,
        unless a checkpoint keeps it.
    executor : concurrent.futures.Executor, optional
        Runs independent parts of the work of cells, a partition or a tree.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.
    tolerance : Tolerance, optional
        Tolerance of a partition. Without one, definitions other than proper activation are counted on bounded lines
        and planes in rational arithmetic, at resolution 0.
    checkpoint : path, optional
        Folder that keeps what parts of the work have counted, by cells or by the tree; a count of proper activation
        regions continues from an existing folder.
    certify : bool
        Count in rational arithmetic: under every definition on bounded lines and planes, proper activation regions
        on any domain of few dimensions, activation regions everywhere.

    Returns
    -------
    Finding, or Findings with a row for each of several networks
        EXACT; by probes ESTIMATE; or LOWER with an interval in these cases: the computation stopped early or left
        something undecided; convex regions of planes where merging cells does not reach the lower bound; convex and
        closed connected regions in more than two dimensions, where the neighbouring definitions bound them;
        mixed-integer programs. `Finding.stopped` gives the reason for an early stop.

    Raises
    ------
    InputError
        If the definition or the method is unknown, or the method does not count under the definition or on the
        domain.
    ShapeError
        If the domain has another dimension than the input.
    DegenerateGeometryError
        If the domain is empty or flat.

    Notes
    -----
    Definitions follow ``stargalla2025``. Activation regions that touch the domain only in its boundary count: zero
    sets of measure zero do.

    Examples
    --------
    The absolute value has two regions under every definition but one: at 0, neither of its units is active.

    >>> import reluscope as rs
    >>> net = rs.load([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> print(rs.count(net, rs.Box(-1, 1, 1)))
    2 (EXACT)
    >>> rs.count(net, rs.Box(-1, 1, 1), definition="activation").definition
    'activation regions (lower-dimensional ones included)'
    >>> print(rs.count(net, rs.Space(1), definition="activation"))
    3 (EXACT)

    Two networks at once, of which the second one has its kink elsewhere:

    >>> two = [([[[1.0]], [[1.0]]], [[0.0], [9.0]]), ([[[1.0]], [[1.0]]], [[0.0], [0.0]])]
    >>> print(rs.count(two, rs.Box(-1, 1, 1)))
    network  number of regions
    0                        2
    1                        1
    """
    effort = Effort.of(budget, executor, progress, tolerance)
    options = Options(tolerance is not None, checkpoint, certify)
    if not isinstance(network, Network):
        return _counted_each(network, domain, effort, definition, method, options)
    found = counted(network, domain, effort, definition, method, options)
    return replace(found.finding, stop=found.stop)


class Options(NamedTuple):
    """What some methods alone have a use for."""

    tolerance: bool = False  # whether one was given: numbers are floats then
    checkpoint: str | os.PathLike[str] | None = None
    certify: bool = False


def counted(
    network: Network, domain: Domain, effort: Effort, definition: str, method: str, options: Options
) -> Counted:
    """Count as `count` does, and say why the work stopped early."""
    kind = find_definition(definition)
    if kind.name != "proper_activation":
        refuse_jumps(f'count(definition="{kind.name}")', network)
    domain = read_domain(domain, network.num_inputs)
    method = read_option(method, "method", ("auto", *METHODS))
    question = _Question(network, domain, kind, effort, options)
    return METHODS[_choose(question) if method == "auto" else method](question)


@dataclass(frozen=True)
class _Question:
    """What is counted, and how far the work may go."""

    network: Network
    domain: Domain
    definition: Definition
    effort: Effort
    options: Options

    def require(self, method: str, counted: str, *unused: str) -> None:
        """Raise InputError if a method does not count under the definition, or has no use for an option."""
        if self.definition.name != counted:
            raise InputError(
                f'method="{method}" counts {counted} regions, got definition={self.definition.name!r}: leave method '
                f'out, or ask for definition="{counted}"'
            )
        self.refuse(method, *unused)

    def refuse(self, method: str, *unused: str) -> None:
        """Raise InputError if a method has no use for an option that was given."""
        for name in unused:
            if self.effort.executor if name == "executor" else getattr(self.options, name):
                raise InputError(f'method="{method}" takes no {name}: leave it out, or take another method')


def _choose(question: _Question) -> str:
    domain, options = question.domain, question.options
    most = MAX_DIMENSIONS_BY_VERTICES if supports(question.network) is None else MAX_DIMENSIONS_WITH_MAX_GATES
    by_tree = domain.dim > most or (
        domain.dim > 2 and not question.options.tolerance and chooses_tree(question.network, domain)
    )
    unbounded = not domain.is_bounded()
    in_floats = question.options.tolerance or question.effort.executor
    if question.definition.name == "activation" and (domain.dim > 2 or (unbounded and not in_floats)):
        return "tree"
    if question.definition.name == "proper_activation" and not options.certify and _is_for_cells(question, by_tree):
        return "cells"
    if options.checkpoint or (question.definition.name == "proper_activation" and by_tree and not options.certify):
        return "tree"
    return "partition"


def _is_for_cells(question: _Question, by_tree: bool) -> bool:
    """Whether cells are counted one by one: on planes shared faces are faster, unless the count is to be continued."""
    network, domain = question.network, question.domain
    is_covered = supports(network) is None and domain.is_bounded() and not by_tree
    return is_covered and (domain.dim > 2 or question.options.checkpoint is not None)


def _cells(question: _Question) -> Counted:
    question.require("cells", "proper_activation", "certify")
    return count_by_cells(question.network, question.domain, question.effort, checkpoint=question.options.checkpoint)


def _partition(question: _Question) -> Counted:
    question.refuse("partition", "checkpoint")
    return count_by_partition(
        question.network,
        question.domain,
        question.definition,
        question.effort,
        in_floats=question.options.tolerance,
        with_proof=question.options.certify,
    )


def _tree(question: _Question) -> Counted:
    if question.definition.name == "activation":
        question.refuse("tree", "tolerance", "executor", "checkpoint")
        return count_by_rational_tree(question.network, question.domain, question.effort)
    question.require("tree", "proper_activation", "tolerance", "certify")
    return count_by_tree(question.network, question.domain, question.effort, checkpoint=question.options.checkpoint)


def _mip(question: _Question) -> Counted:
    question.require("mip", "activation", "tolerance", "certify", "executor", "checkpoint")
    return count_by_mip(question.network, question.domain, question.effort)


def _probes(question: _Question) -> Counted:
    question.require("probes", "proper_activation", "certify", "executor", "checkpoint")
    return count_by_probes(question.network, question.domain, question.effort)


def _counted_each(
    networks: StackedNetworks | list[Network],
    domain: Domain,
    effort: Effort,
    definition: str,
    method: str,
    options: Options,
) -> Findings:
    """Count the regions of each of several networks, together where the question is the simplest one."""
    for name, value in (("checkpoint", options.checkpoint), ("budget of regions", effort.budget.regions)):
        if value is not None:
            raise InputError(f"a {name} is for the count of one network, got {len(networks)} networks: leave it out")
    kind = find_definition(definition)
    read_option(method, "method", ("auto", *METHODS))
    read_domain(domain, networks[0].num_inputs)
    is_simplest = kind.name == "proper_activation" and method in ("auto", "cells")
    return count_each(
        networks,
        domain,
        effort,
        lambda network, left: counted(network, domain, left, definition, method, options),
        together=is_simplest and not options.certify and effort.executor is None,
        given="" if kind.name == "proper_activation" else f"({kind.name})",
    )


METHODS: dict[str, Callable[[_Question], Counted]] = {
    "cells": _cells,
    "partition": _partition,
    "tree": _tree,
    "mip": _mip,
    "probes": _probes,
}
