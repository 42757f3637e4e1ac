"""Networks with a row of a region that rounding hides."""

import numpy as np

import reluscope as rs


def with_hidden_row(width, shown=slice(2)):
    """Return a network whose unit 0 of layer 1 changes at x = 1/2, with a slope below the rounding of its terms.

    Its units 1 and 2 are the inputs. Fractions decide about it up to a width of some 990.
    """
    eps = np.finfo(float).eps
    W, b, V, c = np.zeros((width, 2)), np.ones(width), np.zeros((width, width)), np.ones(width)
    W[:2, 0], b[:2] = (1, 1 + eps), 2
    V[0, :2], c[0] = (1, -1), eps / 2
    W[2:4], V[1, 2], V[2, 3] = np.eye(2), 1, 1
    b[2:4] = 2
    return rs.load([(W, b), (V, c), (np.eye(width)[shown], np.zeros(2))])
