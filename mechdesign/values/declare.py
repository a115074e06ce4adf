"""How a value class declares its fields: what is stored, what is checked once, what makes two values equal.

A value class is `frozen`: a converter stores a field in one form, a validator refuses what breaks a rule, and equality,
hash, pickle and file form (`mechdesign.values.codec`) follow from the declaration. It is attrs underneath, which has
converters and keys of comparison where dataclasses have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, Literal, ParamSpec, TypeVar, cast, dataclass_transform

import attrs
import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import (
    InvalidInput,
    WrongArguments,
    require_epsilon,
    require_finite,
    require_number,
    require_one_of,
    require_whole,
)
from mechdesign.values.shown import shown

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Counts = Whole
Rule = Callable[[Any, Any, Any], None]

OPTION, GROUP, LEAST, MOST, WORDS = (
    "option",
    "group",
    "least",
    "most",
    "words",
)  # keys of metadata, which commands and schemas are derived from
NOTHING = attrs.NOTHING
"""The default of a field that has to be given."""

T = TypeVar("T")
P = ParamSpec("P")


def stored(values: ArrayLike) -> Floats:
    """A read-only copy of numbers as doubles, for a field of a frozen value.

    >>> stored([1, 2]).flags.writeable
    False
    """
    array = np.array(values, dtype=np.float64) + 0.0  # -0.0 and 0.0 are one number
    array.setflags(write=False)
    return array


def numbers(name: str) -> Callable[[ArrayLike], Floats]:
    """`stored` for numbers that errors call ``name``.

    >>> numbers("base")([[1.0], [0.5, 0.5]])
    Traceback (most recent call last):
    mechdesign.errors.InvalidInput: base must be rows of numbers, all of one length (got a list of 2)
    """

    def convert(said: ArrayLike) -> Floats:
        try:
            return stored(said)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput(name, said, "be rows of numbers, all of one length") from None

    return convert


def content(said: Any) -> Any:
    """What two stored arrays are compared and hashed by; anything else by itself."""
    return (said.shape, said.tobytes()) if isinstance(said, np.ndarray) else said


def field(**options: Any) -> Any:
    """A field with a converter, a validator, or a default that depends on the others: the options of `attrs.field`."""
    return attrs.field(**options)


def derived(compute: Callable[[Any], Any], *, init: Literal[False] = False) -> Any:
    """A field that follows from the others and is computed once, when the value is made.

    >>> @frozen
    ... class Square:
    ...     side: float
    ...     area: float = derived(lambda square: square.side**2)
    >>> Square(3.0).area
    9.0
    """
    return attrs.field(init=init, eq=False, repr=False, default=attrs.Factory(compute, takes_self=True))


def array(convert: Callable[[Any], Any] = stored, **options: Any) -> Any:
    """A field that holds an array of doubles, read-only, compared by its content.

    >>> @frozen
    ... class Weights:
    ...     of: Floats = array()
    >>> Weights([0.5, 0.5]) == Weights([0.5, 0.5]), hash(Weights([1.0])) == hash(Weights([1.0]))
    (True, True)
    """
    return attrs.field(converter=convert, eq=content, **options)


@attrs.frozen
class Option:
    """How commands take a field: the names of an option, what its help says, and what stands for its value there."""

    names: tuple[str, ...]
    help: str
    metavar: str | None = None
    words: Callable[[], Iterable[str]] | None = None


def option(
    name: str,
    help: str,
    *names: str,
    metavar: str | None = None,
    words: Callable[[], Iterable[str]] | None = None,
) -> dict[str, Any]:
    """The metadata of a field that commands take as an option: type, default and range are those of the field.

    ``words`` gives the names that a shell offers where it is asked to complete one.

    >>> @frozen
    ... class Asked:
    ...     gap: float = gap(1e-6, default=1e-4, metadata=option("--gap", "Relative gap of the bounds."))
    >>> attrs.fields(Asked).gap.metadata["option"].names
    ('--gap',)
    """
    return {OPTION: Option((name, *names), help, metavar, words)}


def asked(
    name: str,
    help: str,
    *names: str,
    read: Callable[[Any], Any] | None = None,
    default: Any = None,
    words: Sequence[str] | Callable[[], Iterable[str]] | None = None,
    metavar: str | None = None,
) -> Any:
    """A field of a study with its option: whatever ``read`` makes of it; None was not said.

    ``words`` are those that there are, or give those that a shell offers. A ``name`` without hyphens in front is that
    of an argument.

    >>> @frozen
    ... class Asked:
    ...     method: str | None = asked("--method", "How.", words=("exact", "simulated"))
    >>> Asked("fast")
    Traceback (most recent call last):
    mechdesign.errors.InvalidInput: method must be one of exact, simulated (got 'fast')
    """
    if isinstance(words, tuple | list) and read is None:
        known = tuple(words)
        called = name.strip("-").replace("-", " ")
        read = lambda said: require_one_of(said, called, known)  # noqa: E731
    offered = words if words is None or callable(words) else lambda: words
    told = Option((name, *names) if name.startswith("-") else (), help, metavar, offered)
    return attrs.field(default=default, converter=None if read is None else optional(read), metadata={OPTION: told})


def needed(name: str, help: str, *names: str, **more: Any) -> Any:
    """A field of a study that has to be given, as `asked` has it otherwise."""
    return asked(name, help, *names, default=NOTHING, **more)


def group(kind: type, *but: str) -> Any:
    """A field that holds a value of ``kind``, whose fields are options beside those of the study, ``but`` excepted."""
    return attrs.field(factory=kind, metadata={GROUP: (kind, but)})


GAP_OPTION = option("--gap", "Relative gap of the proven bounds to reach.")
SLACK_OPTION = option("--slack", "Worst case at most 1 + S times the least.", metavar="S")


def _ranged(options: dict[str, Any], least: float | None, most: float | None = None) -> dict[str, Any]:
    """The options of a field with its range in its metadata."""
    ends = {name: end for name, end in ((LEAST, least), (MOST, most)) if end is not None}
    return options | {"metadata": ends | dict(options.get("metadata") or {})}


def epsilon(**options: Any) -> Any:
    """A field that holds a privacy parameter."""
    told = option("--eps", "Privacy parameter, above 0.")
    return attrs.field(converter=require_epsilon, **options | {"metadata": told | dict(options.get("metadata") or {})})


def finite(name: str, **options: Any) -> Any:
    """A field that holds a finite double; ``name`` is what errors call it."""
    return attrs.field(converter=lambda said: require_finite(said, name), **options)


def number(name: str, **options: Any) -> Any:
    """A field that holds a double, infinite ones included."""
    return attrs.field(converter=lambda said: require_number(said, name), **options)


def whole(name: str, least: int, most: int | None = None, **options: Any) -> Any:
    """A field that holds a whole number between two ends."""
    return attrs.field(converter=lambda said: require_whole(said, name, least, most), **_ranged(options, least, most))


def gap(least: float, **options: Any) -> Any:
    """A field that holds a relative distance of two bounds, at which a search may stop.

    >>> @frozen
    ... class Asked:
    ...     gap: float = gap(1e-6, default=1e-4)
    >>> Asked(1.0)
    Traceback (most recent call last):
    mechdesign.errors.InvalidInput: gap must lie between 1e-6 and 1 (got 1.0)
    """

    def convert(said: Any) -> float:
        value = require_finite(said, "gap")
        if not least <= value < 1:
            raise InvalidInput("gap", said, f"lie between {f'{least:g}'.replace('e-0', 'e-')} and 1")
        return value

    told = _ranged(options, least, 1)
    return attrs.field(converter=convert, **told | {"metadata": GAP_OPTION | told["metadata"]})


def one_of(name: str, known: Iterable[str], **options: Any) -> Any:
    """A field that holds one of these words."""
    words = tuple(known)
    told = options | {"metadata": {WORDS: words} | dict(options.get("metadata") or {})}
    return attrs.field(converter=lambda said: require_one_of(said, name, words), **told)


def several(name: str, convert: Callable[[Any], Any] = lambda said: said, **options: Any) -> Any:
    """A field that holds a tuple with at least one entry, each in the form that ``convert`` gives it.

    >>> @frozen
    ... class Budgets:
    ...     epsilons: tuple[float, ...] = several("eps", require_epsilon)
    >>> Budgets([1, 2])
    Budgets(epsilons=(1.0, 2.0))
    """

    def entries(said: Any) -> tuple[Any, ...]:
        if isinstance(said, str | bytes) or not isinstance(said, Iterable):
            raise InvalidInput(name, said, "be a list")
        found = tuple(map(convert, said))
        if not found:
            raise InvalidInput(name, "nothing", "be a list of at least one")
        return found

    return attrs.field(converter=entries, **options)


def optional(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same converter, with None left as it is."""
    return lambda said: None if said is None else convert(said)


@attrs.frozen
class Within:
    """A validator: the number is at least ``least`` and at most ``most``."""

    name: str
    least: float
    most: float
    why: str = ""

    def __call__(self, _: Any, __: Any, said: float) -> None:
        if not self.least <= said <= self.most:
            raise InvalidInput(self.name, said, f"lie between {self.least:g} and {self.most:g}{self.why}")


def within(name: str, least: float, most: float, why: str = "") -> Within:
    """A validator that says its range.

    >>> within("gap", 1e-6, 0.5)(None, None, 2.0)
    Traceback (most recent call last):
    mechdesign.errors.InvalidInput: gap must lie between 1e-06 and 0.5 (got 2.0)
    """
    return Within(name, least, most, why)


def range_of(field: Any) -> tuple[float | None, float | None]:
    """The least and the most that the declaration of a number allows; None where it does not say.

    >>> @frozen
    ... class Grid:
    ...     bins: int = whole("bins", 2, 512)
    >>> range_of(attrs.fields(Grid).bins)
    (2, 512)
    """
    if isinstance(field.validator, Within):
        return field.validator.least, field.validator.most
    return field.metadata.get(LEAST), field.metadata.get(MOST)


@dataclass_transform(
    frozen_default=True,
    field_specifiers=(field, derived, array, needed, group, epsilon, finite, number, whole, gap, one_of, several),
)
def frozen(kind: type[T]) -> type[T]:
    """The class as an immutable, slotted value: its fields are stored, checked and compared as they are declared.

    It is shown on one line (`mechdesign.values.shown`), and says which fields it has to who gives it others.

    >>> @frozen
    ... class Ends:
    ...     lower: float = finite("lower end")
    ...     upper: float = finite("upper end")
    >>> Ends(0, 1)
    Ends(lower=0.0, upper=1.0)
    >>> Ends(0, uper=1)
    Traceback (most recent call last):
    mechdesign.errors.WrongArguments: Ends must be given lower, upper (got uper); did you mean upper?
    """
    said = vars(kind)
    if "__repr__" not in said:
        kind.__repr__ = shown  # type: ignore[method-assign]
    made = attrs.frozen(kind)
    if "__init__" not in said:
        setattr(made, "__init__", _naming_fields(made, vars(made)["__init__"]))  # noqa: B010
    return made


def _naming_fields(kind: type[T], init: Callable[..., None]) -> Callable[..., None]:
    """The constructor, with `WrongArguments` where Python would only say that one is missing or unexpected."""

    @wraps(init)
    def made(self: T, /, *given: Any, **fields: Any) -> None:
        try:
            init(self, *given, **fields)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # from inside: not about the arguments
            wrong = _wrong_arguments(kind, given, fields)
        else:
            return
        raise wrong

    return made


def named_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """The function, with `WrongArguments` where Python would only say that an argument is missing or unexpected.

    >>> @named_arguments
    ... def least(epsilon, *, users=None): ...
    >>> least(eps=1)
    Traceback (most recent call last):
        ...
    mechdesign.errors.WrongArguments: least must be given epsilon (got eps); did you mean epsilon?
    """
    known = signature(function)

    @wraps(function)
    def called(*given: P.args, **fields: P.kwargs) -> T:
        try:
            known.bind(*given, **fields)
        except TypeError:
            wrong = _wrong_call(function, known, len(given), list(fields))
        else:
            return function(*given, **fields)
        raise wrong

    return called


def _wrong_call(function: Callable[..., Any], known: Signature, given: int, fields: list[str]) -> WrongArguments:
    from difflib import get_close_matches

    names = list(known.parameters)
    required = [name for name in names[given:] if known.parameters[name].default is Parameter.empty]
    missing = [name for name in required if name not in fields]
    unknown = [name for name in fields if name not in names]
    near = [name for said in unknown[:1] for name in names if name.startswith(said)]
    near += [name for said in unknown[:1] for name in get_close_matches(said, names, 1)]
    rule = f"be given {', '.join(missing)}" if missing else f"be given only {', '.join(names)}"
    got = ", ".join([*names[: min(given, len(names))], *fields]) or "nothing"
    return WrongArguments(function, got, rule, f"did you mean {near[0]}?" if near else "")


def _wrong_arguments(kind: type, given: tuple[Any, ...], fields: dict[str, Any]) -> WrongArguments:
    declared = [field for field in attrs.fields(kind) if field.init]
    names = [field.alias for field in declared]
    places = [field.alias for field in declared if not field.kw_only]
    had = [*places[: len(given)], *fields]
    unknown = [name for name in fields if name not in names]
    if unknown:
        near = _meant(unknown[0], declared)
        return WrongArguments(kind, unknown[0], f"be given {', '.join(names)}", f"did you mean {near}?" if near else "")
    if len(given) > len(places):
        return WrongArguments(kind, f"{len(given)} values", f"be given {', '.join(places)} in this order, and no more")
    twice = [name for name in places[: len(given)] if name in fields]
    if twice:
        return WrongArguments(kind, f"{twice[0]} twice", "be given each field once")
    missing = [field.alias for field in declared if field.default is attrs.NOTHING and field.alias not in had]
    return WrongArguments(kind, ", ".join(had) or "nothing", f"be given {', '.join(missing)}")


def _meant(name: str, declared: list[Any]) -> str | None:
    """The field that commands call so, or one whose name is nearly the same."""
    from difflib import get_close_matches

    for field in declared:
        told = field.metadata.get(OPTION)
        if told is not None and f"--{name}".replace("_", "-") in told.names:
            return str(field.alias)
    return next(iter(get_close_matches(name, [field.alias for field in declared], 1)), None)


def evolved(value: T, **changes: object) -> T:
    """The same value with some fields changed, checked as if it were made anew.

    >>> @frozen
    ... class Ends:
    ...     lower: float = finite("lower end")
    ...     upper: float = finite("upper end")
    >>> evolved(Ends(0, 1), upper=2)
    Ends(lower=0.0, upper=2.0)
    """
    return cast(T, attrs.evolve(cast(Any, value), **changes))


def settle(value: object, **fields: object) -> None:
    """Set fields of a value that is being made: for what was left out and depends on other fields.

    Belongs into ``__attrs_post_init__`` and nowhere else.
    """
    for name, content_of in fields.items():
        object.__setattr__(value, name, content_of)
