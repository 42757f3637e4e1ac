"""What a model may do last without moving a class: a softmax, or an increasing function of each output.

It is not piecewise linear, and nothing follows it; the network ends before it, with a note, which says at what value of
the function the network's output is 0: there is the threshold of a class.
"""

# Of what has a value at 0 that does not depend on settings.
_AT_ZERO = {"sigmoid": "0.5", "log_sigmoid": "log 0.5", "tanh": "0"}


def note_of(name: str) -> str:
    """Return the note for what was left off.

    Examples
    --------
    >>> note_of("softmax")
    'A trailing softmax was left off.'
    >>> note_of("sigmoid")
    'A trailing sigmoid was left off: where it is 0.5, the output of the network is 0.'
    """
    left_off = f"A trailing {name} was left off"
    if name in _AT_ZERO:
        return f"{left_off}: where it is {_AT_ZERO[name]}, the output of the network is 0."
    return f"{left_off}."
