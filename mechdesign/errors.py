"""Every error the package raises on purpose, in one tree.

::

    MechDesignError
    ├── InvalidInput        a value breaks a rule: names the field, the value, the rule, the next step (exit code 2)
    │   ├── WrongArguments  a value was made with fields it does not have, or without one it needs: a TypeError, too
    │   ├── InvalidData     a value in data about people: names its place and the rule, and does not hold the value
    │   ├── StateRefused    the state of a device does not allow a report: says by a word why
    │   └── FileProblem     a file that cannot be read, written or trusted
    ├── NoAnswer            the limits were reached first: carries the bounds and the design found (exit code 3)
    ├── CheckFailed         a result failed its own proof and was withheld
    ├── SolverFailed        a solver is broken: says how, and what to do (exit code 1)
    ├── MissingExtra        an optional dependency is not installed: names the extra
    └── BrokenExtra         it is installed and does not load: says why
"""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextvars import ContextVar
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from functools import partial, wraps
from typing import Any, ClassVar, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

MAX_EPSILON = 64.0
"""Largest epsilon accepted. Beyond it e^(-eps/2) drops under the spacing of doubles and no window could be resolved."""

MIN_EPSILON = 1e-12
"""Smallest epsilon accepted. Below it e^eps - 1 nears the spacing of doubles and no law could differ from uniform."""


class MechDesignError(Exception):
    """Root of the errors raised on purpose."""


class InvalidInput(MechDesignError, ValueError):
    """A value breaks a rule.

    Whole arrays, lists, mappings and data frames may be data about people: of these, only the kind and the size stay.

    >>> str(InvalidInput("eps", -1, "be a finite number above 0", "pass for example eps=1"))
    'eps must be a finite number above 0 (got -1); pass for example eps=1'
    >>> str(InvalidInput("x", [0.2, 7.1], "be one number"))
    'x must be one number (got a list of 2)'
    """

    def __init__(self, field: str, value: Any, rule: str, next_step: str = "") -> None:
        self.field = field
        self.value = _described(value)
        self.rule = rule
        self.next_step = next_step
        tail = f"; {next_step}" if next_step else ""
        super().__init__(plain(f"{field} must {rule}{self._got()}{tail}"))

    def _got(self) -> str:
        return f" (got {_shown(self.value)})"

    def __reduce__(self) -> tuple[Any, ...]:  # errors come back from worker processes
        return type(self), (self.field, self.value, self.rule, self.next_step)


class WrongArguments(InvalidInput, TypeError):
    """A value or an answer was asked for with fields that it does not have, or without one that it needs.

    >>> str(WrongArguments(Exception, "up", "be given lower, upper", "did you mean upper?"))
    'Exception must be given lower, upper (got up); did you mean upper?'
    """

    def __init__(self, kind: Callable[..., Any], got: str, rule: str, next_step: str = "") -> None:
        self.kind = kind
        super().__init__(kind.__name__, got, rule, next_step)

    def _got(self) -> str:
        return f" (got {plain(self.value, _LONGEST_VALUE)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.kind, self.value, self.rule, self.next_step)


class _Withheld:
    """What stands for a value that no error may hold."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "withheld"

    def __reduce__(self) -> str:
        return "WITHHELD"


class _Described(str):
    """The kind and size of a value that was not kept."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


WITHHELD = _Withheld()
_showing: ContextVar[bool] = ContextVar("showing", default=False)


@contextlib.contextmanager
def showing_values() -> Iterator[None]:
    """In here errors about data hold and show the value, too: for who may see the data, and keeps no log.

    >>> with showing_values():
    ...     print(InvalidData("column 'age', data row 7,", "x", "hold a number"))
    column 'age', data row 7, must hold a number (got 'x')
    """
    before = _showing.set(True)
    try:
        yield
    finally:
        _showing.reset(before)


class InvalidData(InvalidInput):
    """A value in data about people breaks a rule: its place (file, column, row) and the rule say which.

    *Guarantee.* The value is dropped where the error is made: neither its text nor its attributes nor its pickle hold
    it, whatever a reader passes, unless this runs inside `showing_values`. Its place and rule must not quote it.

    >>> error = InvalidData("column 'age', data row 7,", "my status: positive", "hold a number")
    >>> print(error), error.value
    column 'age', data row 7, must hold a number
    (None, withheld)
    """

    def __init__(self, field: str, value: Any, rule: str, next_step: str = "") -> None:
        super().__init__(field, value if _showing.get() else WITHHELD, rule, next_step)

    def _got(self) -> str:
        return "" if self.value is WITHHELD else super()._got()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self.field, self.value, self.rule, self.next_step)


def shows_values() -> bool:
    """Whether this runs inside `showing_values`: worker processes are told, as they do not inherit it."""
    return _showing.get()


def _unpickled(kind: type[InvalidData], field: str, value: Any, rule: str, next_step: str) -> InvalidData:
    """What was shown where the error was made is shown where it comes back."""
    if value is WITHHELD:
        return kind(field, value, rule, next_step)
    with showing_values():
        return kind(field, value, rule, next_step)


def sealed(door: Callable[P, R]) -> Callable[P, R]:
    """A function that reads data about people: its errors leave without those behind them, whose words may quote it."""

    @wraps(door)
    def guarded(*arguments: P.args, **named: P.kwargs) -> R:
        try:
            return door(*arguments, **named)
        except InvalidInput as error:
            failure = error
        failure.__cause__ = failure.__context__ = None
        raise failure

    return guarded


class FileProblem(InvalidInput):
    """A file that cannot be read, written or trusted."""


class StateRefused(InvalidInput):
    """The state of a device does not allow what was asked; ``reason`` is the word that every language has for it.

    Nothing was drawn that anybody saw, and nothing was stored.

    >>> print(StateRefused("busy"))
    state must be used by one process at a time (got 'busy'); try again when the other one is done
    """

    RULES: ClassVar[Mapping[str, tuple[str, str]]] = {
        "missing": ("be there", "is this the first start, or was it lost? create one, with what the server allows"),
        "damaged": ("have the length, sum and entries it was stored with", "treat it as lost: create one"),
        "other": ("be one of this device file and version", "give every device file a storage of its own"),
        "rolled-back": ("not be older than the last one known", "treat it as lost: create one"),
        "ahead": ("not jump by more than 100 periods", "check the clock, or have the server confirm with create"),
        "past": ("not be of a later period than the question", "check the clock, or who counts periods"),
        "exhausted": ("have a report left", "ask again in the next period"),
        "present": ("be missing, damaged or rolled back where one is created", "ask: it is there"),
        "busy": ("be used by one process at a time", "try again when the other one is done"),
    }

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__("state", reason, *self.RULES[reason])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason,)


class NoAnswer(MechDesignError):
    """The limits were reached before the answer was proven; ``lower`` and ``upper`` bound the optimum.

    ``claimed`` bounds rest on doubles. ``design`` is the best design found, where there is one: its certificate holds
    these bounds, and the message says which gap is within reach. It stays in the process that found it.

    >>> print(NoAnswer("the time limit was reached", 0.1999, 0.2))
    the time limit was reached; the optimum lies in [0.1999, 0.2]
    """

    def __init__(
        self,
        message: str,
        lower: float,
        upper: float,
        *,
        claimed: bool = False,
        design: Any | None = None,
        next_step: str = "",
    ) -> None:
        self.reason = message
        self.lower = lower
        self.upper = upper
        self.claimed = claimed
        self.design = design
        ends = f"[{_rounded(lower, ROUND_FLOOR)}, {_rounded(upper, ROUND_CEILING)}]"
        self.next_step = next_step
        wider = None if design is None else self.gap_within_reach
        reach = "" if wider is None else f"; a gap of {wider:g} is within reach"
        tail = f"; {next_step}" if next_step else ""
        basis = " (claimed, not proven)" if claimed else ""
        super().__init__(f"{message}; the optimum lies in {ends}{basis}{reach}{tail}")

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), claimed=self.claimed, next_step=self.next_step), (
            self.reason,
            self.lower,
            self.upper,
        )

    @property
    def gap(self) -> float:
        """The relative gap of the bounds."""
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0

    @property
    def gap_within_reach(self) -> float | None:
        """A gap to ask for instead: the same search ends within one a little wider than what it reached.

        >>> NoAnswer("the time limit was reached", 0.9985, 1.0).gap_within_reach
        0.002
        """
        if not 0 < self.gap < 1:
            return None
        digit = math.floor(math.log10(self.gap))
        wider = float(f"{math.ceil(1.2 * self.gap / 10.0**digit)}e{digit}")
        return wider if wider < 1 else None


class CheckFailed(MechDesignError):
    """A result failed its own proof, so it was not returned."""


class SolverFailed(MechDesignError):
    """A solver ended without an answer, and not for a limit: the reason it gave, and the next step."""

    def __init__(self, solver: str, reason: str, next_step: str) -> None:
        self.solver = solver
        self.reason = reason
        self.next_step = next_step
        super().__init__(f"{solver} is broken or was stopped: {reason}; {next_step}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.solver, self.reason, self.next_step)


class MissingExtra(MechDesignError, ImportError):
    """An optional dependency is not installed.

    >>> str(MissingExtra("method='scip'", "scip"))
    "method='scip' needs an optional dependency; install it with: pip install 'mechdesign[scip]'"
    """

    def __init__(self, feature: str, extra: str) -> None:
        self.feature = feature
        self.extra = extra
        super().__init__(f"{feature} needs an optional dependency; install it with: pip install 'mechdesign[{extra}]'")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.feature, self.extra)


class BrokenExtra(MechDesignError, ImportError):
    """An optional dependency is installed and does not load: for want of memory, or of a library it needs itself.

    >>> str(BrokenExtra("this", "data", "libarrow.so: failed to map segment")).partition(";")[0]
    'this needs an optional dependency that does not load: libarrow.so: failed to map segment'
    """

    def __init__(self, feature: str, extra: str, reason: str) -> None:
        self.feature = feature
        self.extra = extra
        self.reason = reason
        super().__init__(
            f"{feature} needs an optional dependency that does not load: {plain(reason, 300)}; "
            f"free memory, or install it anew with: pip install --upgrade 'mechdesign[{extra}]'"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.feature, self.extra, self.reason)


def unusable_extra(feature: str, extra: str, error: ImportError) -> MissingExtra | BrokenExtra:
    """What an import that failed says of an optional dependency: that it is not there, or that it does not load.

    >>> type(unusable_extra("this", "data", ModuleNotFoundError("no pyarrow"))).__name__
    'MissingExtra'
    """
    if isinstance(error, ModuleNotFoundError):
        return MissingExtra(feature, extra)
    return BrokenExtra(feature, extra, str(error))


_LONGEST = 2000  # characters of a message
_LONGEST_VALUE = 120
_MOST_NAMES = 20


def plain(text: str, most: int = _LONGEST) -> str:
    """Text on one line of at most ``most`` characters, with a ``?`` for what could change a terminal.

    >>> plain("a\\x1b[31m"), plain("abcdefgh", 6)
    ('a?[31m', 'abc...')
    """
    line = "".join(letter if letter.isprintable() else " " if letter == "\n" else "?" for letter in text[: most + 1])
    return line if len(line) <= most else f"{line[: most - 3]}..."


def marked(name: str) -> str:
    """A name that nothing decides, in quotes and said to be the file's own.

    >>> marked("PASS, eps = 0.1")
    "'PASS, eps = 0.1' (named in the file)"
    """
    return f"{plain(name)!r} (named in the file)"


def listed(names: Sequence[Any], most: int = _MOST_NAMES) -> str:
    """Names as a message shows them, cut after the first ones.

    >>> listed(["a", "b", "c"], 2)
    "'a', 'b', ... (3 in all)"
    """
    tail = f", ... ({len(names)} in all)" if len(names) > most else ""
    return ", ".join(plain(repr(name), _LONGEST_VALUE) for name in names[:most]) + tail


def _rounded(value: float, direction: str) -> str:
    """Eight significant digits, rounded in a direction: a bound stays a bound."""
    return f"{float(Context(prec=8, rounding=direction).create_decimal(repr(float(value)))):.8g}"


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer too long to be printed
        text = f"a {type(value).__name__}"
    return plain(text, _LONGEST_VALUE)


def _described(value: Any) -> Any:
    """The value itself if it is one thing or a tuple of such, else its kind and size."""
    shape, kind = getattr(value, "shape", None), type(value).__name__
    if isinstance(shape, tuple) and shape:
        held = getattr(value, "dtype", None)
        return _Described(f"{kind} of shape {shape}" if held is None else f"{kind} of {held} and shape {shape}")
    if isinstance(value, list | Mapping | Set):
        return _Described(f"a {kind} of {len(value)}")
    if isinstance(value, tuple):
        parts = tuple(map(_described, value))
        return value if all(part is whole for part, whole in zip(parts, value, strict=True)) else parts
    if isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray):
        return value if shape == () else _Described(f"a {kind}")
    return value


def require_epsilon(epsilon: float, field: str = "eps") -> float:
    """The privacy parameter as a float, or `InvalidInput`.

    >>> require_epsilon(2)
    2.0
    """
    rule = f"be a finite number above 0 and at most {MAX_EPSILON:g}"
    number = require_number(epsilon, field)
    if not (math.isfinite(number) and 0 < number <= MAX_EPSILON):
        raise InvalidInput(field, epsilon, rule, f"pass for example {field}=1")
    if number < MIN_EPSILON:
        raise InvalidInput(field, epsilon, f"be at least {MIN_EPSILON:g}", "doubles cannot resolve less privacy loss")
    return number


def require_number(value: Any, field: str) -> float:
    """``value`` as a float; text, booleans, arrays and NaN are `InvalidInput`."""
    is_array_like = getattr(value, "ndim", 0) != 0 or getattr(getattr(value, "dtype", None), "kind", "f") not in "fiu"
    if is_array_like or isinstance(value, bool | str | bytes | bytearray | memoryview):
        raise InvalidInput(field, value, "be a number")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(field, value, "be a number") from None
    if math.isnan(number):
        raise InvalidInput(field, value, "be a number", "NaN is never accepted")
    return number


def require_finite(value: Any, field: str) -> float:
    """``value`` as a finite float, or `InvalidInput`."""
    number = require_number(value, field)
    if math.isinf(number):
        raise InvalidInput(field, value, "be finite")
    return number


def require_seconds(value: Any) -> float | None:
    """A time limit as a float above 0, None for no limit, or `InvalidInput`."""
    if value is None:
        return None
    seconds = require_finite(value, "seconds")
    if not seconds > 0:
        raise InvalidInput("seconds", value, "be finite and above 0")
    return seconds


def require_whole(value: Any, field: str, least: int, most: int | None = None, next_step: str = "") -> int:
    """``value`` as a whole number between two ends, or `InvalidInput`: no boolean, no double, no array.

    >>> require_whole(3, "count", 1)
    3
    """
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least or (most is not None and number > most):
        ends = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidInput(field, value, f"be a whole number {ends}", next_step)
    return number


def require_chance(value: Any, field: str, next_step: str = "") -> float:
    """``value`` as a float strictly between 0 and 1, or `InvalidInput`."""
    number = require_number(value, field)
    if not 0 < number < 1:
        raise InvalidInput(field, value, "lie strictly between 0 and 1", next_step)
    return number


def require_one_of(value: Any, field: str, known: Iterable[str]) -> str:
    """``value`` if it is one of these words, or `InvalidInput` that lists them.

    >>> require_one_of("raw", "method", ("raw", "ml"))
    'raw'
    """
    words = tuple(known)
    if not isinstance(value, str) or value not in words:
        raise InvalidInput(field, value, f"be one of {', '.join(words)}", did_you_mean(value, words))
    return value


def require_name(value: Any, field: str, known: Iterable[str]) -> str:
    """The one of these names, all in small letters, that ``value`` is in either case, or `InvalidInput`.

    >>> require_name(" OUE ", "protocol", ("grr", "oue"))
    'oue'
    """
    words = tuple(known)
    name = value.strip().lower() if isinstance(value, str) else value
    if name not in words:
        raise InvalidInput(field, value, f"be one of {', '.join(words)}", did_you_mean(value, words))
    return str(name)


_CALLED = {
    "krr": ("grr",),
    "k-rr": ("grr",),
    "rr": ("grr",),
    "rappor": ("sue",),
    "mse": ("squared",),
    "l2": ("squared",),
    "square": ("squared",),
    "quadratic": ("squared",),
    "mae": ("absolute", "mae"),
    "l1": ("absolute",),
    "cdf": ("prefix", "ranges"),
    "quantiles": ("prefix", "ranges"),
    "quantile": ("prefix", "ranges"),
    "median": ("prefix", "ranges"),
    "frequencies": ("histogram", "categories"),
    "counts": ("histogram", "categories"),
    "precision": ("top",),
    "tau": ("kendall",),
    "earth-mover": ("emd",),
    "wasserstein": ("emd",),
}
"""What elsewhere is called so is called that here; a list of names has one or another of them."""


def did_you_mean(said: Any, known: Iterable[str]) -> str:
    """The next step where a name is unknown: the known one that others call so, or nearly the same; else nothing.

    >>> did_you_mean("kRR", ("grr", "oue")), did_you_mean("ranked", ("ranges", "prefix")), did_you_mean("x", ("y",))
    ('did you mean grr?', 'did you mean ranges?', '')
    """
    from difflib import get_close_matches

    names, key = list(known), said.strip().lower() if isinstance(said, str) else ""
    meant = [name for name in _CALLED.get(key, ()) if name in names] or get_close_matches(key, names, 1)
    return f"did you mean {meant[0]}?" if meant else ""
