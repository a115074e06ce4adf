"""Single changes to a source that its tests must notice: comparisons, numbers, operators, rounding, dropped lines.

Words are left as they are: strings, docstrings, annotations, and what is said where something is refused.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Mod: ast.Add,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
_TURNED = (
    ("min", "max"),
    ("any", "all"),
    ("floor", "ceil"),
    ("minimum", "maximum"),
    ("argmin", "argmax"),
    ("exp_lower", "exp_upper"),
    ("float_down", "float_up"),
    ("log_down", "log_up"),
    ("bisect_left", "bisect_right"),
)
_OTHER = dict([*_TURNED, *((right, left) for left, right in _TURNED)])
_REFUSALS = {"need": 1}
"""Calls whose arguments from this one on are words."""


class Change(NamedTuple):
    """Bytes ``start`` to ``stop`` of a source become ``after``; ``function`` is where, ``lines`` the first and last.

    What is not ``inside`` a function happens when the module is imported.
    """

    function: str
    inside: bool
    rule: str
    before: str
    after: str
    number: int
    lines: tuple[int, int]
    start: int
    stop: int

    @property
    def key(self) -> str:
        """What stays the same while other lines change."""
        again = f" (no. {self.number + 1})" if self.number else ""
        return f"{self.function}: {self.rule}: {self.before} -> {self.after}{again}"


def applied(source: str, change: Change) -> str:
    """The changed source.

    >>> [change] = [c for c in changes("def f(x):\\n    return x < 7\\n") if c.rule == "comparison"]
    >>> print(applied("def f(x):\\n    return x < 7\\n", change))
    def f(x):
        return (x <= 7)
    <BLANKLINE>
    """
    content = source.encode()
    return (content[: change.start] + change.after.encode() + content[change.stop :]).decode()


def changes(source: str) -> list[Change]:
    """All single changes, in the order of the source.

    >>> [change.key for change in changes("if all(rows): add(1)")]  # doctest: +NORMALIZE_WHITESPACE
    ['module: condition: all(rows) -> (not (all(rows)))', 'module: turned: all -> any',
     'module: dropped: add(1) -> pass', 'module: number: 1 -> 2', 'module: number: 1 -> 0']
    """
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    seen: Counter[tuple[str, str, str, str]] = Counter()
    found = []
    for where, node, rule, after in _walk(ast.parse(source), _Where("module", False)):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        said = (where.function, rule, ast.unparse(node), after)
        place = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        found.append(
            Change(where.function, where.inside, *said[1:], seen[said], (node.lineno, node.end_lineno), *place)
        )
        seen[said] += 1
    return found


class _Where(NamedTuple):
    function: str
    inside: bool

    def within(self, name: str, inside: bool) -> _Where:
        return _Where(name if self.function == "module" else f"{self.function}.{name}", inside)


def _walk(node: ast.AST, where: _Where) -> Iterator[tuple[_Where, ast.expr | ast.stmt, str, str]]:
    if isinstance(node, ast.expr | ast.stmt):
        yield from ((where, node, rule, after) for rule, after in _of(node))
    yield from ((where, test, "condition", after) for test, after in _conditions(node))
    if isinstance(node, ast.FunctionDef):
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            yield from _walk(default, where.within(node.name, where.inside))
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        where = where.within(node.name, where.inside or isinstance(node, ast.FunctionDef))
    for child in _code(node):
        yield from _walk(child, where)


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that do something."""
    match node:
        case ast.Raise() | ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.Assert():
            return
        case ast.FunctionDef() | ast.ClassDef():
            yield from node.body
        case ast.AnnAssign():
            yield from () if node.value is None or "ClassVar" in ast.unparse(node.annotation) else (node.value,)
        case ast.Call(func=ast.Name(id=name)) if name in _REFUSALS:
            yield from node.args[: _REFUSALS[name]]
        case ast.If() if ast.unparse(node.test).startswith(("TYPE_CHECKING", "__name__")):
            return
        case _:
            yield from ast.iter_child_nodes(node)


def _of(node: ast.expr | ast.stmt) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                ops = [*node.ops[:place], _COMPARED[type(operator)](), *node.ops[place + 1 :]]
                yield "comparison", f"({ast.unparse(ast.Compare(node.left, ops, node.comparators))})"
        case ast.BoolOp():
            other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
            yield "and, or", f"({ast.unparse(ast.BoolOp(other, node.values))})"
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield "sign", f"({ast.unparse(node.operand)})"
        case ast.BinOp(op=ast.FloorDiv()):
            up = ast.BinOp(ast.UnaryOp(ast.USub(), node.left), node.op, node.right)
            yield "rounding", f"(-({ast.unparse(up)}))"
        case ast.BinOp() if type(node.op) in _OPERATORS:
            yield "operator", f"({ast.unparse(ast.BinOp(node.left, _OPERATORS[type(node.op)](), node.right))})"
        case ast.Constant(value=bool(value)):
            yield "truth", str(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield from (("number", repr(value + 1)), ("number", repr(value - 1)))
        case ast.Name(id=name) if name in _OTHER:
            yield "turned", _OTHER[name]
        case ast.Attribute(attr=name) if name in _OTHER:
            yield "turned", ast.unparse(ast.Attribute(node.value, _OTHER[name]))
        case ast.Slice(upper=ast.expr() as upper):
            shorter = ast.Slice(node.lower, ast.BinOp(upper, ast.Sub(), ast.Constant(1)), node.step)
            yield "slice", ast.unparse(shorter)
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield "dropped", "pass"


def _conditions(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Conditions and their opposites, but for those that other changes turn round; of comprehensions they go."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            if not isinstance(test, ast.UnaryOp) and not (isinstance(test, ast.Compare) and _is_turned(test)):
                yield test, f"(not ({ast.unparse(test)}))"
        case ast.comprehension(ifs=tests):
            yield from ((test, "True") for test in tests)


def _is_turned(test: ast.Compare) -> bool:
    return len(test.ops) == 1 and not isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
