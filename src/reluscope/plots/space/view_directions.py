"""From where space is looked at: straight on, without perspective, so that what is parallel stays so."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from jaxtyping import Float

from reluscope.arguments import Positive, Range, read_arguments


@read_arguments
@dataclass(frozen=True)
class View:
    """A direction of view in space, and the scale of the drawing.

    Parameters
    ----------
    azimuth : float
        Degrees around the third axis: 0 is the view along the first axis, from its positive end.
    elevation : float
        Degrees above the plane of the first two axes, from -90 to 90.
    zoom : float
        Above 1 only the middle is drawn, larger.
    is_steady : bool
        Reserve the space that all other azimuths need, so that their pictures have one size.

    Examples
    --------
    >>> import reluscope as rs
    >>> rs.plots.View(azimuth=0, elevation=0).frame.round(12) + 0.0
    array([[0., 1., 0.],
           [0., 0., 1.],
           [1., 0., 0.]])
    """

    azimuth: Annotated[float, Range()] = -60.0
    elevation: Annotated[float, Range(least=-90, most=90)] = 24.0
    zoom: Positive = 1.0
    is_steady: bool = False

    @property
    def frame(self) -> Float[np.ndarray, "3 3"]:
        """Unit vectors to the right, upwards, and towards the viewer, as rows."""
        around, above = np.deg2rad([self.azimuth, self.elevation])
        right = np.array([-np.sin(around), np.cos(around), 0.0])
        towards = np.array([np.cos(around) * np.cos(above), np.sin(around) * np.cos(above), np.sin(above)])
        return np.stack([right, np.cross(towards, right), towards])

    @read_arguments
    def turned(self, degrees: Annotated[float, Range()]) -> "View":
        """Return the view from further around the third axis.

        Examples
        --------
        >>> import reluscope as rs
        >>> rs.plots.View().turned(90).azimuth
        30.0
        """
        return replace(self, azimuth=self.azimuth + degrees)
