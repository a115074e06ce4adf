"""Protocols by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from mechdesign.errors import InvalidInput, did_you_mean
from mechdesign.studies.frequencies.protocols import grr, hadamard, hashing, histogram, longitudinal, subset, unary
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.values.declare import frozen


@frozen
class ProtocolEntry:
    """A line of the catalogue; ``limit`` is an option of the memoised ones."""

    key: str
    build: Callable[..., FrequencyProtocol]
    longitudinal: bool = False


PROTOCOLS: tuple[ProtocolEntry, ...] = (
    ProtocolEntry("grr", grr.grr),
    ProtocolEntry("sue", unary.sue),
    ProtocolEntry("oue", unary.oue),
    ProtocolEntry("blh", hashing.blh),
    ProtocolEntry("olh", hashing.olh),
    ProtocolEntry("ss", subset.ss),
    ProtocolEntry("she", histogram.she),
    ProtocolEntry("the", histogram.the),
    ProtocolEntry("hr", hadamard.hadamard_response),
    ProtocolEntry("l-grr", longitudinal.l_grr, longitudinal=True),
    ProtocolEntry("l-sue", longitudinal.l_sue, longitudinal=True),
    ProtocolEntry("l-oue", longitudinal.l_oue, longitudinal=True),
    ProtocolEntry("l-soue", longitudinal.l_soue, longitudinal=True),
    ProtocolEntry("l-osue", longitudinal.l_osue, longitudinal=True),
    ProtocolEntry("l-blh", longitudinal.l_blh, longitudinal=True),
    ProtocolEntry("l-olh", longitudinal.l_olh, longitudinal=True),
)

_ALIASES = {"rappor": "sue"}


def entry(name: str) -> ProtocolEntry:
    """The line of that name, in either case; ``rappor`` is SUE, as in LDP3 and Optimus.

    >>> entry("RAPPOR").key
    'sue'
    """
    known = ", ".join(line.key for line in PROTOCOLS)
    if not isinstance(name, str):
        raise InvalidInput("protocol", name, "be a name", f"one of {known}")
    key = name.strip().lower()
    key = _ALIASES.get(key, key)
    for line in PROTOCOLS:
        if line.key == key:
            return line
    raise InvalidInput("protocol", name, f"be one of {known}", did_you_mean(name, (line.key for line in PROTOCOLS)))


def options_of(name: str) -> list[str]:
    """The options of the protocol of that name.

    >>> options_of("l-olh")
    ['limit', 'g']
    """
    return [option for option in list(inspect.signature(entry(name).build).parameters)[2:] if option != "name"]


def protocol(name: str, epsilon: float, size: int, /, **options: Any) -> FrequencyProtocol:
    """The protocol of that name for ``size`` items; options are those of its own builder.

    ``olh`` takes g, ``ss`` subset, ``the`` threshold, the longitudinal ones limit (2 eps unless given) and ``l-olh`` g.

    >>> oue = protocol("oue", 1.0, 100)
    >>> round(oue.variance(0.0, 100_000).item(), 9)
    3.6827e-05
    """
    line, allowed = entry(name), options_of(name)
    for option in options:
        if option not in allowed:
            rule = f"be an option of {line.key}: {', '.join(allowed) or 'it has none'}"
            raise InvalidInput("option", option, rule)
    return line.build(epsilon, size, **options)
