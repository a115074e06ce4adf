"""Mechanisms as plain dictionaries and back. For research files; shipped tables have a format of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.domains import Circle, Finite, Interval
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.losses import Loss, Power
from mechdesign.mechanisms.additive import Additive, BoundedLaplace
from mechdesign.mechanisms.circular import CircularLaplace
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.discrete import Discrete, TwoSidedGeometric
from mechdesign.mechanisms.mixture import Mixture
from mechdesign.mechanisms.noise import Gaussian, Laplace, Noise, Staircase
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise, SublevelWindow
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.truncated import Truncated
from mechdesign.mechanisms.two_point import TwoPoint
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.mechanisms.window import Window

Fields = dict[str, Any]
AnyMechanism = Mechanism | Product


def mechanism_to_dict(mechanism: AnyMechanism) -> Fields:
    """The mechanism's kind and parameters; doubles survive JSON unchanged.

    >>> from mechdesign.mechanisms.catalogue import laplace
    >>> mechanism_from_dict(mechanism_to_dict(laplace(1.0))) == laplace(1.0)
    True
    """
    match mechanism:
        case Piecewise():
            return _fields("piecewise", mechanism, "epsilon", "low", "high", "name") | {
                "inputs": domain_to_dict(mechanism.inputs),
                "outputs": domain_to_dict(mechanism.outputs),
                "window": _window_to_dict(mechanism.window),
            }
        case Additive():
            noise = _noise_to_dict(mechanism.noise)
            return _fields("additive", mechanism, "epsilon", "name") | {
                "inputs": domain_to_dict(mechanism.inputs),
                "noise": noise,
            }
        case BoundedLaplace():
            return _fields("bounded laplace", mechanism, "epsilon", "name") | {
                "inputs": domain_to_dict(mechanism.inputs),
                "scale": mechanism.noise.scale,
            }
        case Truncated():
            return _fields("truncated", mechanism, "name") | {"base": mechanism_to_dict(mechanism.base)}
        case TwoPoint():
            return _fields("two-point", mechanism, "epsilon", "rare", "name") | {
                "inputs": domain_to_dict(mechanism.inputs)
            }
        case Mixture():
            return _fields("mixture", mechanism, "epsilon", "weight", "name") | {
                "spread": mechanism_to_dict(mechanism.spread),
                "atoms": mechanism_to_dict(mechanism.atoms),
            }
        case Discrete():
            return _fields("discrete", mechanism, "epsilon", "name") | {
                "inputs": domain_to_dict(mechanism.inputs),
                "outputs": domain_to_dict(mechanism.outputs),
                "probabilities": mechanism.probabilities.tolist(),
            }
        case ConditionalNoise():
            return _fields("conditional noise", mechanism, "epsilon", "bins", "reach", "tail", "ratio", "name") | {
                "inputs": domain_to_dict(mechanism.inputs),
                "base": mechanism.base.tolist(),
            }
        case TwoSidedGeometric():
            return _fields("two-sided geometric", mechanism, "epsilon", "name") | {
                "inputs": domain_to_dict(mechanism.inputs)
            }
        case CircularLaplace():
            return _fields("circular laplace", mechanism, "epsilon", "name") | {
                "inputs": domain_to_dict(mechanism.inputs)
            }
        case Window() | UnbiasedWindow():
            kind = "window" if isinstance(mechanism, Window) else "unbiased window"
            return _fields(kind, mechanism, "epsilon", "ratio", "name") | {
                "inputs": domain_to_dict(mechanism.inputs),
                "outputs": mechanism.points.tolist(),
                "base": mechanism.base.tolist(),
            }
        case Product():
            return _fields("product", mechanism, "name") | {
                "parts": [mechanism_to_dict(part) for part in mechanism.parts]
            }
    raise InvalidInput("mechanism", type(mechanism).__name__, "be of a kind this package can save")


def mechanism_from_dict(fields: Any) -> AnyMechanism:
    """The mechanism a dictionary describes; every parameter passes the mechanism's own validation again."""
    kind = _get(fields, "kind", str)
    build = _BUILDERS.get(kind)
    if build is None:
        raise FileProblem("mechanism kind", kind, f"be one of {', '.join(_BUILDERS)}")
    return build(fields)


def domain_to_dict(domain: Interval | Circle | Finite) -> Fields:
    match domain:
        case Interval():
            return {"kind": "interval", "lower": domain.lower, "upper": domain.upper}
        case Circle():
            return {"kind": "circle", "period": domain.period}
        case Finite():
            return {"kind": "finite", "points": list(domain.points)}


def domain_from_dict(fields: Any) -> Interval | Circle | Finite:
    match _get(fields, "kind", str):
        case "interval":
            return Interval(_number(fields, "lower"), _number(fields, "upper"))
        case "circle":
            return Circle(_number(fields, "period"))
        case "finite":
            return Finite(tuple(_get(fields, "points", list)))
        case kind:
            raise FileProblem("domain kind", kind, "be interval, circle or finite")


def loss_to_dict(loss: Loss) -> Fields:
    if not isinstance(loss, Power):
        raise InvalidInput("loss", loss.name, "be a power of the distance to be saved: a function has no file form")
    return {"kind": "power", "exponent": loss.exponent, "period": loss.period}


def loss_from_dict(fields: Any) -> Power:
    if _get(fields, "kind", str) != "power":
        raise FileProblem("loss kind", fields["kind"], "be power")
    return Power(_number(fields, "exponent"), None if fields.get("period") is None else _number(fields, "period"))


def _fields(kind: str, mechanism: Any, *names: str) -> Fields:
    return {"kind": kind} | {name: getattr(mechanism, name) for name in names}


def _get(fields: Any, name: str, kind: type) -> Any:
    if not isinstance(fields, Mapping):
        raise FileProblem("file", fields, f"hold an object where {name!r} is looked for")
    if name not in fields:
        raise FileProblem("file", list(fields), f"have the key {name!r}")
    if not isinstance(fields[name], kind):
        raise FileProblem(name, fields[name], f"be a {kind.__name__}")
    if kind is str and not _is_text(fields[name]):
        raise FileProblem(name, fields[name], "be text that UTF-8 can hold")
    return fields[name]


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON lets through as an escape
        return False
    return True


def _number(fields: Any, name: str) -> float:
    value = _get(fields, name, object)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FileProblem(name, value, "be a number")
    try:
        return float(value)
    except OverflowError:
        raise FileProblem(name, value, "be a number a double can hold") from None


def _interval(fields: Any) -> Interval:
    domain = domain_from_dict(_get(fields, "inputs", dict))
    if not isinstance(domain, Interval):
        raise FileProblem("inputs", str(domain), "be an interval")
    return domain


def _finite(fields: Any, name: str) -> Finite:
    domain = domain_from_dict(_get(fields, name, dict))
    if not isinstance(domain, Finite):
        raise FileProblem(name, str(domain), "be a finite set")
    return domain


def _circle(fields: Any) -> Circle:
    domain = domain_from_dict(_get(fields, "inputs", dict))
    if not isinstance(domain, Circle):
        raise FileProblem("inputs", str(domain), "be a circle")
    return domain


def _window_to_dict(window: AffineWindow | SublevelWindow) -> Fields:
    if isinstance(window, AffineWindow):
        return {"kind": "affine", "slope": window.slope, "offset": window.offset, "pivot": window.pivot}
    return {"kind": "sublevel", "loss": loss_to_dict(window.loss)}


def _window_from_dict(fields: Any) -> AffineWindow | SublevelWindow:
    match _get(fields, "kind", str):
        case "affine":
            return AffineWindow(_number(fields, "slope"), _number(fields, "offset"), _number(fields, "pivot"))
        case "sublevel":
            return SublevelWindow(loss_from_dict(_get(fields, "loss", dict)))
        case kind:
            raise FileProblem("window kind", kind, "be affine or sublevel")


def _noise_to_dict(noise: Noise) -> Fields:
    match noise:
        case Laplace():
            return {"kind": "laplace", "scale": noise.scale}
        case Gaussian():
            return {"kind": "gaussian", "deviation": noise.deviation}
        case Staircase():
            return {
                "kind": "staircase",
                "epsilon": noise.epsilon,
                "sensitivity": noise.sensitivity,
                "share": noise.share,
            }
    raise InvalidInput("noise", type(noise).__name__, "be of a kind this package can save")


def _noise_from_dict(fields: Any) -> Noise:
    match _get(fields, "kind", str):
        case "laplace":
            return Laplace(_number(fields, "scale"))
        case "gaussian":
            return Gaussian(_number(fields, "deviation"))
        case "staircase":
            return Staircase(_number(fields, "epsilon"), _number(fields, "sensitivity"), _number(fields, "share"))
        case kind:
            raise FileProblem("noise kind", kind, "be laplace, gaussian or staircase")


def _piecewise(fields: Any) -> Piecewise:
    inputs, outputs = (domain_from_dict(_get(fields, name, dict)) for name in ("inputs", "outputs"))
    if isinstance(inputs, Finite) or isinstance(outputs, Finite):
        raise FileProblem("domain", str(inputs), "be an interval or a circle for a piecewise mechanism")
    return Piecewise(
        _number(fields, "epsilon"),
        inputs,
        outputs,
        _number(fields, "low"),
        _number(fields, "high"),
        _window_from_dict(_get(fields, "window", dict)),
        _get(fields, "name", str),
    )


def _truncated(fields: Any) -> Truncated:
    base = _part(_get(fields, "base", dict), "additive", "piecewise")
    assert isinstance(base, Additive | Piecewise)
    return Truncated(base, _get(fields, "name", str))


def _two_point(fields: Any) -> TwoPoint:
    return TwoPoint(_number(fields, "epsilon"), _interval(fields), _number(fields, "rare"), _get(fields, "name", str))


def _mixture(fields: Any) -> Mixture:
    spread, atoms = _part(_get(fields, "spread", dict), "piecewise"), _part(_get(fields, "atoms", dict), "two-point")
    assert isinstance(spread, Piecewise)
    assert isinstance(atoms, TwoPoint)
    name = _get(fields, "name", str)
    return Mixture(_number(fields, "epsilon"), _number(fields, "weight"), spread, atoms, name)


def _discrete(fields: Any) -> Discrete:
    table = _get(fields, "probabilities", list)
    rectangular = all(
        isinstance(row, list) and all(isinstance(p, int | float) and not isinstance(p, bool) for p in row)
        for row in table
    )
    if not rectangular or len({len(row) for row in table}) != 1:
        raise FileProblem("probabilities", "a ragged or non-numeric table", "be rows of numbers, all of one length")
    return Discrete(
        _number(fields, "epsilon"),
        _finite(fields, "inputs"),
        _finite(fields, "outputs"),
        table,
        _get(fields, "name", str),
    )


def _numbers(fields: Any, name: str) -> NDArray[np.float64]:
    values = _get(fields, name, list)
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        raise FileProblem(name, "a list with other things than numbers", "hold numbers only")
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        raise FileProblem(name, "a number beyond doubles", "hold numbers that fit a double") from None


def _window(build: type[Window] | type[UnbiasedWindow], fields: Any) -> Window | UnbiasedWindow:
    points, base = (_numbers(fields, name) for name in ("outputs", "base"))
    epsilon, ratio = _number(fields, "epsilon"), _number(fields, "ratio")
    return build(epsilon, _interval(fields), points, base, ratio, _get(fields, "name", str))


def _conditional(fields: Any) -> ConditionalNoise:
    bins, reach, tail = (_get(fields, name, int) for name in ("bins", "reach", "tail"))
    base, epsilon, ratio = _numbers(fields, "base"), _number(fields, "epsilon"), _number(fields, "ratio")
    return ConditionalNoise(epsilon, _interval(fields), bins, reach, tail, base, ratio, _get(fields, "name", str))


def _product(fields: Any) -> Product:
    simple = [kind for kind in _BUILDERS if kind != "product"]
    parts = tuple(_part(part, *simple) for part in _get(fields, "parts", list))
    return Product(parts, _get(fields, "name", str))


def _part(fields: Any, *kinds: str) -> Mechanism:
    """A mechanism inside another. Its kind is checked before anything is built: files nest no deeper than they may."""
    kind = _get(fields, "kind", str)
    if kind not in kinds:
        raise FileProblem("mechanism kind", kind, f"be one of {', '.join(kinds)} here")
    part = mechanism_from_dict(fields)
    assert not isinstance(part, Product)
    return part


_BUILDERS: dict[str, Callable[[Any], AnyMechanism]] = {
    "piecewise": _piecewise,
    "additive": lambda f: Additive(
        _number(f, "epsilon"), _interval(f), _noise_from_dict(_get(f, "noise", dict)), _get(f, "name", str)
    ),
    "bounded laplace": lambda f: BoundedLaplace(
        _number(f, "epsilon"), _interval(f), Laplace(_number(f, "scale")), _get(f, "name", str)
    ),
    "truncated": _truncated,
    "two-point": _two_point,
    "mixture": _mixture,
    "conditional noise": _conditional,
    "discrete": _discrete,
    "two-sided geometric": lambda f: TwoSidedGeometric(
        _number(f, "epsilon"), _finite(f, "inputs"), _get(f, "name", str)
    ),
    "circular laplace": lambda f: CircularLaplace(_number(f, "epsilon"), _circle(f), _get(f, "name", str)),
    "window": partial(_window, Window),
    "unbiased window": partial(_window, UnbiasedWindow),
    "product": _product,
}
