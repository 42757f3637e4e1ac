"""The changelog's first heading is short, and what it says is there is there."""

import importlib
import re
from pathlib import Path

import pytest

import reluscope as rs

TEXT = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
UNRELEASED = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1]
PARTS = dict(re.findall(r"^### (.*)\n((?:(?!### ).*\n)*)", UNRELEASED, re.MULTILINE))


def test_headings_come_in_one_order():
    assert UNRELEASED.startswith("[Unreleased]")
    assert list(PARTS) == ["In two minutes", "Added", "Changed", "Removed", "Fixed"]


def test_the_summary_is_read_in_two_minutes():
    assert len(PARTS["In two minutes"].split()) < 600


def test_no_entry_is_written_twice():
    entries = re.findall(r"^- .*\n(?:  .*\n)*", UNRELEASED, re.MULTILINE)
    assert len(entries) > 50
    assert len(set(entries)) == len(entries)


@pytest.mark.parametrize("part", ["In two minutes", "Added"])
def test_names_exist(part):
    for name in re.findall(r"`rs((?:\.\w+)+)", PARTS[part]):
        value = rs
        for word in name[1:].split("."):
            value = getattr(value, word)
    for name in re.findall(r"`reluscope\.(\w+)", PARTS[part]):
        importlib.import_module(f"reluscope.{name}")
