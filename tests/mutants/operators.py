"""Small faults of the kind that trust would not survive: a dropped rounding term, a claim too strong, an end off.

A fault is a replacement of one piece of a module's source by another, found in its syntax tree, so that everything else
stays as it was written. What only speaks to people (annotations, messages, names, definitions) is left alone.
"""

import ast
import difflib
from collections.abc import Iterator
from dataclasses import dataclass

# Keywords of findings that only describe.
WORDS = {"name", "definition", "domain", "method", "source", "work", "what"}
# Keywords that pace work: estimates of memory, as are functions with bytes, or seconds, in their names.
PACING = {"bytes_per_sample"}
# Names that stand for rounding: factors of them are halved and left out.
ROUNDING = {
    "eps",
    "EPS",
    "EPSILON",
    "gamma",
    "unit",
    "rounding",
    "ROUNDING",
    "SUMS",
    "TOTALS",
    "noise",
    "slack",
    "doubt",
    "CONSTANT",
}
# Names in conditions that say how far an answer may be trusted.
STATES = ("budget", "stopped", "spent", "exact", "claim", "complete", "undecided", "known", "doubt", "interrupt")
# Functions that tell the time, and beginnings of names of constants that limit work.
CLOCKS = {"monotonic", "perf_counter", "process_time", "time"}
LIMITS = ("LEAST_", "MAX_", "MOST_")
# What counts down the work that is allowed yet.
ACCOUNTS = {"allowed", "left", "_left"}
STRICT = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
CLAIMS = {"EXACT": "ESTIMATE", "LOWER": "EXACT", "UPPER": "EXACT", "ESTIMATE": "EXACT"}


@dataclass(frozen=True)
class Mutant:
    """One fault: the characters from ``start`` to ``end`` of a module replaced."""

    module: str
    line: int
    kind: str
    start: int
    end: int
    text: str

    @property
    def key(self) -> str:
        """What tells the fault from others, as long as the module is the same."""
        return f"{self.module}:{self.line}:{self.start}-{self.end}:{self.kind}:{self.text}"

    def apply(self, source: str) -> str:
        """Return the module with the fault."""
        return source[: self.start] + self.text + source[self.end :]

    def faulty_line(self, source: str) -> str:
        """Return the line with the fault, without what is around it."""
        return self.apply(source).splitlines()[self.line - 1].strip()

    def diff(self, source: str) -> str:
        """Return what the fault changes, in the form of a diff without context."""
        lines = difflib.unified_diff(source.splitlines(), self.apply(source).splitlines(), lineterm="", n=0)
        return "\n".join(line for line in list(lines)[2:])


def mutants_of(module: str, source: str) -> list[Mutant]:
    """Return all faults that the operators know in a module, in the order of its lines."""
    return sorted(set(_Finder(module, source).found), key=lambda one: (one.start, one.end, one.kind, one.text))


class _Finder(ast.NodeVisitor):
    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source
        self.found: list[Mutant] = []
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._lines = source.splitlines(keepends=True)
        self.visit(ast.parse(source))

    def _place(self, line: int, column: int) -> int:
        """Return where a position of the syntax tree, which counts bytes, is in the text."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._place(node.lineno, node.col_offset), self._place(node.end_lineno, node.end_col_offset)

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self.source[start:end]

    def _replace(self, node: ast.expr | ast.stmt, kind: str, text: str) -> None:
        start, end = self._span(node)
        if isinstance(node, ast.expr) and not isinstance(node, ast.Name | ast.Attribute):
            text = f"({text})"
        self.found.append(Mutant(self.module, node.lineno, kind, start, end, text))

    def _between(self, left: ast.expr, right: ast.expr, kind: str, old: str, new: str) -> None:
        """Replace an operator between two operands; parentheses may stand there, too."""
        start, end = self._span(left)[1], self._span(right)[0]
        place = self.source.index(old, start, end)
        self.found.append(Mutant(self.module, left.lineno, kind, place, place + len(old), new))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        spoken = ("__repr__", "__str__", "_repr_html_", "describe", "share_left", "to_dict")
        if node.name not in spoken and not {"bytes", "seconds"} & {*node.name.split("_")}:
            for default in [*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)]:
                self.visit(default)
            for statement in node.body:
                self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Leave messages alone."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """Leave what is for the type checker alone."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave texts alone."""

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)  # positions are another matter

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("range", "isinstance") or name.endswith("Error"):
            return
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if name in ("max", "min", "maximum", "minimum") and len(node.args) == 2 and not starred:
            for argument in node.args:
                self._replace(node, "one of two", self._text(argument))
        if name in ("any", "all"):
            start = self._span(node.func)[1] - 3
            self.found.append(
                Mutant(self.module, node.lineno, "any or all", start, start + 3, {"any": "all", "all": "any"}[name])
            )
        self.visit(node.func)
        for argument in node.args:
            self.visit(argument)
        for keyword in node.keywords:
            if keyword.arg not in WORDS | PACING:
                self.visit(keyword)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg == "tolerance" and not isinstance(node.value, ast.Name | ast.Constant):
            self._replace(node.value, "tolerance", "0.0")
        if node.arg == "num_undecided":
            self._replace(node.value, "undecided", "0")
        if node.arg == "interval":
            for ends in ast.walk(node.value):
                if isinstance(ends, ast.Tuple) and len(ends.elts) == 2:
                    low, high = (self._text(end) for end in ends.elts)
                    for text in (f"{high}, {low}", f"{low}, {low}", f"{high}, {high}"):
                        self._replace(ends, "interval", text)
        self.visit(node.value)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        left, right = node.left, node.right
        if _is_clock(left) or _is_clock(right):
            return  # how long it took
        texts = any(isinstance(one, ast.JoinedStr | ast.List | ast.Tuple) or _is_text(one) for one in (left, right))
        if isinstance(node.op, ast.Add | ast.Sub) and not texts:
            self._replace(node, "term dropped", self._text(left))
            if isinstance(node.op, ast.Add):
                self._replace(node, "term dropped", self._text(right))
        if isinstance(node.op, ast.BitAnd | ast.BitOr):
            old, new = ("&", "|") if isinstance(node.op, ast.BitAnd) else ("|", "&")
            self._between(left, right, "and or or", old, new)
        if isinstance(node.op, ast.Mult):
            for side in (left, right):
                if _last_name(side) in ROUNDING:
                    self._replace(side, "rounding", "0.0")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            if not (_is_limited(left) and _is_limited(right)):
                self._between(left, right, "and or or", old, new)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, right, operator in zip(operands, operands[1:], node.ops, strict=False):
            # A number that somebody has chosen means as much as the next one.
            if type(operator) in STRICT and not any(_has_constant(one) or _is_clock(one) for one in (left, right)):
                new = STRICT[type(operator)]
                old = new[0] if len(new) == 2 else new + "="
                self._between(left, right, "strictness", old, new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.Invert):
            self._replace(node, "not dropped", self._text(node.operand))
        self.visit(node.operand)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.value, ast.Name) and node.value.id == "Claim":
            self._replace(node, "claim", f"Claim.{CLAIMS[node.attr]}")
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if not (isinstance(node.op, ast.Sub) and _last_name(node.target) in ACCOUNTS):
            self._replace(node, "statement dropped", "pass")
        if isinstance(node.op, ast.BitAnd | ast.BitOr):
            old, new = ("&=", "|=") if isinstance(node.op, ast.BitAnd) else ("|=", "&=")
            self._between(node.target, node.value, "and or or", old, new)
        self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name) and _is_chosen(target) and _is_real(node.value):
                self._replace(node.value, "constant", f"{self._text(node.value)} / 2")
                self._replace(node.value, "constant", "0.0")
        self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        self._turn(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._turn(node.test)
        self.generic_visit(node)

    def _turn(self, test: ast.expr) -> None:
        words = " ".join(_last_name(one) for one in ast.walk(test) if isinstance(one, ast.expr)).lower()
        if any(state in words for state in STATES):
            self._replace(test, "condition turned", f"not ({self._text(test)})")

    def visit_Name(self, node: ast.Name) -> None:
        if node.id == "seed" and isinstance(node.ctx, ast.Load):
            self._replace(node, "seed", "0")


def _is_chosen(target: ast.Name) -> bool:
    return target.id.isupper() and not target.id.startswith(LIMITS)


def _is_clock(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _last_name(node.func) in CLOCKS


def _is_limited(node: ast.expr) -> bool:
    """Tell whether something is compared with how much work is done at most."""
    return isinstance(node, ast.Compare) and any(_last_name(one).startswith(LIMITS) for one in node.comparators)


def _has_constant(node: ast.expr) -> bool:
    """Tell whether a constant of the module, or a real number with digits of its own, is among what is compared."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name) and one.id.isupper() and len(one.id) > 1:
            return True
        if isinstance(one, ast.Constant) and isinstance(one.value, float) and not one.value.is_integer():
            return True
    return False


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_real(node: ast.expr) -> bool:
    """Tell whether an expression is made of numbers only, one of them with a point: no size of a block."""
    parts = list(ast.walk(node))
    plain = all(isinstance(one, ast.BinOp | ast.UnaryOp | ast.Constant | ast.operator | ast.unaryop) for one in parts)
    return plain and any(isinstance(one, ast.Constant) and isinstance(one.value, float) for one in parts)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def all_mutants(sources: dict[str, str]) -> Iterator[Mutant]:
    """Yield the faults of several modules."""
    for module, source in sources.items():
        yield from mutants_of(module, source)
