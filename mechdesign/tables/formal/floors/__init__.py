"""What no mechanism goes below, as certificates of Coq: one module a kind, and which one a design's evidence takes."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.tables.formal.floors.evidence import stated_floor as stated_floor
    from mechdesign.tables.formal.floors.stated import StatedFloor as StatedFloor
else:
    __getattr__, __dir__ = facade(__name__)
