"""Properties from files of VNN-LIB: what is read, and one sentence with the line for what is not."""

import contextlib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from conformance.bad_input.values import is_one_sentence
from reluscope.analyses.verification.claimed import parse_counterexample
from reluscope.analyses.verification.vnnlib import parse_property, read_property
from reluscope.errors import InputError

HEAD = "(declare-const X_0 Real)\n(declare-const X_1 Real)\n(declare-const Y_0 Real)\n(declare-const Y_1 Real)\n"
BOX = "(assert (and (>= X_0 0) (<= X_0 1) (>= X_1 -1) (<= X_1 1)))\n"
ACAS = Path(__file__).parents[4] / "shared" / "models" / "acasxu"


def test_a_conjunction():
    (case,) = parse_property(HEAD + BOX + "(assert (<= Y_0 Y_1)) ; a comment )\n(assert (>= Y_1 2.5e-1))").cases
    np.testing.assert_array_equal(case.lower, [0, -1])
    np.testing.assert_array_equal(case.upper, [1, 1])
    (unsafe,) = case.unsafe
    np.testing.assert_array_equal(unsafe.A, [[1, -1], [0, -1]])
    np.testing.assert_array_equal(unsafe.b, [0, -0.25])


def test_disjunctions_of_boxes_and_of_outputs():
    read = parse_property(
        HEAD + "(assert (or (and (<= X_0 1) (>= X_0 0)) (and (<= X_0 3) (>= X_0 2))))"
        "(assert (<= 0 X_1 1)) (assert (or (<= Y_0 0) (and (>= Y_0 1) (>= Y_1 1))))"
    )
    assert [(case.lower.tolist(), case.upper.tolist()) for case in read.cases] == [([0, 0], [1, 1]), ([2, 0], [3, 1])]
    for case in read.cases:
        assert [one.A.tolist() for one in case.unsafe] == [[[1, 0]], [[-1, 0], [0, -1]]]


def test_sums_are_read_as_fractions():
    (case,) = parse_property(
        HEAD + BOX + "(assert (<= (+ (* 2 Y_0) (* -0.1 Y_1 3) (- Y_0) 1) (- (- 4) (* Y_1 0.7))))"
    ).cases
    (slopes,), (end,) = case.unsafe[0].A.tolist(), case.unsafe[0].b.tolist()
    # Y_0 + 0.4 Y_1 <= -5, multiplied by what makes float64 hold 0.4
    assert slopes[0] > 0
    assert (5 * Fraction(slopes[1]), Fraction(end)) == (2 * Fraction(slopes[0]), -5 * Fraction(slopes[0]))


@pytest.mark.parametrize(
    ("condition", "row"),
    [
        ("(<= Y_0 0.3)", (10, 3)),
        ("(>= (* 3.9911256459 Y_0) -1.1)", (-39911256459, 11000000000)),
        ("(<= (* 1e-400 Y_0) 1e-390)", (1, 10**10)),
        ("(<= 1e-400 0)", (0, -1)),
        ("(<= (* 3 Y_0) 0.25)", (12, 1)),
    ],
)
def test_conditions_on_outputs_are_not_rounded(condition, row):
    (case,) = parse_property(HEAD + BOX + f"(assert {condition})").cases
    slope, end = (Fraction(float(one)) for one in (case.unsafe[0].A[0, 0], case.unsafe[0].b[0]))
    assert slope * row[1] == end * row[0]
    assert slope * row[0] > 0 or (slope == row[0] and end * row[1] > 0)


@pytest.mark.parametrize("sense", ["<=", ">="])
@pytest.mark.parametrize(
    "end", ["0.12345678901234567890", "123456789.0123456789", "-0.0009999999999999999999", "0.1000000000000000000001"]
)
def test_ends_of_many_digits_are_rounded_to_the_safe_side(sense, end):
    with pytest.warns(UserWarning, match="rounded to .*, so that more outputs are unsafe$"):
        (case,) = parse_property(HEAD + BOX + f"(assert ({sense} (* 3 Y_0) {end}))").cases
    slope, found = (Fraction(float(one)) for one in (case.unsafe[0].A[0, 0], case.unsafe[0].b[0]))
    limit, truth = found / slope, Fraction(end) / 3
    assert (slope > 0) == (sense == "<=")
    assert limit >= truth if sense == "<=" else limit <= truth
    assert abs(limit - truth) <= abs(truth) * Fraction(2) ** -51


def test_where_no_factor_suffices_numbers_are_rounded():
    with pytest.warns(UserWarning, match="and its other numbers to the nearest"):
        (case,) = parse_property(HEAD + BOX + "(assert (<= (* 3.99112564591234567 Y_0) 1.123456789012345678))").cases
    assert case.unsafe[0].A[0, 0] == 3.99112564591234567
    assert Fraction(float(case.unsafe[0].b[0])) >= Fraction("1.123456789012345678")
    assert case.unsafe[0].b[0] == pytest.approx(1.123456789012345678, rel=1e-15)


@pytest.mark.parametrize(
    ("condition", "wrong"),
    [
        ("(<= Y_0 1e-400)", "expected 0 or numbers from 1e-300 on"),
        ("(<= X_0 1e-400)", "expected 0 or numbers from 1e-300 on"),
        ("(<= Y_0 1e999)", "expected numbers that float64 can hold, got a larger one"),
    ],
)
def test_numbers_that_float64_would_round_to_0_are_refused(condition, wrong):
    with pytest.raises(InputError, match=wrong):
        parse_property(HEAD + BOX + f"(assert {condition})")


def test_the_tightest_bound_counts_and_boxes_may_be_flat():
    (case,) = parse_property(HEAD + BOX + "(assert (<= (* 2 X_0) 0)) (assert (<= Y_0 0))").cases
    assert (case.lower[0], case.upper[0]) == (0, 0)


def test_no_condition_on_outputs_makes_all_of_them_unsafe():
    (case,) = parse_property(HEAD + BOX).cases
    assert case.unsafe[0].A.shape == (0, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + BOX + "(assert (<= Y_0 Y_1)", r"line 6: expected a '\)'"),
        (HEAD + BOX + "(assert (<= Y_0 Y_1)))", r"line 6: expected a command, got a '\)'"),
        (HEAD + BOX + "Y_0", "line 6: expected a command in parentheses"),
        (HEAD + "(check-all)", r"line 5: expected \(declare-const"),
        (HEAD + "(assert)", "line 5"),
        (HEAD + "()", "line 5"),
        (HEAD + "(assert (<= Y_0 Y_1) 3)", "line 5"),
        (HEAD + "(assert Y_0)", "line 5: expected a condition"),
        (HEAD + "(assert ())", "line 5: expected a condition"),
        (HEAD + "(assert (and))", "line 5: expected conditions"),
        (HEAD + "(assert (xor (<= Y_0 1)))", "line 5: expected one of"),
        (HEAD + "(assert (!= Y_0 1))", "line 5: expected one of"),
        (HEAD + "(assert (<= Y_0))", "line 5: expected two sums"),
        (HEAD + "(assert (<= Y_0\n(* Y_0 Y_1)))", "line 6: expected linear conditions"),
        (HEAD + "(assert (<= Y_0 (mod Y_1 2)))", "line 5: expected a sum"),
        (HEAD + "(assert (<= Y_0 Z_1))", "line 5: expected a number or a declared variable"),
        (HEAD + "(assert (<= Y_0 1/2))", "line 5: expected a number"),
        (HEAD + "(assert (<= Y_0 1e9999999999))", "line 5: expected a number"),
        (HEAD + "(assert (<= Y_0 1e999))", "line 5: expected numbers that float64 can hold"),
        (HEAD + "(assert (<= X_0 1e999))", "line 5: expected numbers that float64 can hold"),
        (HEAD + "(assert (<= 0 X_0 1))", "line 2: expected bounds of X_1, got no lower one"),
        (HEAD + BOX + "(assert (>= X_0 2))", "expected inputs that fulfil the conditions"),
        (HEAD + "(declare-const X_0 Real)", "line 5: expected each variable once"),
        (HEAD + "(declare-const X_4 Real)", "line 5: expected X_2 beside X_4"),
        (HEAD + "(declare-const speed Real)", "line 5: expected variables named X_0"),
        (HEAD + "(declare-const X_2 Int)", "line 5"),
        (HEAD + "(" * 200, "parentheses within each other"),
        (
            HEAD + "(assert (or " + "(<= Y_0 1)" * 400 + "))" + "(assert (or " + "(<= Y_0 1)" * 400 + "))",
            "conjunctions",
        ),
        ("", "expected inputs X_0"),
        ("(declare-const X_0 Real)", "expected outputs Y_0"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_with_the_line(text, said, tmp_path):
    with pytest.raises(InputError, match=said):
        parse_property(text)
    path = tmp_path / "bad.vnnlib"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"^bad\.vnnlib, line \d+: ") as caught:
        read_property(path)
    assert is_one_sentence(str(caught.value))


def test_every_truncation_is_refused_or_read():
    text = HEAD + BOX + "(assert (<= Y_0 Y_1))"
    for length in range(len(text)):
        with contextlib.suppress(InputError):
            parse_property(text[:length])


def test_files_that_are_no_text(tmp_path):
    path = tmp_path / "bytes.vnnlib"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="no text"):
        read_property(path)
    for missing in (tmp_path / "missing.vnnlib", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            read_property(missing)


@pytest.mark.skipif(not ACAS.is_dir(), reason="the networks of ACAS Xu are not beside the project")
def test_properties_of_acas_xu():
    sizes = {}
    for number in (1, 2, 3, 4):
        read = read_property(ACAS / f"prop_{number}.vnnlib")
        assert (read.num_inputs, read.num_outputs, len(read.cases)) == (5, 5, 1)
        sizes[number] = [len(one.b) for one in read.cases[0].unsafe]
    assert sizes == {1: [1], 2: [4], 3: [4], 4: [4]}


SECOND = """(vnnlib-version <2.0>)
(declare-network f
  (declare-input  X float32 [1, 2])
  (declare-output Y Real [2]))
"""


def test_the_second_version_says_the_same():
    old = parse_property(HEAD + BOX + "(assert (or (<= Y_0 (+ (* 2 Y_1) 1)) (and (>= Y_0 3) (<= Y_1 0))))")
    box = "(assert (and (>= X[0,0] 0) (<= X[0,0] 1) (>= X[0, 1] -1) (<= X[0,1] 1)))\n"
    new = parse_property(SECOND + box + "(assert (or (<= Y[0] (+ (* 2 Y[1]) 1)) (and (>= Y[0] 3) (<= Y[1] 0))))")
    for one, other in zip(old.cases, new.cases, strict=True):
        np.testing.assert_array_equal([one.lower, one.upper], [other.lower, other.upper])
        for before, after in zip(one.unsafe, other.unsafe, strict=True):
            np.testing.assert_array_equal(before.A, after.A)
            np.testing.assert_array_equal(before.b, after.b)


def test_equations_and_scalars_of_the_second_version():
    text = SECOND.replace("Y Real [2]", "out real []").replace("[1, 2]", "[2]")
    (case,) = parse_property(text + "(assert (== X[0] 0.5)) (assert (<= 0 X[1] 1)) (assert (== out 2))").cases
    assert (case.lower.tolist(), case.upper.tolist()) == ([0.5, 0.0], [0.5, 1.0])
    assert (case.unsafe[0].A.tolist(), case.unsafe[0].b.tolist()) == ([[1.0], [-1.0]], [2.0, -2.0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("<2.0>", "<3.0>"), "line 1: expected VNN-LIB"),
        (("float32", "int8"), "line 3: expected one of the types"),
        (("[1, 2]", "[1,"), "line 3: expected a shape"),
        (("[1, 2]", "[0]"), "line 3: expected a shape of 1"),
        (("[1, 2]", "[99999,99999]"), "line 3: expected a shape of 1"),
        (("declare-input", "declare-hidden"), "line 3: expected (declare-input"),
        (("Y Real", "X Real"), "line 4: expected each variable once"),
        (("declare-output", "declare-input"), "line 4: expected a network of one"),
        (("  (declare-output Y Real [2])", ""), "line 2: expected a network of one"),
        (("X[0,0] 0", "X[0,2] 0"), "line 5: expected a number or a declared"),
        (("X[0,0] 0", "X[0] 0"), "line 5: expected a number or a declared"),
        (("(<= Y[0] 0)", "(!= Y[0] 0)"), "line 6: expected one of <=, >=, =, and, or, not, =>, got '!='"),
        (("(declare-network", "(declare-const X_0 Real) (declare-network"), "line 2: expected the variables of one"),
        ((SECOND, SECOND + SECOND), "expected the variables of one"),
    ],
)
def test_what_the_second_version_has_and_is_not_read_is_one_sentence(change, said):
    text = SECOND + "(assert (and (>= X[0,0] 0) (<= X[0,0] 1) (<= 0 X[0,1] 1)))\n(assert (<= Y[0] 0))"
    with pytest.raises(InputError) as error:
        parse_property(text.replace(*change))
    assert said in str(error.value)
    assert is_one_sentence(str(error.value))


@pytest.mark.parametrize(
    "text",
    ["(|check\n sat|)", "(declare-network f (|a\nb|))", "(vnnlib-version |<\n>|)", "(declare-fun |X\n0| () Real)"],
)
def test_names_of_several_lines_are_shown_on_one(text):
    with pytest.raises(InputError) as error:
        parse_property(text)
    assert is_one_sentence(str(error.value))
    with pytest.raises(InputError) as error:
        parse_counterexample("sat ((X_0 |0\n5|) (X_1 1))")
    assert is_one_sentence(str(error.value))


def test_an_error_in_a_counterexample_names_its_line():
    with pytest.raises(InputError, match="line 3: expected a finite number, got 'nan'"):
        parse_counterexample("\nsat (\n(X_0 nan))")


@pytest.mark.slow
def test_long_sums_and_lines_are_read_at_once():
    names = [f"Y_{place}" for place in range(2_000)]
    declared = "".join(f"(declare-const {name} Real)" for name in ("X_0", *names))
    box = "(assert (<= 0 X_0 1))"
    (case,) = parse_property(f"{declared} {box} (assert (<= (+ {' '.join(names)}) 1))").cases
    assert case.unsafe[0].A.tolist() == [[1.0] * 2_000]
    with pytest.raises(InputError, match="line 1: "):
        parse_property(f"({'[' * 100_000}")
    with pytest.raises(InputError, match="line 1: expected numbers that float64 can hold, got a product"):
        parse_property(f"{HEAD} (assert (<= (* {'1e999 ' * 20_000} Y_0) 1))".replace("\n", ""))


def test_too_many_conditions_are_refused_before_they_are_made():
    either = f"(assert (or (and {'(<= Y_0 1)' * 6}) (<= Y_1 1)))" * 16
    with pytest.raises(InputError, match="expected at most 5,000,000 conditions"):
        parse_property(HEAD + BOX + either)


def test_what_holds_in_all_cases_is_read_once():
    """Thousands of inputs with hundreds of cases; seen red: a hundred million conditions."""
    inputs = [f"X_{place}" for place in range(2_000)]
    outputs = [f"Y_{place}" for place in range(400)]
    declared = "".join(f"(declare-const {name} Real)" for name in inputs + outputs)
    bounds = "".join(f"(assert (<= {place} {name} {place + 1}))" for place, name in enumerate(inputs))
    narrower = "(and (<= Y_0 1) (<= X_7 7.25))"
    either = f"(assert (or {narrower} {' '.join(f'(<= {name} Y_0)' for name in outputs[1:])}))"
    narrow, wide = parse_property(declared + bounds + either).cases
    assert (narrow.upper[7], wide.upper[7], len(narrow.unsafe), len(wide.unsafe)) == (7.25, 8.0, 1, 399)
    assert narrow.lower.tolist() == wide.lower.tolist() == list(range(2_000))


def test_a_mark_of_the_order_of_bytes_is_no_text(tmp_path):
    path = tmp_path / "marked.vnnlib"
    path.write_text(HEAD + BOX + "(assert (<= Y_0 1))", encoding="utf-8-sig")
    assert read_property(path).num_inputs == 2


@pytest.mark.parametrize("text", ["((X_0 1) (Y_0 2))", "(X_0 1)(Y_0 2)", " \n(X_0 1) (Y_0 2)", "sat(X_0 1)(Y_0 2)"])
def test_values_alone_are_a_counterexample(text):
    assert [side.tolist() for side in parse_counterexample(text)] == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("unsat", "line 1: expected sat and a counterexample, got 'unsat': that a property holds is shown by a proof"),
        ("timeout", "line 1: expected sat and a counterexample, got 'timeout'$"),
        ("", "line 1: expected sat and a counterexample, got ''$"),
        ("sat ((X_0 1))\n()", "line 2: expected values such as"),
        ("sat ((X_0 1)\n())", "line 2: expected values such as"),
        ("sat ((X_0 1)\n(X_0 2 3))", "line 2: expected values such as"),
        ("sat ((X_0 1)\n X_1)", "line 2: expected values such as"),
        ("sat ((X_0 1)\n(Z_0 2))", "line 2: expected values such as"),
        ("sat ((X_0 1)\n((X_1) 2))", "line 2: expected values such as"),
        ("sat ((X_0 1)\n(X_0 1))", "line 2: expected each value once, got X_0 again"),
    ],
)
def test_what_is_no_counterexample_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        parse_counterexample(text)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("sat ((X_1 2) (Y_0 1))", "X_0"),
        ("sat ((X_0 1) (X_2 2) (Y_0 1))", "X_1"),
        ("sat ((X_0 1) (Y_0 1) (Y_2 1))", "Y_1"),
        ("sat ((Y_0 1))", "X_0"),
    ],
)
def test_values_that_a_counterexample_lacks(text, missing):
    with pytest.raises(InputError, match=f"expected a value of {missing} in the counterexample"):
        parse_counterexample(text)
    inputs, outputs = parse_counterexample("sat ((X_1 2) (X_0 1))")
    assert (inputs.tolist(), outputs.tolist()) == ([1.0, 2.0], [])


class Drawn:
    """A condition at random, as text and as what it is at a point."""

    def __init__(self, generator):
        self.generator, self.number = generator, 0

    def condition(self, depth):
        kind = self.generator.choice(["and", "or", "not", "=>", "let", "order"]) if depth else "order"
        if kind == "order":
            return self.order()
        if kind == "let":
            self.number += 1
            name, (text, value), (body, holds) = f"n{self.number}", self.sum(), self.condition(depth - 1)
            bound, at = f"(+ {name} 0.5)", self.generator.integers(-2, 3) / 2
            return (
                f"(let (({name} {text})) (and {body} (<= {bound} {at})))",
                lambda x, y: holds(x, y) and value(x, y) + 0.5 <= at,
            )
        parts = [self.condition(depth - 1) for _ in range(1 if kind == "not" else self.generator.integers(1, 4))]
        text, holds = f"({kind} {' '.join(one for one, _ in parts)})", [one for _, one in parts]
        if kind == "and":
            return text, lambda x, y: all(one(x, y) for one in holds)
        if kind == "or":
            return text, lambda x, y: any(one(x, y) for one in holds)
        if kind == "not":
            return text, lambda x, y: not holds[0](x, y)
        return text, lambda x, y: not all(one(x, y) for one in holds[:-1]) or holds[-1](x, y)

    def order(self):
        kind, (text, value) = self.generator.choice(["<=", ">=", "<", ">"]), self.sum()
        at = self.generator.integers(-4, 5) / 4
        signs = {"<=": np.less_equal, ">=": np.greater_equal, "<": np.less, ">": np.greater}
        return f"({kind} {text} {at})", lambda x, y: signs[kind](value(x, y), at)

    def sum(self):
        if self.generator.random() < 0.5:
            place, over = self.generator.integers(2), self.generator.choice([2, -4])
            return f"(/ X_{place} {over})", lambda x, y: x[place] / over
        a, b = self.generator.integers(-3, 4, 2) / 2
        return f"(- (* {a} Y_0) (+ (* {b} Y_1) 0.25))", lambda x, y: a * y[0] - b * y[1] - 0.25


@pytest.mark.filterwarnings("ignore:line .* a strict condition")
@pytest.mark.parametrize("seed", range(60))
def test_conditions_in_words_hold_where_they_say(seed):
    generator = np.random.default_rng(seed)
    text, holds = Drawn(generator).condition(depth=3)
    points = [(generator.uniform(-1, 1, 2), generator.uniform(-2, 2, 2)) for _ in range(60)]
    expected = [bool(holds(x, y)) for x, y in points]
    cases = []
    with contextlib.suppress(InputError):  # no input fulfils the conditions
        cases = parse_property(
            "(set-logic QF_LRA)" + HEAD + f"(assert (<= -1 X_0 1)) (assert (<= -1 X_1 1)) (assert {text})(check-sat)"
        ).cases
    found = [
        any(
            (case.lower <= x).all() and (x <= case.upper).all() and any(one.contains(y, 0.0) for one in case.unsafe)
            for case in cases
        )
        for x, y in points
    ]
    assert found == expected


def test_strict_conditions_are_read_with_their_edge():
    with pytest.warns(UserWarning, match="line 6 and 1 more: a strict condition is read with its edge"):
        strict = parse_property(HEAD + BOX + "(assert (> Y_0 3))\n(assert (not (<= Y_1 2)))").cases
    closed = parse_property(HEAD + BOX + "(assert (>= Y_0 3)) (assert (>= Y_1 2))").cases
    assert [one.b.tolist() for one in strict[0].unsafe] == [one.b.tolist() for one in closed[0].unsafe]


def test_equations_and_names():
    (case,) = parse_property(
        HEAD + "(assert (let ((a 0.5) (b X_0)) (let ((c a)) (and (= b a c) (<= 0 X_1 1) (= Y_0 c)))))"
    ).cases
    assert (case.lower.tolist(), case.upper.tolist()) == ([0.5, 0.0], [0.5, 1.0])
    assert case.unsafe[0].b.tolist() == [0.0, 0.0, 0.5, -0.5]  # a = c is true


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("(not (= Y_0 1))", "the opposite of '='"),
        ("(distinct Y_0 1)", "with its edge this is everything"),
        ("(not)", "one condition after 'not', got 0"),
        ("(=>)", "expected conditions after '=>'"),
        ("(<= (/ 1 Y_0) 1)", "divided by a variable or by 0"),
        ("(<= (/ Y_0 0) 1)", "divided by a variable or by 0"),
        ("(let ((a)) (<= Y_0 1))", "a name and what it stands for"),
        ("(let (<= Y_0 1))", "expected (let ((NAME SUM) ...) CONDITION)"),
        ("(let ((a Y_0)) a)", "expected a condition"),
        ("(<= (let ((a Y_0)) b) 1)", "a number or a declared variable, got 'b'"),
        ("(let ((a (or " + 20 * "(<= Y_0 1) " + "))) (and a a a a a))", "at most 100,000 conjunctions"),
    ],
)
def test_words_that_are_no_condition_are_one_sentence(condition, said):
    with pytest.raises(InputError) as error:
        parse_property(HEAD + BOX + f"(assert {condition})")
    assert said in str(error.value)
    assert is_one_sentence(str(error.value))


def test_names_of_names_end_at_once():
    text = "(<= Y_0 1)"
    for place in range(22):
        text = f"(let ((a{place} {text})) (or a{place} a{place}))"
    with pytest.raises(InputError, match="conjunctions in the normal form"):
        parse_property(HEAD + BOX + f"(assert {text})")
