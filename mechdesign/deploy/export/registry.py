"""The languages of exports: an edge each."""

from __future__ import annotations

from mechdesign.deploy.export.edges.opendp import OPENDP
from mechdesign.deploy.export.edges.python import PYTHON
from mechdesign.deploy.export.edges.rust import RUST
from mechdesign.deploy.export.edges.sql import SQL
from mechdesign.deploy.export.edges.wasm import WASM
from mechdesign.deploy.export.package import Language

EDGES: tuple[Language, ...] = (PYTHON, RUST, SQL, OPENDP, WASM)
BY_NAME = {edge.name: edge for edge in EDGES}
LANGUAGES = tuple(edge.name for edge in EDGES if edge.single is not None)
"""The languages that a source is written for that stands alone."""
PACKAGED = tuple(edge.name for edge in EDGES if edge.package is not None)
"""The languages that packages are written for."""
