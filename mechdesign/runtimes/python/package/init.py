"""Reports under local differential privacy: each table under its own name, and the device that keeps a state, if any.

README.md says how they are called.
"""

import json
import pkgutil
from types import SimpleNamespace

from .mechdesign_runtime import NoRandomness, NotReadable, Table, collected  # noqa: F401


def _read(said):
    """What a package has under names of its own: its tables, and with a device all that it takes to call it."""
    named = {name: Table(document) for name, document in said["tables"].items()}
    if said["collection"] is not None:
        return collected(named, said["collection"]), {}
    if said["device"] is None:
        return named, {}
    from .mechdesign_runtime.device import Device, FileStorage, StateRefused

    device = Device(said["device"]["document"], *named.values())
    device.reporting.subject = device.subject
    return {**named, said["device"]["name"]: device}, {"FileStorage": FileStorage, "StateRefused": StateRefused}


def _content():
    content = pkgutil.get_data(__name__, "tables.json")
    assert content is not None
    return json.loads(content)


_tables, _of_devices = _read(_content())
globals().update({**_tables, **_of_devices})
envelopes = SimpleNamespace(**{name: table.envelope for name, table in _tables.items()})
__all__ = [*_tables, *_of_devices, "envelopes", "NoRandomness"]
