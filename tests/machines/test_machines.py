"""Variations have names of their own, and one that computes wrongly here is not played."""

import os
import random

import pytest

from machines.__main__ import main
from machines.order import shuffle
from machines.variations import COMBINED, Variation, self_check, together, variations


def test_names_differ_and_are_listed(capsys):
    names = [one.name for one in variations(1)]
    assert len(names) == len(set(names))
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == names


def test_an_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--only", "z80"])
    assert "z80" in capsys.readouterr().err


def test_several_at_once():
    known = {one.name: one for one in variations(7)}
    both = together((known["two-threads"], known["order"]))
    assert both.environment == {"OMP_NUM_THREADS": "2"}
    assert both.options == ("--shuffle", "7")
    assert both.workers == 1


def test_machines_that_contradict_each_other_are_none():
    known = {one.name: one for one in variations(7)}
    for names in (
        ("openblas-zen", "openblas-haswell"),
        ("one-worker", "four-workers"),
        ("torch-default", "torch-avx2"),
    ):
        with pytest.raises(ValueError, match="machines that can be one"):
            together([known[name] for name in names])


def test_combined_machines_have_every_variation():
    known = {one.name: one for one in variations(7)}
    assert {name for names in COMBINED for name in names} == set(known)
    for names in COMBINED:
        together([known[name] for name in names])


@pytest.mark.skipif(os.name != "posix", reason="programs as on POSIX")
def test_a_machine_that_fails_its_self_check_is_not_played(tmp_path, monkeypatch):
    program = tmp_path / "check.py"
    monkeypatch.setattr("machines.variations.SELF_CHECK", program)
    for text, said in (
        ("", ""),
        ("raise ArithmeticError('a product is wrong')", "ArithmeticError: a product is wrong"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGILL)", "the self-check died of signal 4"),
    ):
        program.write_text(text, encoding="utf-8")
        assert self_check(Variation("any", "any machine")) == said
    assert self_check(Variation("any", "any machine", command=("/no/such/program",))) != ""


def test_order_is_random_and_the_same_for_a_seed():
    class Item:
        def __init__(self, path, name):
            self.path, self.name = path, name

    def order(seed):
        items = [Item(path, name) for path in "abcdef" for name in range(5)]
        shuffle(items, random.Random(seed))
        return [(one.path, one.name) for one in items]

    assert order(1) == order(1) != order(2)
    assert sorted(order(1)) == sorted(order(2))
    changes = sum(one[0] != other[0] for one, other in zip(order(1), order(1)[1:], strict=False))
    assert changes == 5
