"""The unbiased piecewise mechanism of least worst-case variance."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.unbiased_piecewise.proof import UnbiasedBound as UnbiasedBound
else:
    __getattr__, __dir__ = facade(__name__)
