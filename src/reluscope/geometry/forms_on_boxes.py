"""Linear forms on a box and on its image under a linear map: compiled sums that are the same on every processor."""

from numba import njit, uint64


@njit(cache=True, forceinline=True)
def dot(a, b) -> float:
    """Return the inner product of two vectors, summed in eights in an order that is the same on every processor."""
    n, total = a.shape[0], 0.0
    eights = n >> 3
    for k in range(eights):
        # Unsigned indices need no test for negative ones, which count from the end.
        i = uint64(k) << uint64(3)
        first = a[i] * b[i] + a[i + uint64(4)] * b[i + uint64(4)]
        second = a[i + uint64(1)] * b[i + uint64(1)] + a[i + uint64(5)] * b[i + uint64(5)]
        third = a[i + uint64(2)] * b[i + uint64(2)] + a[i + uint64(6)] * b[i + uint64(6)]
        fourth = a[i + uint64(3)] * b[i + uint64(3)] + a[i + uint64(7)] * b[i + uint64(7)]
        total += (first + third) + (second + fourth)
    for i in range(eights << 3, n):
        total += a[i] * b[i]
    return total


@njit(cache=True)
def add_multiple(target, factor, source):
    """Add a multiple of one vector to another."""
    for i in range(target.shape[0]):
        target[i] += factor * source[i]


@njit(cache=True)
def pull_back(form, generators, out):
    """Write the coefficients of a form of z in terms of y."""
    if generators.shape[0] == 0:
        out[:] = form
        return
    out[:] = form[0] * generators[0]
    for k in range(1, form.shape[0]):
        if form[k] != 0.0:
            add_multiple(out, form[k], generators[k])


@njit(cache=True)
def image(generators, y, z):
    """Write ``z = G y``."""
    if generators.shape[0] == 0:
        z[:] = y
        return
    for k in range(z.shape[0]):
        z[k] = dot(generators[k], y)


@njit(cache=True)
def largest_on_box(full, lower, upper) -> float:
    """Return the largest value of a form of y over the box."""
    total = 0.0
    for j in range(full.shape[0]):
        total += max(full[j] * lower[j], full[j] * upper[j])
    return total


@njit(cache=True)
def noise_at(noise, slack, y) -> float:
    """Return the bound on the error of a form at a point: by coordinates on a cone, else that of the whole box."""
    if slack.shape[0] == 0:
        return noise
    total = 0.0
    for j in range(y.shape[0]):
        total += slack[j] * abs(y[j])
    return total
