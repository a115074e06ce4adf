"""The languages of exports: an edge each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mechdesign.errors import InvalidInput
from mechdesign.tables.export.edges.c import C
from mechdesign.tables.export.edges.js import JAVASCRIPT, TYPESCRIPT
from mechdesign.tables.export.edges.jvm import JAVA, KOTLIN
from mechdesign.tables.export.edges.opendp import OPENDP
from mechdesign.tables.export.edges.python import PYTHON
from mechdesign.tables.export.edges.rust import RUST
from mechdesign.tables.export.edges.sql import SQL
from mechdesign.tables.export.edges.swift import SWIFT
from mechdesign.tables.export.edges.wasm import WASM
from mechdesign.tables.export.package import Language, Member, Packaging

EDGES: tuple[Language, ...] = (
    SWIFT,
    KOTLIN,
    TYPESCRIPT,
    RUST,
    C,
    PYTHON,
    JAVA,
    SQL,
    OPENDP,
    WASM,
    JAVASCRIPT,
)
_BY_NAME = {edge.name: edge for edge in EDGES}
LANGUAGES = tuple(edge.name for edge in EDGES if edge.single is not None)
"""The languages that a source is written for that stands alone."""
PACKAGED = tuple(edge.name for edge in EDGES if edge.package is not None)
"""The languages that packages are written for."""
STATEFUL = tuple(edge.name for edge in EDGES if edge.package is not None and edge.package.no_device is None)
"""The languages whose packages may have a device."""


def single_of(language: str) -> Callable[[Member], Mapping[str, str]]:
    """How a source that stands alone is written, or `InvalidInput`."""
    single = _BY_NAME[language].single if language in _BY_NAME else None
    if single is None:
        raise InvalidInput("language", language, f"be one of {', '.join(LANGUAGES)}")
    return single


def packaging_of(language: str) -> Packaging:
    """How packages of a language are made, or `InvalidInput`."""
    packaging = _BY_NAME[language].package if language in _BY_NAME else None
    if packaging is None:
        raise InvalidInput("language", language, f"be one of {', '.join(PACKAGED)} where a package is asked for")
    return packaging


def require_state(language: str) -> None:
    """`InvalidInput` with the reason and the next step where packages of a language have no device."""
    reason = packaging_of(language).no_device
    if reason is not None:
        rule = f"be one of {', '.join(STATEFUL)} where a device keeps a state: {reason[0]}"
        raise InvalidInput("language", language, rule, reason[1])
