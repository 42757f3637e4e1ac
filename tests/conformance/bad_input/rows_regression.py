"""reluscope.regression."""

import numpy as np

from conformance.bad_input.calls import row
from conformance.bad_input.things import NET, X

ROWS = {"regression.fits": row(network=NET, x=X, targets=np.zeros((len(X), 2)), kinds={"targets": "matrix"})}
