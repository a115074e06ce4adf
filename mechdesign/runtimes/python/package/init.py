"""Reports under local differential privacy: each table under its own name, and the device that keeps a state, if any.

README.md says how they are called.
"""

import json
import pkgutil
from types import SimpleNamespace

from .mechdesign_runtime import (  # noqa: F401
    Device,
    FileStorage,
    NoRandomness,
    NotReadable,
    StateRefused,
    Table,
    collected,
)


def _read(said):
    """The tables of a package by their names, and its device by its own."""
    named = {name: Table(document) for name, document in said["tables"].items()}
    if said["collection"] is not None:
        return collected(named, said["collection"])
    if said["device"] is None:
        return named
    device = Device(said["device"]["document"], *named.values())
    device.reporting.subject = device.subject
    return {**named, said["device"]["name"]: device}


def _content():
    content = pkgutil.get_data(__name__, "tables.json")
    assert content is not None
    return json.loads(content)


_tables = _read(_content())
globals().update(_tables)
envelopes = SimpleNamespace(**{name: table.envelope for name, table in _tables.items()})
__all__ = [*_tables, "envelopes", "FileStorage", "NoRandomness", "StateRefused"]
