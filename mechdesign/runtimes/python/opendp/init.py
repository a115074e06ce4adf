"""Reports under local differential privacy as measurements of OpenDP: each table under its own name. See README.md."""

import json
import pkgutil

from .measurement import epsilon_of, measurement_of
from .mechdesign_runtime import NoRandomness, NotReadable, Table, collected  # noqa: F401


class Measured(Table):
    """A table, with its measurement."""

    def make_measurement(self):
        return measurement_of(self)

    @property
    def EPSILON(self):
        return epsilon_of(self)


def _content():
    content = pkgutil.get_data(__name__, "tables.json")
    assert content is not None
    return json.loads(content)


_said = _content()
_tables = {name: Measured(document) for name, document in _said["tables"].items()}
if _said["collection"] is not None:
    collected(_tables, _said["collection"])
globals().update(_tables)
__all__ = [*_tables, "NoRandomness"]
