"""Expressions in parentheses as VNN-LIB and SMT-LIB write them, with the line on which each begins."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from reluscope.errors import InputError

# Parentheses within parentheses.
MAX_DEPTH = 100
_TOKEN = re.compile(r"\s+|;[^\n]*|[()]|\|[^|]*\||[^\s();|]+|\|")


class Word(NamedTuple):
    """A name or a number."""

    text: str
    line: int


class Listed(NamedTuple):
    """What stands in a pair of parentheses."""

    parts: "list[Word | Listed]"
    line: int


Expression = Word | Listed


def shown(words: Iterable[str]) -> str:
    """Return the beginning of a list of words on one line, as error messages show it."""
    text = " ".join(" ".join(words).split())
    return f"'({text if len(text) <= 40 else text[:40] + '...'})'"


def expressions(text: str) -> Iterator[Listed]:
    """Return the expressions of a text one after the other.

    Parentheses that do not match, or text outside of them, raise InputError.
    """
    line, within = 1, list[Listed]()
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token == "(":
            if len(within) == MAX_DEPTH:
                raise InputError(f"line {line}: expected at most {MAX_DEPTH} parentheses within each other, got more")
            within.append(Listed([], line))
        elif token == ")":
            if not within:
                raise InputError(f"line {line}: expected a command, got a ')' without its '('")
            done = within.pop()
            if not within:
                yield done
            else:
                within[-1].parts.append(done)
        elif not token.isspace() and token[0] != ";":
            if not within:
                raise InputError(f"line {line}: expected a command in parentheses, got {token[:40]!r}")
            within[-1].parts.append(Word(token, line))
        line += token.count("\n")
    if within:
        raise InputError(
            f"line {within[0].line}: expected a ')' for the '(' there, got the end of the text: it seems to be cut off"
        )
