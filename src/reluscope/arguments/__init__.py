"""Readers of arguments: one function for each kind, which refuses with one sentence what does not fit.

The annotations of a public function say what it takes, and `read_arguments` reads each argument by them: numbers by
`read_number`, whole numbers by `read_whole`, strings from a fixed set by `read_option`, arrays by `read_array`. What
depends on other arguments (labels for so many classes, a gate of a network) is read in the function's first lines.
"""

from reluscope.arguments.annotations import Also, ForEach
from reluscope.arguments.argument_sentences import describe
from reluscope.arguments.arrays import read_array, read_coordinates, read_labels, read_point
from reluscope.arguments.jumping import holds_across_jumps, refuse_jumps
from reluscope.arguments.number_arguments import (
    Count,
    Natural,
    NonNegative,
    Positive,
    Range,
    Seconds,
    Seed,
    Share,
    read_number,
    read_whole,
)
from reluscope.arguments.option_arguments import read_option
from reluscope.arguments.positions import read_axes, read_position, read_positions
from reluscope.arguments.reading import read_arguments, read_drawn

__all__ = [
    "Also",
    "Count",
    "ForEach",
    "Natural",
    "NonNegative",
    "Positive",
    "Range",
    "Seconds",
    "Seed",
    "Share",
    "describe",
    "holds_across_jumps",
    "read_arguments",
    "read_array",
    "read_axes",
    "read_coordinates",
    "read_drawn",
    "read_labels",
    "read_number",
    "read_option",
    "read_point",
    "read_position",
    "read_positions",
    "read_whole",
    "refuse_jumps",
]
