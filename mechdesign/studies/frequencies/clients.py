"""The laws of reports as other packages' clients make them, by the name of the package.

What differs from ours: local hashing hashes the text of an item's number by XXH32 and reports ``(y, seed)``, with
``g = round(e^eps) + 1``; subset selection rounds ``k / (e^eps + 1)``, in LDP3 up; and the second step of
multi-freq-ldpy's L-GRR and of its longitudinal hashing is the printed one, right for two values only. All else is law
for law the same.

Of LDP3's OLH no source was at hand: it is read with the parameters of multi-freq-ldpy. Reports made with others do not
fit, and are read with these given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from mechdesign.errors import InvalidInput, require_chance, require_epsilon, require_name
from mechdesign.studies.frequencies.protocols import arguments
from mechdesign.studies.frequencies.protocols.catalogue import entry, protocol
from mechdesign.studies.frequencies.protocols.grr import Grr
from mechdesign.studies.frequencies.protocols.hashing import LocalHashing
from mechdesign.studies.frequencies.protocols.longitudinal import Longitudinal
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.studies.frequencies.protocols.unary import Unary
from mechdesign.values.declare import evolved, frozen

OWN = "mechdesign"
TEXT_HASH = "xxh32-decimal"

_HASHING = ("blh", "olh", "l-blh", "l-olh")
_LONGITUDINAL = ("l-grr", "l-sue", "l-oue", "l-soue", "l-osue", "l-blh", "l-olh")
_TWICE_BY_VALUE = ("l-grr", "l-blh", "l-olh")
_TYPED = 1e-5  # q as people copy it from elsewhere


@frozen
class Package:
    """A package with clients of its own, and the protocols of which its reports are read."""

    key: str
    about: str
    protocols: tuple[str, ...]


PACKAGES: tuple[Package, ...] = (
    Package(
        "multi-freq-ldpy",
        "multi-freq-ldpy 0.2.5",
        ("grr", "sue", "oue", "blh", "olh", "ss", "she", "the", *_LONGITUDINAL),
    ),
    Package("pure-ldp", "pure-ldp 1.2.0", ("grr", "sue", "oue", "blh", "olh", "she", "the")),
    Package("ldp3", "LDP3 (LDPcube)", ("grr", "sue", "oue", "blh", "olh", "ss")),
)

CLIENTS = (OWN, *(package.key for package in PACKAGES))


def require_client(name: object) -> str:
    """The name of a package whose reports are read."""
    return require_name(name, "client", CLIENTS)


def law_of_client(
    client: str,
    name: str,
    epsilon: float,
    size: int,
    **options: Any,
) -> FrequencyProtocol:
    """The law of one report of ``name`` by that package's client; options are those of `protocol`.

    >>> law_of_client("pure-ldp", "olh", 1.0, 100).q  # g = 4, from round(e) + 1
    0.25
    """
    chosen, key = require_client(client), entry(name).key
    if chosen == OWN:
        return protocol(key, epsilon, size, **options)
    package = next(package for package in PACKAGES if package.key == chosen)
    if key not in package.protocols:
        rule = f"be one of {', '.join(package.protocols)} for clients of {package.about}"
        raise InvalidInput("protocol", name, rule)
    if key == "ss":
        return protocol(key, epsilon, size, **{"subset": _SUBSETS[chosen](epsilon, size)} | options)
    if key in _TWICE_BY_VALUE:
        return _printed_chain(key, epsilon, size, options)
    if key in _HASHING:
        values = 2 if key == "blh" else round(math.exp(require_epsilon(epsilon))) + 1
        law = protocol(key, epsilon, size, **({"g": values} if key == "olh" else {}) | options)
        assert isinstance(law, LocalHashing)
        return evolved(law, hash=TEXT_HASH)
    return protocol(key, epsilon, size, **options)


def with_chances(law: FrequencyProtocol, p: float, q: float | None) -> FrequencyProtocol:
    """The same reports, made with other chances: p of supporting the own item, q of supporting another.

    Where p and the shape of a report settle q, it may be left out, and must agree if it is given.

    >>> from mechdesign.studies.frequencies.protocols import protocol
    >>> with_chances(protocol("grr", 1.0, 5), 0.6, None).q
    0.1
    """
    once = law.once if isinstance(law, Longitudinal) else law
    high = require_chance(p, "p")
    low = None if q is None else require_chance(q, "q")
    if isinstance(once, Grr):
        low = _settled(low, (1 - high) / (once.size - 1), f"(1 - p) / (k - 1), as a report is one of {once.size} items")
        return evolved(once, p=high, q=_below(low, high))
    if isinstance(once, LocalHashing):
        _below(_settled(low, once.q, f"1/g, as g = {once.hashes}"), high)
        return evolved(once, p=high, miss=1 - high)
    if isinstance(once, Unary):
        if low is None:
            raise InvalidInput("q", q, f"be given for {once.name}: p does not settle it", "pass --q")
        return evolved(once, p=high, q=_below(low, high), miss=1 - high)
    raise InvalidInput("p", p, f"be left out for {once.name}: its parameters settle it")


def _settled(given: float | None, settled: float, why: str) -> float:
    if given is not None and not math.isclose(given, settled, rel_tol=_TYPED, abs_tol=0):
        raise InvalidInput("q", given, f"be {settled:.6g}: {why}", "leave it out")
    return settled


def _below(low: float, high: float) -> float:
    if not low < high:
        raise InvalidInput("p", high, f"exceed q = {low:.6g}", "a report must favour its own item")
    return low


# -- what the packages do ----------------------------------------------------------------------------------------------


def _even_subset(epsilon: float, size: int) -> float:
    return arguments.require_item_count(size) / (math.exp(require_epsilon(epsilon)) + 1)


_SUBSETS: Mapping[str, Callable[[float, int], int]] = {
    "multi-freq-ldpy": lambda epsilon, size: max(1, round(_even_subset(epsilon, size))),
    "ldp3": lambda epsilon, size: math.ceil(_even_subset(epsilon, size)),
}
"""Items in a set of subset selection, by package."""


def _printed_chain(name: str, epsilon: float, size: int, options: dict[str, Any]) -> FrequencyProtocol:
    """One round of L-GRR, or of it on hashes: right p* and q* of the published, wrong p2.

    The published p2 solves ``p1 p2 + q1 q2 = e^eps (p1 q2 + q1 p2)``, which leaves out that a report can pass through
    a third value.
    """
    limit = options.get("limit")
    if limit is None:
        rule = f"be given for {name} of multi-freq-ldpy: its p* and q* depend on it"
        raise InvalidInput("limit", limit, rule, "pass --limit, the package's eps_perm")
    law = protocol(name, epsilon, size, **options)
    assert isinstance(law, Longitudinal)
    values = size
    if isinstance(law.once, LocalHashing):
        values = options["g"] if "g" in options else 2 if name == "l-blh" else _published_hashes(epsilon, law.limit)
    grown, first = math.exp(epsilon), math.exp(law.limit)
    p1, q1 = first / (first + values - 1), 1 / (first + values - 1)
    p2 = (grown * p1 - q1) / ((values - 1) * p1 - q1 + grown * (p1 - (values - 1) * q1))
    q2 = (1 - p2) / (values - 1)
    if not (0 < q2 < p2 < 1):
        rule = f"let multi-freq-ldpy make reports (its p2 is {p2:.4g} at limit {law.limit:g})"
        raise InvalidInput("eps", epsilon, rule, "was it eps_1, and the limit eps_perm?")
    p, q = p1 * p2 + (values - 1) * q1 * q2, p1 * q2 + q1 * p2 + (values - 2) * q1 * q2
    if isinstance(law.once, LocalHashing):
        return LocalHashing(law.name, law.epsilon, size, values, p, (values - 1) * q, TEXT_HASH)
    return Grr(law.name, law.epsilon, size, p, q)


def _published_hashes(epsilon: float, limit: float) -> int:
    """g of L-OLH as LOLOHA (EDBT 2023) has it in closed form, for its own variance."""
    a, b = math.exp(limit), math.exp(epsilon)
    root = a**4 - 14 * a**2 - 12 * (a * b) ** 2 + 12 * a * b + 12 * a**3 * b + 1
    if root < 0 or a == b:
        raise InvalidInput("limit", limit, "leave g of multi-freq-ldpy's l-olh defined", "pass --g")
    return max(2, round(1 + (1 - a**2 + math.sqrt(root)) / (6 * (a - b))))
