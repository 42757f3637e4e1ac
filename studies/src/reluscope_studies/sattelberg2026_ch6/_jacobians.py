"""What networks look at, by their Jacobians: coefficients as images, first directions, outputs along them, spectra."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import reluscope as rs
from reluscope.studies import Picture
from reluscope_studies import plots
from reluscope_studies.labelled import Labelled
from reluscope_studies.sattelberg2026_images import summed
from reluscope_studies.summaries import summarized

# Nonzero singular values of dense networks, by section 6.4.
PAPERS_RANK = 128


@dataclass(frozen=True, eq=False)
class Looked:
    """A network and what its Jacobians at test images say.

    Parameters
    ----------
    name : str
    network : Network
    subspaces : ActiveSubspaces
    along : tuple of OutputAlong
        Of the outputs that are not constant, over positions along their first directions.
    """

    name: str
    network: rs.Network
    subspaces: rs.sensitivity.ActiveSubspaces
    along: tuple[rs.sensitivity.OutputAlong, ...]

    def of_directions(self) -> Iterator[rs.Finding]:
        """Yield medians over outputs of what the first directions explain."""
        shares = [self.subspaces.share(j) for j in range(len(self.subspaces))]
        explained = [along.explained() for along in self.along]
        for name, found in (
            ("share of the first direction", shares),
            ("variance explained along the first direction", explained),
        ):
            if found:
                yield summarized(found, "median", name=f"{name}, {self.name}", over="outputs")


def look(name: str, network: rs.Network, asked: Labelled, *, lines: int | None = 0) -> Looked:
    """Return the active subspaces of a network on test images, and its outputs along the first directions.

    Parameters
    ----------
    name : str
    network : Network
    asked : Labelled
    lines : int, optional
        How many outputs are followed on the line through the mean image, too; None for all.
    """
    subspaces = rs.sensitivity.active_subspaces(network, asked.points)
    along = tuple(
        rs.sensitivity.output_along(
            network, asked.points, subspaces.directions[j, 0], output=j, on_line=lines is None or j < lines
        )
        for j in range(network.num_outputs)
        if subspaces.directions[j, 0].any()
    )
    return Looked(name, network, subspaces, along)


def jacobian_pictures(
    name: str, shown: Sequence[Looked], testing: Labelled, *, papers_rank: int | None = None
) -> list[Picture]:
    """Return coefficients at an image, first directions, outputs along them, and eigenvalues, a row for each network.

    Parameters
    ----------
    name : str
        Before the names of pictures.
    shown : sequence of Looked
    testing : Labelled
        What was asked; coefficients are those at the first image of the first class.
    papers_rank : int, optional
        Nonzero singular values that the dissertation finds for networks of this size.
    """
    names = [one.name for one in shown]
    classes = [f"class {label}" for label in range(shown[0].network.num_outputs)]
    row = int(np.flatnonzero(testing.labels == testing.labels.min())[0])
    weights = np.stack([one.network.linearize(testing.points[row : row + 1]).weight[0].cpu().numpy() for one in shown])
    directions = np.stack([one.subspaces.directions[:, 0] for one in shown])
    of_images = {"shape": testing.shape[-2:], "rows": names, "columns": classes}
    eigenvalues = rs.plots.gradient_eigenvalues({one.name: one.subspaces for one in shown if one.network.gates})
    if papers_rank is not None:
        eigenvalues = plots.with_paper(eigenvalues, at=[papers_rank], said=f"dense networks have {papers_rank}")
    return [
        Picture(
            f"{name}-coefficients",
            rs.plots.coefficients(summed(weights, testing.shape), **of_images),
            f"Linear coefficients of every output at test image {row}, summed over channels; each network by its "
            "largest (Figure 6.3).",
        ),
        Picture(
            f"{name}-directions",
            rs.plots.coefficients(summed(directions, testing.shape), **of_images),
            "Directions along which every output varies most, summed over channels; each network by its largest "
            "(Figures 6.14 and 6.17).",
        ),
        Picture(
            f"{name}-along",
            rs.plots.outputs_along([list(one.along) for one in shown], rows=names, columns=classes),
            f"Outputs of these images over positions along these directions{_followed(shown)} (Figures 6.15 and 6.19, "
            "whose caption repeats that of 6.17).",
        ),
        Picture(
            f"{name}-eigenvalues",
            eigenvalues,
            "Eigenvalues of gradient products by their sum: medians over classes, with bands from the least to the "
            f"largest, at {len(testing):,} images, which are as many directions at most (Figures 6.16 and 6.18).",
        ),
    ]


def _followed(shown: Sequence[Looked]) -> str:
    """Return what a caption says about outputs on lines."""
    fewest, most = (
        choose(sum(len(along.line_positions) > 0 for along in one.along) for one in shown) for choose in (min, max)
    )
    if not most:
        return ""
    alone = "" if fewest == shown[0].network.num_outputs else f", of some networks for {fewest} of the outputs alone"
    return f", and the network on the line through the mean image{alone}"
