"""A film of the regions of a plane through a training, from the weights that a tracker kept."""

from collections.abc import Iterator

from jaxtyping import Int
from matplotlib.animation import FuncAnimation
from numpy import ndarray

from reluscope.analyses.tracking.records import Records
from reluscope.arguments import Positive, read_drawn
from reluscope.budget import RegionBudgetForEach
from reluscope.geometry.polyhedra.domains import Box, Slice
from reluscope.networks.graph.points import Points
from reluscope.networks.network import Network
from reluscope.partitions.partition_in_memory import Partition
from reluscope.plots.planes.coefficient_scatter import Output
from reluscope.plots.planes.films import animation
from reluscope.plots.planes.frames import say_regions
from reluscope.progress import Progress


@read_drawn
def training_animation(
    records: Records,
    plane: Slice | Box,
    network: Network,
    *,
    output: Output = None,
    neighbors: bool = True,
    samples: Points | None = None,
    labels: Int[ndarray, " s"] | None = None,
    fps: Positive = 10.0,
    budget: RegionBudgetForEach | None = None,
    progress: Progress = False,
) -> FuncAnimation:
    """Return a film of a plane during training, with a frame for every record that holds weights.

    Parameters
    ----------
    records : Records
        Of a tracker with ``keep_weights=True``.
    plane : Slice or Box
        Any bounded plane; it may be chosen after the training.
    network : Network
        The trained model, or any other state of it.
    output, neighbors, samples, labels, fps
        As for `reluscope.plots.animation`.
    budget : Budget, optional
        Budget of each partition.
    progress : bool or callable
        Show progress; a function receives the share done, from 0 to 1.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        `reluscope.plots.save_animation` writes it to a file; ``to_jshtml()`` makes a player for a notebook.

    Raises
    ------
    InputError, ShapeError
        If the plane lies in another space, no record holds weights, or a file of weights is damaged or of another
        model.

    Examples
    --------
    >>> import numpy as np, tempfile, torch, reluscope as rs
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    >>> file = tempfile.mkdtemp() + "/run.parquet"
    >>> with rs.Tracker(model, np.eye(2), file, keep_weights=True) as tracker:
    ...     for epoch in range(2):
    ...         tracker.record(epoch=epoch)
    >>> film = rs.plots.training_animation(rs.tracking.read_records(file), rs.Box(-1, 1, 2), rs.load(model))
    >>> rs.plots.to_gif(film)[:6]
    b'GIF89a'
    """
    titles: list[str] = []
    epochs = records.epochs[list(records.has_weights)]

    def titled() -> Iterator[Partition]:
        # A title is asked for after its partition.
        for epoch, part in zip(
            epochs, records.partitions(plane, network, budget=budget, progress=progress), strict=True
        ):
            titles.append(f"epoch {epoch:g}: {say_regions(part)}")
            yield part

    def said() -> Iterator[str]:
        while titles:
            yield titles.pop()

    return animation(
        titled(), titles=said(), output=output, neighbors=neighbors, samples=samples, labels=labels, fps=fps
    )
