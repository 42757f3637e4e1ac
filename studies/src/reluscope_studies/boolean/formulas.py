"""Formulas of Boolean variables x1, x2, ... as truth tables, read by a small parser; nothing is evaluated as Python.

From the loosest to the tightest: ``or |``, ``xor ^``, ``and &``, ``not ~ !``; constants ``0 1 false true``;
parentheses. Whole truth tables are combined at once, as the bits of one long integer.
"""

import re

from reluscope.errors import InputError

_TOKEN = re.compile(r"\s*(?:(?P<name>x[1-9]\d*)|(?P<word>[a-z]+|[01])(?![a-z0-9])|(?P<sign>[&|^~!()]))", re.IGNORECASE)
_SIGNS = {"and": "&", "or": "|", "xor": "^", "not": "~", "!": "~", "false": "0", "true": "1"}
_STRENGTH = {"|": 1, "^": 2, "&": 3, "~": 4}
_MAX_INPUTS = 16


def num_variables(text: str) -> int:
    """Return the largest k such that xk occurs in a formula, 0 if no variable does."""
    return max((int(token[1:]) for token in _tokens(text) if token[0] == "x"), default=0)


def truth_table(text: str, num_inputs: int) -> int:
    """Return the truth table of a formula as the bits of an integer.

    The all-zero input is the most significant bit. InputError if the text is no formula, or names a variable beyond the
    number of inputs.
    """
    size = 2**num_inputs
    everything = (1 << size) - 1
    values: list[int] = []
    waiting: list[str] = []

    def apply(operation: str) -> None:
        last = values.pop()
        if operation == "~":
            values.append(everything ^ last)
        else:
            first = values.pop()
            values.append(first & last if operation == "&" else first | last if operation == "|" else first ^ last)

    operand_next = True
    for token in _tokens(text):
        if operand_next != (token in "01~(" or token[0] == "x"):
            raise InputError(f"expected a formula such as 'x1 & ~(x2 ^ x3)', and {token!r} is out of place in {text!r}")
        if token in "~(":
            waiting.append(token)
        elif token == ")":
            while waiting and waiting[-1] != "(":
                apply(waiting.pop())
            if not waiting:
                raise InputError(f"expected as many opening as closing parentheses, and {text!r} closes one too many")
            waiting.pop()
        elif token in _STRENGTH:
            while waiting and waiting[-1] != "(" and _STRENGTH[waiting[-1]] >= _STRENGTH[token]:
                apply(waiting.pop())
            waiting.append(token)
            operand_next = True
        else:
            values.append((0, everything)[int(token)] if token in "01" else _variable(int(token[1:]), num_inputs))
            operand_next = False
    if operand_next:
        raise InputError(f"expected a formula such as 'x1 & ~(x2 ^ x3)', and {text!r} ends where an operand should be")
    while waiting:
        if waiting[-1] == "(":
            raise InputError(f"expected as many opening as closing parentheses, and {text!r} leaves one open")
        apply(waiting.pop())
    return values[0]


def _tokens(text: str) -> list[str]:
    found, place, text = [], 0, text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        word = "" if match is None else (match["name"] or match["word"] or match["sign"]).lower()
        word = _SIGNS.get(word, word)
        if match is None or not (match["name"] or word in _STRENGTH or word in "01()"):
            raise InputError(
                f"expected variables x1, x2, ..., the operations and, or, xor, not (& | ^ ~) and parentheses, and "
                f"{text[place : place + 12].strip()!r} is none of these"
            )
        if match["name"] and int(word[1:]) > _MAX_INPUTS:
            raise InputError(f"expected variables up to x{_MAX_INPUTS}, got {word}: rename the variables")
        found.append(word)
        place = match.end()
    return found


def _variable(number: int, num_inputs: int) -> int:
    if number > num_inputs:
        raise InputError(
            f"expected variables up to x{num_inputs} in a function of {num_inputs} inputs, got x{number}: give more "
            "inputs or rename the variable"
        )
    # Blocks of zeros and ones alternate, beginning with zeros; x1 changes slowest.
    block = 2 ** (num_inputs - number)
    table, width = (1 << block) - 1, 2 * block
    while width < 2**num_inputs:
        table |= table << width
        width *= 2
    return table
