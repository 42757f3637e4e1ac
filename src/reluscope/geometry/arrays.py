"""Arrays as the geometry takes them, by the readers of `reluscope.arguments`."""

from reluscope.arguments.arrays import read_array as read_array
from reluscope.arguments.arrays import read_point as read_point
