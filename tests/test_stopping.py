"""Why work stopped is a value: it reads as a sentence, goes through files, and no decision reads the sentence."""

import ast
import json
from pathlib import Path

import pytest

from reluscope.stopping import (
    INTERRUPTED,
    OUT_OF_MEMORY,
    Stop,
    StopReason,
    is_by_budget,
    is_interrupted,
    is_out_of_time,
    most_serious,
    words_of,
)

REGIONS, SECONDS = Stop(StopReason.REGIONS, 1_000), Stop(StopReason.SECONDS, 0.5)
FOLDERS = ("src/reluscope", "studies/src")
SENTENCES = {"note", "stopped", "reason"}
EDITS = {"startswith", "endswith", "replace", "removeprefix", "removesuffix", "partition", "split", "find", "index"}


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        (None, ""),
        (REGIONS, "budget of 1,000 regions"),
        (SECONDS, "budget of 0.5 s"),
        (Stop(StopReason.SECONDS), "time"),
        (Stop(StopReason.HOPELESS, details="about 10^9 regions"), "hopeless: about 10^9 regions"),
        (OUT_OF_MEMORY, "out of memory"),
        (INTERRUPTED, "interrupted"),
    ],
)
def test_it_reads_as_a_sentence(stop, words):
    assert words_of(stop) == words


def test_reasons():
    assert [is_interrupted(one) for one in (None, REGIONS, INTERRUPTED)] == [False, False, True]
    assert [is_out_of_time(one) for one in (None, REGIONS, SECONDS)] == [False, False, True]
    assert [is_by_budget(one) for one in (None, REGIONS, SECONDS, INTERRUPTED)] == [False, True, True, False]


def test_time_that_ran_out_is_that_of_the_whole_budget():
    assert SECONDS.of_seconds(60.0) == Stop(StopReason.SECONDS, 60.0)
    assert SECONDS.of_seconds(None) is SECONDS
    assert REGIONS.of_seconds(60.0) is REGIONS


def test_the_most_serious_reason():
    assert most_serious([]) is None
    assert most_serious([None, None]) is None
    assert most_serious([REGIONS, None, OUT_OF_MEMORY, SECONDS]) is OUT_OF_MEMORY
    assert most_serious([INTERRUPTED, Stop(StopReason.WORKERS_DIED)]) is INTERRUPTED


@pytest.mark.parametrize("stop", [REGIONS, SECONDS, Stop(StopReason.SECONDS), INTERRUPTED])
def test_files_keep_it(stop):
    assert Stop.from_dict(json.loads(json.dumps(stop.to_dict()))) == stop


@pytest.mark.parametrize(
    "plain",
    [
        {"reason": "boredom", "limit": None, "details": ""},
        {"reason": "regions", "limit": None, "details": ""},
        {"reason": "regions", "limit": -1, "details": ""},
        {"reason": "seconds", "limit": "60", "details": ""},
        {"reason": "interrupted", "limit": 3, "details": ""},
        {"reason": "unproved", "limit": None, "details": 3},
        {"reason": "interrupted", "limit": None, "details": "", "more": 1},
    ],
)
def test_nothing_else_is_read(plain):
    with pytest.raises(ValueError, match=r"no reason to stop|no limit"):
        Stop.from_dict(plain)


def name_of(node):
    """Return the name of an attribute, an entry or a variable that may hold the words."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name) and node.id == "stopped":  # other reasons and notes have nothing to do with it
        return node.id
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value
    return None


def is_text(node):
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def reads_a_sentence(node):
    """Return whether a node compares or edits the words for why work stopped."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(map(is_text, sides)) and any(name_of(side) in SENTENCES for side in sides)
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return is_call and node.func.attr in EDITS and name_of(node.func.value) in SENTENCES


@pytest.mark.parametrize(
    "text",
    ['part.note == "interrupted"', '"time" != found.stopped', 'stopped.startswith("budget")', '"x" in row["stopped"]'],
)
def test_a_sentence_that_is_read_is_seen(text):
    assert any(map(reads_a_sentence, ast.walk(ast.parse(text))))


def test_no_sentence_is_read():
    root = Path(__file__).parents[1]
    found = [
        f"{path.relative_to(root)}:{node.lineno}"
        for folder in FOLDERS
        for path in sorted((root / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if reads_a_sentence(node)
    ]
    assert not found, "why work stopped is asked of `stop.reason`, and not of the words for it"
