"""Any losses over finite inputs and outputs, one epsilon for all inputs."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.finite.proof import FiniteBound as FiniteBound, LexicographicBound as LexicographicBound
else:
    __getattr__, __dir__ = facade(__name__)
